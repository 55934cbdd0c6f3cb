"""Callgrind's file, summed by object."""

from maskwright.cli.bench.callgrind import cost_by_object, room

_FILE = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir
summary: 71

ob=(1) /usr/lib/libpython3.11.so.1.0
fl=(1) ceval.c
fn=(1) eval
16 20
+2 5
cfn=(2) walk
cob=(2) /x/maskwright/kernel/walking.cpython-311-x86_64-linux-gnu.so
calls=1 50
* 40

ob=(2)
fl=(2) walking.cpp
fn=(2)
51 30
-1 10
ob=(1)
fn=(3) other
5 6
totals: 71
"""


def test_own_costs_are_summed_and_those_of_callees_are_not() -> None:
    # `cob=` names the callee's object before `ob=(2)` uses its number.
    costs = cost_by_object(_FILE.splitlines(keepends=True))
    assert {room(path): cost for path, cost in costs.items()} == {"Python": 31, "walking": 40}


def test_rooms() -> None:
    assert room("/usr/lib/x86_64-linux-gnu/libc.so.6") == "C library and others"
    assert room("/v/site-packages/numpy/_core/_multiarray_umath.cpython-311.so") == "numpy"
    assert room("/usr/lib/python3.11/lib-dynload/_json.cpython-311.so") == "Python"
