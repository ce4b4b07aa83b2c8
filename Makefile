# Two commands do everything on a fresh machine with Python 3.11 or later:  make demo   and   make test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help demo test check format bench lock clean
help:            ## what there is
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("clew needs Python 3.11 or later, this is %d.%d: make PYTHON=python3.12 …" % v[:2])'
	@echo "setting up $(VENV) (once) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)   ## a real conversation of 209,000 tokens held inside a 64,000-token window
	@$(BIN)/clew replay --sample --context-length 64000 --report clew-demo.html

test: $(READY)   ## all tests
	@$(BIN)/python -m pytest -n auto

check: $(READY)  ## format, lint, types, then all tests
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(MAKE) --no-print-directory test

format: $(READY) ## put everything into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## what clew keeps and what it costs, measured
	@$(BIN)/python bench/speed.py
	@$(BIN)/python bench/retention.py
	@$(BIN)/python bench/tokens.py
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/search.py
	@$(BIN)/python bench/recall.py
	@$(BIN)/python bench/lossless.py
	@$(BIN)/python bench/waiting.py
	@$(BIN)/python bench/caching.py
	@$(BIN)/python bench/transport.py

lock:            ## write requirements.lock anew (needs uv)
	@uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-header -o requirements.lock

clean:           ## remove what make made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis clew-demo.html
