# make demo, make test: each makes the environment first. Needs python3 >= 3.11 and a package index, no more.

PYTHON ?= python3
PORT ?= 8000
SERVE ?= 1
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# What was installed last: pip runs again only when a file of requirements is another.
INSTALLED := $(VENV)/requirements.installed
INSTALLED_DEV := $(VENV)/requirements-dev.installed
WORKERS ?= 3
# PyPI's build of torch for Linux brings CUDA, more than a gigabyte; the builds without it are at PyTorch's own index.
TORCH ?=
TORCH_PIN := $(shell grep ^torch== requirements.txt)
INDEX_cpu := --index-url https://download.pytorch.org/whl/cpu
INDEX_cuda := --index-url https://pypi.org/simple

INSTALL_TORCH := $(if $(TORCH),$(PIP) $(INDEX_$(TORCH)) $(TORCH_PIN) &&)

.DEFAULT_GOAL := help
.PHONY: help $(VENV) environment development demo serve test test-slow test-timing test-cluster lint docs locks

help:
	@echo "make demo          everything once on made-up families, then the site at 127.0.0.1:$(PORT)"
	@echo "make demo SERVE=0  the same, without the site"
	@echo "make serve         the site and a local worker"
	@echo "make test          the test suite"
	@echo "make test-slow     the tests that take longer than a minute each"
	@echo "make test-timing   how well times tell checks from other questions, on a quiet machine"
	@echo "make test-cluster  a cluster that is broken on purpose makes what one machine makes"
	@echo "make lint          ruff, mypy, the import contracts, and migrations that are missing"
	@echo "make docs          the documentation as a site, in var/docs"
	@echo "make locks         deploy/locks: exact versions of everything, with hashes"
	@echo "TORCH=cpu takes PyTorch's build without CUDA, TORCH=cuda the one with it; else pip decides."
	@echo "PORT=8123 serves at another port; PYTHON=python3.12 makes the environment with another Python."

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "TriplePool needs Python 3.11 or newer as $(PYTHON)." \
	    "Install one, or name it: make PYTHON=/path/to/python3.12 demo" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { \
	  $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	    echo "$(PYTHON) cannot make virtual environments." \
	      "On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
	  echo "Making the virtual environment $(VENV)."; \
	  rm -f $(VENV)/*.installed; $(PYTHON) -m venv $(VENV); }

environment: $(VENV)
	@cmp -s requirements.txt $(INSTALLED) || { \
	  echo "Installing requirements.txt (once; a few minutes)."; \
	  $(INSTALL_TORCH) $(PIP) -r requirements.txt && cp requirements.txt $(INSTALLED); }

# requirements-dev.txt includes requirements.txt: one call of pip installs both.
development: $(VENV)
	@cmp -s requirements.txt $(INSTALLED) && cmp -s requirements-dev.txt $(INSTALLED_DEV) || { \
	  echo "Installing requirements.txt and requirements-dev.txt (once; a few minutes)."; \
	  $(INSTALL_TORCH) $(PIP) -r requirements-dev.txt \
	    && cp requirements.txt $(INSTALLED) && cp requirements-dev.txt $(INSTALLED_DEV); }

demo: environment
	@$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py demo --bind 127.0.0.1:$(PORT) $(if $(filter 0 no,$(SERVE)),--no-serve)

serve: environment
	@$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py serve --bind 127.0.0.1:$(PORT)

# Tests of one file stay in one process: what they prepare together is prepared once. Files start in the order of
# tests/conftest.py, the longest first; pytest-xdist would start those with the most tests first.
test: development
	OMP_NUM_THREADS=1 $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Two files at a time: these tests wait for processes of their own most of the time. Exit code 5: none is marked slow.
test-slow: development
	OMP_NUM_THREADS=1 $(PY) -m pytest -m slow -n 2 --dist loadfile --no-loadscope-reorder $(ARGS) || [ $$? -eq 5 ]

# Needs PostgreSQL; ten to twenty minutes.
test-timing: development
	$(PY) -m pytest -m timing -s $(ARGS)

# Needs PostgreSQL, and Redis or RabbitMQ; about four minutes for each broker.
test-cluster: development
	$(PY) -m pytest -m cluster tests/test_cluster.py -s $(ARGS)

lint: development
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-logo
	$(PY) manage.py makemigrations --check --dry-run

# Strict: a link that leads nowhere ends it.
docs: development
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --config-file config/mkdocs.yml
	@echo "Open var/docs/index.html."

# uv resolves for all systems at once; torch and CUDA's libraries are left out of the lock that is for CPUs.
UV := $(VENV)/bin/uv pip compile pyproject.toml --constraint requirements.txt --quiet --generate-hashes --universal \
  --python-version 3.11 --no-annotate
locks: $(VENV)
	@$(PIP) uv
	@export UV_CUSTOM_COMPILE_COMMAND="make locks" \
	  && $(UV) --extra site --output-file deploy/locks/site.txt \
	  && $(UV) --extra site --extra train --output-file deploy/locks/cuda.txt \
	  && $(UV) --extra site --extra train --output-file deploy/locks/cpu.txt \
	    $$(sed -nE 's/^((torch|triton|cuda-[a-z]+|nvidia-[a-z0-9-]+))==.*/--no-emit-package \1/p' deploy/locks/cuda.txt)
