# How a layer is built; each layer's Makefile includes this. `sam build` sets ARTIFACTS_DIR, the layer's future /opt.
#
# uv picks wheels for Lambda's platform, so no container and no machine of that architecture is needed. A compiled
# file that is not there costs a cold start 2.6 times the CPU, and one that is checked against its source's time is
# void once zipped: so all of it is compiled here, by the runtime's own Python, and never checked.
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))..
UV := $(ROOT)/.venv/bin/uv
ARCH ?= arm64
PLATFORM_arm64 := aarch64-manylinux_2_28
PLATFORM_x86_64 := x86_64-manylinux_2_28
PLATFORM := $(or $(PLATFORM_$(ARCH)),$(error ARCH is arm64 or x86_64, not $(ARCH)))
PYTHON313 ?= $(shell $(ROOT)/scripts/find_python313)
INTO = $(ARTIFACTS_DIR)/python

# What Lambda never reads: scripts, tests, type stubs, sources of compiled modules.
define install
	@test -n "$(PYTHON313)" || { echo "a layer needs Python 3.13 to compile it: make build PYTHON313=/path/to/python3.13" >&2; exit 1; }
	UV_PYTHON_DOWNLOADS=never $(UV) pip install --quiet --require-hashes --no-deps --python $(PYTHON313) \
	  --python-version 3.13 --python-platform $(PLATFORM) --only-binary :all: --no-compile-bytecode \
	  --target "$(INTO)" -r $(LAYER)/requirements.txt
endef

define finish
	cd "$(INTO)" && rm -rf bin .lock && \
	  find . -depth \( -type d \( -name __pycache__ -o -name tests -o -name test \) -o -type f \( -name '*.pyi' \
	  -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.h' -o -name '*.c' -o -name '*.pyc' \) \) \
	  -exec rm -rf {} +
	$(PYTHON313) -m compileall -q --invalidation-mode unchecked-hash -s "$(INTO)" -p /opt/python "$(INTO)"
endef
