# Wrapper around Meson. `make demo` and `make test` install missing packages, build and run.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
# Passed to `meson setup` the first time: make MESON_FLAGS=-Dopenmp=disabled
MESON_FLAGS ?=
# Passed to `meson test`: make test TEST_FLAGS='--suite unit'
TEST_FLAGS ?=
GOLDEN ?=

.PHONY: all demo test golden install wheel bench count coverage test-gpu bench-gpu fuzz soak soak-mpi soak-serve load-serve check-asan check-tsan arm64 format clean help
all: $(BUILD)/build.ninja ## build the command (build/smurf) and the libraries
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-deps build
	meson setup --prefix $(abspath $(PREFIX)) $(MESON_FLAGS) $(BUILD)

demo: all ## simulate events, train on them, measure, forecast, and write demo/report.html
	$(BUILD)/smurf simulate hawkes base=0.05 excitation=0,0.9,0,0,0,0.9,0.5,0,0 decay=3 --until 300 -n 250 -o demo/
	$(BUILD)/smurf train demo/ -o demo/model.safetensors
	$(BUILD)/smurf eval demo/model.safetensors demo/ --report demo/report.html --figures demo/figures
	$(BUILD)/smurf predict demo/model.safetensors demo/ --within 1,5 | head -12
	@echo "open demo/report.html in a browser"

# A directory configured without cmocka has no tests yet.
test: ## run all tests; the last line counts them
	@tools/install-deps build test
	@test -e $(BUILD)/build.ninja || $(MAKE) --no-print-directory $(BUILD)/build.ninja
	@test -d $(BUILD)/test || meson setup --reconfigure -Dtests=enabled $(BUILD)
	@tools/run-tests $(BUILD) $(TEST_FLAGS)

golden: ## check golden files: GOLDEN="x.json y.json", default test/golden and ../shared/golden
	@tools/install-deps build test
	@test -e $(BUILD)/build.ninja || $(MAKE) --no-print-directory $(BUILD)/build.ninja
	@ninja -C $(BUILD) test/golden >/dev/null
	@$(BUILD)/test/golden $(GOLDEN)

install: all ## install to PREFIX (/usr/local) under DESTDIR
	@meson configure $(BUILD) --prefix $(abspath $(PREFIX))
	DESTDIR=$(DESTDIR) meson install -C $(BUILD)

wheel: ## build a wheel of the Python package for other machines, in dist/
	@tools/install-deps build wheel
	@tools/make-wheel dist

# PyTorch is only for comparison: everything else is measured without it.
bench: all ## run the benchmarks
	@tools/install-deps bench || echo "bench: continuing without PyTorch"
	@ninja -C $(BUILD) benchmarks
	bench/run.py $(BUILD)

count: all ## compare instruction counts of three small runs with test/instructions.json (valgrind)
	@tools/install-deps build count
	@tools/count-instructions $(BUILD)

fuzz: SECONDS ?= 60
fuzz: ## run each fuzzer for SECONDS=60 (clang)
	@tools/install-deps build ci
	@tools/fuzz $(BUILD)-fuzz $(SECONDS)

$(BUILD)-cuda/build.ninja:
	@tools/install-deps build test
	meson setup -Dcuda=auto $(BUILD)-cuda

test-gpu: $(BUILD)-cuda/build.ninja ## check training on a GPU, where there is one (nvcc)
	@ninja -C $(BUILD)-cuda gpu-tests
	$(BUILD)-cuda/test/gpu_gradient
	$(BUILD)-cuda/test/gpu_golden $(wildcard test/golden/*.json ../shared/golden/*.json)
	$(BUILD)-cuda/test/gpu_training
	$(BUILD)-cuda/test/gpu_laws 150 || [ $$? = 77 ]

bench-gpu: $(BUILD)-cuda/build.ninja ## events per second of training on a GPU, where there is one (nvcc)
	@ninja -C $(BUILD)-cuda bench/bench_gpu bench/bench_laws_gpu
	$(BUILD)-cuda/bench/bench_gpu
	$(BUILD)-cuda/bench/bench_laws_gpu || [ $$? = 77 ]

coverage: ## line coverage of the fast tests, by directory; fails below 96% in src/ and 95% in cli/ (gcov)
	@tools/install-deps build test
	@tools/coverage $(BUILD)-coverage

soak: SECONDS ?= 1800
soak: $(BUILD)/build.ninja ## long campaigns (hours): failing allocations, random kills and each fuzzer, each for SECONDS=1800
	@tools/install-deps build test ci
	@tools/soak $(BUILD) $(SECONDS)

soak-mpi: KILLS ?= 200
soak-mpi: $(BUILD)/build.ninja ## kill random ranks of smurf-mpi KILLS=200 times
	@tools/install-deps build test ci
	@ninja -C $(BUILD) smurf smurf-mpi >/dev/null
	@SMURF=$(BUILD)/smurf python3 -B test/soak_mpi.py $(KILLS)

soak-serve: KILLS ?= 500
soak-serve: $(BUILD)/build.ninja ## kill the service at random moments under load KILLS=500 times
	@tools/install-deps build test
	@ninja -C $(BUILD) smurf >/dev/null
	@SMURF=$(BUILD)/smurf python3 -B test/soak_serve.py $(KILLS)

load-serve: SECONDS ?= 60
load-serve: ## the benchmark's load on the service, with AddressSanitizer and with ThreadSanitizer, SECONDS=60 each
	@tools/install-deps build test bench ci
	@tools/check-asan $(BUILD)-asan $(SECONDS)
	@tools/check-tsan $(BUILD)-tsan $(SECONDS)

check-asan: ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/install-deps build test
	@tools/check-asan $(BUILD)-asan

check-tsan: ## run the unit tests under ThreadSanitizer (clang)
	@tools/install-deps build test ci
	@tools/check-tsan $(BUILD)-tsan

arm64: ## build for arm64 and run the unit tests under qemu
	@tools/install-deps build test arm64
	@tools/arm64 $(BUILD)-arm64

format: ## format the sources (clang-format)
	clang-format -i $$(git ls-files --cached --others --exclude-standard '*.[ch]')

clean: ## remove all build directories and the demo
	rm -rf $(BUILD) $(BUILD)-fuzz $(BUILD)-asan $(BUILD)-tsan $(BUILD)-arm64 $(BUILD)-clang $(BUILD)-coverage $(BUILD)-cuda demo

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s%s\n", $$1, $$2 }' Makefile
