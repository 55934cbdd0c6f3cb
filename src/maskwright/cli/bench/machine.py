"""What a reader must know about a run: the machine, the versions, the command."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import sys
from pathlib import Path

__all__ = ["describe", "held_mb", "peak_memory_mb", "resident_mb"]


def describe() -> dict[str, str]:
    """Processor, cores, operating system and Python, without any name or path of the machine."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count() or "?"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}",
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def resident_mb() -> float:
    """Resident memory of this process in MiB; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def held_mb() -> float:
    """Resident memory once what was freed has been given back to the system, in MiB.

    Without that, memory that an earlier step freed takes in what is measured, and hides it.
    """
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another allocator or system
        ctypes.CDLL(None).malloc_trim(0)
    return resident_mb()


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
