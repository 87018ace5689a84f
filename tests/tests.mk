# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests, end-to-end tests, benchmarks.

UNIT_SRCS := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=$(BUILD)/unit/%)

# Rows of made-up data leave out what is 0.
$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -std=gnu11 $(WARN) -Wno-missing-field-initializers $(CPPFLAGS) $(CFLAGS) $(SAN) -o $@ $< $(LIB) -lcmocka $(LIBS)

# The targets that the end-to-end tests profile. Built alike whatever DEBUG and ASAN say: the tests
# rely on what the compiler makes of them.
PROGRAMS     := $(BUILD)/programs
PROGRAM_C    := $(CC) -std=gnu11 -O2 -fno-optimize-sibling-calls -Wall -Wextra -Wno-unused-parameter
PROGRAM_CXX  := g++ -std=gnu++17 -O2 -fno-optimize-sibling-calls -Wall -Wextra
PLAIN        := recursion threads longjmp exits exec forks forest numbered heated signals cold aliases coroutine timing steps stacks disarm \
		preempt cleanup altstack fibers nested_handlers seccomp forkstorm pidreuse dlloop late jobs plugin_host pace \
		spawns own_switch redzone many backtraces asan sandbox hot requests tagged regions probes region_host sleepers \
		region_values patched spans own_jumps asks_parent missing chain causes \
		odd_code diverted callers borrowers jit load_amid copies checked throng sampled seeds jump_loop waiting reasons serving stepped \
		jump_swaps stack_copies fork_amid slowdown system_calls cooling often files hive asking one_lock mappings \
		thread_context alike naps unseen begins ends moved handed_out litter hung
THROWING     := names goes_on inlined proofs throws throwing thread_ends rethrow region_throws shards janitor
GO           := stack many panic asks hash kinds kinds-stripped kinds-pie kinds-pie-stripped
PARAMETERS   := debug debug5-packed nodebug debuglink
# Each kind of entry that compilers can be told to leave to be patched: see test_instrumented.py.
INSTRUMENTED := plain patchable5 patchable5-endbr patchable7-2 nop-mcount nop-mcount-endbr fentry fentry-noted \
		clang-patchable5 clang-patchable5-endbr clang-patchable9 clang-patchable16-5 clang-fentry \
		clang-xray clang-xray-endbr
CALCS        := pie nopie static static-pie dynsym stripped debuglink
PROGRAM_BINS := $(addprefix $(PROGRAMS)/,$(PLAIN) pace-renamed $(CALCS:%=calc-%) $(THROWING) tailcall goes_back busy entries early returns emul arguments \
		$(PARAMETERS:%=parameters-%) methods $(INSTRUMENTED:%=instrumented-%) lines_own-O0 lines_own-O2 lines_time \
		births births-vfork crowd crowd-nameless inline_data signal_throws exchange pause32 generators redzone-nops redzone-nop5 libplugin.so \
		nameless nameless-static liblazy.so lazy libthread_context.so thread_context-linked libshapes.so libregions.so regions-plain hot-regions shapes-linked shapes-dlopen shapes-foreign \
		own_jumps-static jump_swaps-static stack_copies-static profiled profiled-static backtraces-name own_switch-1 own_switch-2 own_switch-3 own_switch-4 $(GO:%=go%))

$(PROGRAM_BINS): tests/programs/target.h | $(PROGRAMS)
$(PROGRAMS):
	@mkdir -p $@

$(PLAIN:%=$(PROGRAMS)/%): $(PROGRAMS)/%: tests/programs/%.c
	$(call say,TARGET,$@)$(PROGRAM_C) $(PLAIN_FLAGS) -o $@ $< -lpthread
# The same with a function that has another name.
$(PROGRAMS)/pace-renamed: tests/programs/pace.c
	$(call say,TARGET,$@)$(PROGRAM_C) -Drare=seldom -o $@ $<
$(PROGRAMS)/crowd: tests/programs/crowd.c tests/programs/step_aside.S
	$(call say,TARGET,$@)$(PROGRAM_C) -DSWITCH=coro_transfer -o $@ $(filter %.c %.S,$^) -lpthread
# Its switch of stacks is in no file.
$(PROGRAMS)/crowd-nameless: tests/programs/crowd.c
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $< -lpthread
# Four million calls: let them begin with a push, which the kernel emulates.
$(PROGRAMS)/threads: PLAIN_FLAGS := -fno-omit-frame-pointer
$(PROGRAMS)/busy: tests/programs/busy.c
	$(call say,TARGET,$@)$(PROGRAM_C) -foptimize-sibling-calls -o $@ $< -lpthread
$(PROGRAMS)/tailcall $(PROGRAMS)/goes_back: $(PROGRAMS)/%: tests/programs/%.c
	$(call say,TARGET,$@)$(PROGRAM_C) -foptimize-sibling-calls -o $@ $<
# The caller calls from inline assembly, which knows nothing of the red zone.
$(PROGRAMS)/entries: tests/programs/entries_main.c tests/programs/entries.S
	$(call say,TARGET,$@)$(PROGRAM_C) -mno-red-zone -o $@ $^
$(PROGRAMS)/early: tests/programs/early_main.c tests/programs/early.S
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $^
$(PROGRAMS)/returns: tests/programs/returns_main.c tests/programs/returns.S
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $^ -lpthread
$(PROGRAMS)/emul: tests/programs/emul_main.c tests/programs/emul.S
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $^ -lpthread
$(PROGRAMS)/callers: PLAIN_FLAGS := -fomit-frame-pointer
$(PROGRAMS)/stepped: PLAIN_FLAGS := -Wl,--no-as-needed -lstdc++ -Wl,--as-needed
$(PROGRAMS)/jump_loop: PLAIN_FLAGS := -foptimize-sibling-calls
$(PROGRAMS)/arguments: tests/programs/arguments_main.c tests/programs/arguments.S
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $^
$(filter-out %/region_throws,$(THROWING:%=$(PROGRAMS)/%)): $(PROGRAMS)/%: tests/programs/%.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -o $@ $< -lpthread
$(PROGRAMS)/inlined $(PROGRAMS)/shards $(PROGRAMS)/janitor: PROGRAM_CXX += -g
$(PROGRAMS)/goes_on $(PROGRAMS)/janitor: PROGRAM_CXX += -foptimize-sibling-calls
# The checks of some compilers refuse jumps to deeper frames.
$(PROGRAMS)/jump_swaps $(PROGRAMS)/jump_swaps-static $(PROGRAMS)/stack_copies $(PROGRAMS)/stack_copies-static: \
	PLAIN_FLAGS := -U_FORTIFY_SOURCE -Wno-clobbered -Wno-array-bounds
$(PROGRAMS)/own_jumps $(PROGRAMS)/own_jumps-static: PLAIN_FLAGS := -Wno-infinite-recursion
$(PROGRAMS)/cleanup: PLAIN_FLAGS := -fexceptions -Wno-infinite-recursion
$(PROGRAMS)/inline_data: tests/programs/inline_data_main.cpp tests/programs/inline_data.S
	$(call say,TARGET,$@)$(PROGRAM_CXX) -o $@ $(filter %.cpp %.S,$^)
$(PROGRAMS)/signal_throws: tests/programs/signal_throws.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -fnon-call-exceptions -o $@ $<
$(PROGRAMS)/exchange: tests/programs/exchange.S
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $<
$(PROGRAMS)/pause32: tests/programs/pause32.S
	$(call say,TARGET,$@)$(CC) -m32 -nostdlib -static -o $@ $<
$(PROGRAMS)/generators: tests/programs/generators.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -std=gnu++20 -o $@ $<
$(PROGRAMS)/missing: PLAIN_FLAGS := -Wl,-z,now
$(PROGRAMS)/backtraces: PLAIN_FLAGS := -fno-omit-frame-pointer -rdynamic
$(PROGRAMS)/thread_context: PLAIN_FLAGS := -rdynamic -Iinclude
# The same variables in a library that is loaded with the program.
$(PROGRAMS)/libthread_context.so: tests/programs/thread_context_library.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fPIC -shared -Wl,-soname,libthread_context.so -o $@ $<
$(PROGRAMS)/thread_context-linked: tests/programs/thread_context.c $(PROGRAMS)/libthread_context.so
	$(call say,TARGET,$@)$(PROGRAM_C) -DLIBRARY -Iinclude -o $@ $< -L$(@D) -lthread_context -lpthread -Wl,-rpath,'$$ORIGIN'
$(PROGRAMS)/backtraces-name: tests/programs/backtraces.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fno-omit-frame-pointer -rdynamic -DBY_NAME -o $@ $<
$(PROGRAMS)/asan: PLAIN_FLAGS := -fsanitize=address -g
$(PROGRAMS)/redzone-nops: tests/programs/redzone.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fpatchable-function-entry=5 -o $@ $<
# A nop where -pg would call mcount; linked without it, so that nothing is profiled. The compiler
# does not do this for code at any address.
$(PROGRAMS)/redzone-nop5: tests/programs/redzone.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fno-pie -pg -mfentry -mnop-mcount -c -o $@.o $< && $(CC) -no-pie -o $@ $@.o
# Likewise: a child that has no copy of what the nop leads to would die.
$(PROGRAMS)/births: tests/programs/births.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fno-pie -pg -mfentry -mnop-mcount -c -o $@.o $< && $(CC) -no-pie -o $@ $@.o
$(PROGRAMS)/births-vfork: tests/programs/births.c
	$(call say,TARGET,$@)$(PROGRAM_C) -DVFORK -o $@ $<
$(PROGRAMS)/hot-regions: tests/programs/hot.c
	$(call say,TARGET,$@)$(PROGRAM_C) -DREGIONS -Iinclude -o $@ $< -lpthread
$(addprefix $(PROGRAMS)/,hot-regions regions regions-plain region_values region_throws spans throng libregions.so thread_context thread_context-linked): include/proftrace.h
$(PROGRAMS)/regions $(PROGRAMS)/throng: PLAIN_FLAGS := -g -Iinclude
$(PROGRAMS)/region_values $(PROGRAMS)/spans: PLAIN_FLAGS := -Iinclude
$(PROGRAMS)/region_throws: tests/programs/region_throws.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -Iinclude -o $@ $<
# Where nothing is optimized each function has a frame, and uses the red zone if it is a leaf.
$(PROGRAMS)/regions-plain: tests/programs/regions.c
	$(call say,TARGET,$@)$(PROGRAM_C) -O0 -Iinclude -o $@ $< -lpthread
$(PROGRAMS)/libregions.so: tests/programs/region_plugin.c
	$(call say,TARGET,$@)$(PROGRAM_C) -Iinclude -fPIC -shared -o $@ $<
$(PROGRAMS)/nameless-static: NAMELESS_FLAGS := -static
$(PROGRAMS)/nameless $(PROGRAMS)/nameless-static: tests/programs/nameless.c
	$(call say,TARGET,$@)$(PROGRAM_C) $(NAMELESS_FLAGS) -o $@ $< -Wl,-Bstatic -llua5.4 $(if $(NAMELESS_FLAGS),,-Wl$(,)-Bdynamic) -lm
$(addprefix $(PROGRAMS)/,own_jumps-static jump_swaps-static stack_copies-static): $(PROGRAMS)/%-static: tests/programs/%.c
	$(call say,TARGET,$@)$(PROGRAM_C) $(PLAIN_FLAGS) -static -o $@ $<
$(PROGRAMS)/profiled-static: PROFILED_FLAGS := -static
$(PROGRAMS)/profiled $(PROGRAMS)/profiled-static: tests/programs/profiled.c
	$(call say,TARGET,$@)$(PROGRAM_C) -foptimize-sibling-calls -no-pie -pg $(PROFILED_FLAGS) -o $@ $<
# Ways to load the stack pointer.
$(PROGRAMS)/own_switch-%: tests/programs/own_switch.c
	$(call say,TARGET,$@)$(PROGRAM_C) -DWAY=$* -o $@ $<
$(PROGRAMS)/libplugin.so: tests/programs/plugin.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -fPIC -shared -o $@ $<
$(PROGRAMS)/liblazy.so: tests/programs/lazy_library.c
	$(call say,TARGET,$@)$(PROGRAM_C) -fPIC -shared -Wl,-soname,liblazy.so -o $@ $<
$(PROGRAMS)/lazy: tests/programs/lazy.c $(PROGRAMS)/liblazy.so
	$(call say,TARGET,$@)$(PROGRAM_C) -foptimize-sibling-calls -rdynamic -Wl,-z,lazy -o $@ $< -L$(@D) -llazy -Wl,-rpath,'$$ORIGIN'
$(PROGRAMS)/libshapes.so: tests/programs/shapes.c tests/programs/shapes.h
	$(call say,TARGET,$@)$(PROGRAM_C) -g -fPIC -shared -Wl,-soname,libshapes.so -o $@ $<
$(PROGRAMS)/shapes-linked: tests/programs/shapes_user.c $(PROGRAMS)/libshapes.so
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $< -L$(@D) -lshapes -Wl,-rpath,'$$ORIGIN'
$(PROGRAMS)/shapes-dlopen: tests/programs/shapes_user.c $(PROGRAMS)/libshapes.so
	$(call say,TARGET,$@)$(PROGRAM_C) -DBY_DLOPEN -o $@ $<
$(PROGRAMS)/shapes-foreign: tests/programs/shapes_user.c $(PROGRAMS)/libshapes.so
	$(call say,TARGET,$@)$(PROGRAM_C) -DBY_DLOPEN -DFOREIGN -o $@ $<

$(PROGRAMS)/instrumented-%: INSTRUMENTED_CC = $(PROGRAM_C) -fcf-protection=none
$(PROGRAMS)/instrumented-clang-%: INSTRUMENTED_CC = $(CLANG) -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter
$(PROGRAMS)/instrumented-patchable5: INSTRUMENTED_FLAGS := -fpatchable-function-entry=5
$(PROGRAMS)/instrumented-patchable5-endbr: INSTRUMENTED_FLAGS := -fpatchable-function-entry=5 -fcf-protection
$(PROGRAMS)/instrumented-patchable7-2: INSTRUMENTED_FLAGS := -fpatchable-function-entry=7,2
$(PROGRAMS)/instrumented-nop-mcount: INSTRUMENTED_FLAGS := -fno-pie -no-pie -pg -mfentry -mnop-mcount -mrecord-mcount
$(PROGRAMS)/instrumented-nop-mcount-endbr: INSTRUMENTED_FLAGS := -fno-pie -no-pie -pg -mfentry -mnop-mcount -mrecord-mcount -fcf-protection
$(PROGRAMS)/instrumented-fentry: INSTRUMENTED_FLAGS := -pg -mfentry
$(PROGRAMS)/instrumented-fentry-noted: INSTRUMENTED_FLAGS := -fno-pie -no-pie -pg -mfentry -mrecord-mcount
$(PROGRAMS)/instrumented-clang-patchable5: INSTRUMENTED_FLAGS := -fpatchable-function-entry=5
$(PROGRAMS)/instrumented-clang-patchable5-endbr: INSTRUMENTED_FLAGS := -fpatchable-function-entry=5 -fcf-protection
$(PROGRAMS)/instrumented-clang-patchable9: INSTRUMENTED_FLAGS := -fpatchable-function-entry=9
$(PROGRAMS)/instrumented-clang-patchable16-5: INSTRUMENTED_FLAGS := -fpatchable-function-entry=16,5
$(PROGRAMS)/instrumented-clang-fentry: INSTRUMENTED_FLAGS := -pg -mfentry
$(PROGRAMS)/instrumented-clang-xray: INSTRUMENTED_FLAGS := -fxray-instrument -fxray-instruction-threshold=1
$(PROGRAMS)/instrumented-clang-xray-endbr: INSTRUMENTED_FLAGS := -fxray-instrument -fxray-instruction-threshold=1 -fcf-protection
$(PROGRAMS)/instrumented-%: tests/programs/instrumented.c
	$(call say,TARGET,$@)$(INSTRUMENTED_CC) $(INSTRUMENTED_FLAGS) -o $@ $<

$(PROGRAMS)/parameters-%: PARAMETER_FLAGS := -g
$(PROGRAMS)/parameters-debug5-packed: PARAMETER_FLAGS := -gdwarf-5 -gz=zlib
$(PROGRAMS)/parameters-nodebug: PARAMETER_FLAGS := -g0
$(PROGRAMS)/parameters-%: tests/programs/parameters.c
	$(call say,TARGET,$@)$(PROGRAM_C) $(PARAMETER_FLAGS) -o $@ $<
	$(Q)[ $* != debuglink ] || { cd $(@D) && objcopy --only-keep-debug $(@F) $(@F).debug && \
		strip $(@F) && objcopy --add-gnu-debuglink=$(@F).debug $(@F); }
$(PROGRAMS)/methods: tests/programs/methods.cpp
	$(call say,TARGET,$@)$(PROGRAM_CXX) -g -o $@ $<

# Lines that count and time themselves. What gcov counts is built by the test.
$(PROGRAMS)/lines_own-%: tests/programs/lines_own.cpp
	$(call say,TARGET,$@)g++ -std=gnu++20 -g -$* -Wall -Wextra -Wno-infinite-recursion -Wno-volatile -o $@ $< -lpthread
$(PROGRAMS)/lines_time: tests/programs/lines_time.c
	$(call say,TARGET,$@)$(PROGRAM_C) -g -O0 -o $@ $<
$(PROGRAMS)/steps $(PROGRAMS)/forks $(PROGRAMS)/causes: PLAIN_FLAGS := -g

$(PROGRAMS)/calc-pie: CALC_FLAGS := -pie -fPIE
$(PROGRAMS)/calc-nopie: CALC_FLAGS := -no-pie -fno-pie
$(PROGRAMS)/calc-static: CALC_FLAGS := -static
$(PROGRAMS)/calc-static-pie: CALC_FLAGS := -static-pie -fPIE
$(PROGRAMS)/calc-dynsym: CALC_FLAGS := -rdynamic -s
$(PROGRAMS)/calc-stripped: CALC_FLAGS := -s
$(PROGRAMS)/calc-debuglink: CALC_FLAGS := -g
$(PROGRAMS)/calc-%: tests/programs/calc.c
	$(call say,TARGET,$@)$(PROGRAM_C) $(CALC_FLAGS) -o $@ $<
	$(Q)[ $* != debuglink ] || { cd $(@D) && objcopy --only-keep-debug $(@F) $(@F).debug && \
		strip $(@F) && objcopy --add-gnu-debuglink=$(@F).debug $(@F); }

# A profiler that does nothing but drop functions, linked to ours.
DROPPER := $(BUILD)/dropper
$(DROPPER): tests/drop/dropper.c $(LIB)
	$(call say,CC,$@)$(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(SAN) -o $@ $< $(LIB) $(LIBS)

# Writes one made-up profile in any format: what all tests of consumers compare.
SAMPLE := $(BUILD)/sample
$(SAMPLE): tests/formats/sample.c tests/unit/fixture.h $(LIB)
	$(call say,CC,$@)$(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(SAN) -Itests/unit -o $@ $< $(LIB) -lcmocka $(LIBS)

# Consumers that come as packages of Node.js, by exact version.
CONSUMERS := $(BUILD)/consumers/node_modules/.package-lock.json
$(CONSUMERS): tests/formats/package.json tests/formats/package-lock.json
	@mkdir -p $(BUILD)/consumers && cp $^ $(BUILD)/consumers
	$(call say,NPM,$@)cd $(BUILD)/consumers && NODE_EXTRA_CA_CERTS=$${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt} npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json
# Profiles made up for tests of formats, linked to the sinks.
PROFILES := $(BUILD)/profiles
$(PROFILES): tests/page/profiles.c tests/unit/timeline_array.h $(LIB)
	$(call say,CC,$@)$(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(SAN) -Itests/unit -o $@ $< $(LIB) $(LIBS)

# Without cgo, so that the linker is Go's own. The cache makes the first program pay for all.
GO_SRC       := tests/programs/go
GO_BUILD     := GOCACHE=$(abspath $(BUILD))/go-cache GOFLAGS= GOTOOLCHAIN=local GO111MODULE=off CGO_ENABLED=0 go build
$(GO:%=$(PROGRAMS)/go%): $(GO_SRC)/target.go
	$(call say,TARGET,$@)$(GO_BUILD) $(GO_FLAGS) -o $@ $(filter %.go,$^)
$(PROGRAMS)/gostack: $(GO_SRC)/stack.go
$(PROGRAMS)/gomany: $(GO_SRC)/many.go
$(PROGRAMS)/gopanic: $(GO_SRC)/panic.go
$(PROGRAMS)/gohash: $(GO_SRC)/hash.go
$(PROGRAMS)/goasks: $(GO_SRC)/asks.go
$(filter $(PROGRAMS)/gokinds%,$(PROGRAM_BINS)): $(GO_SRC)/kinds.go
$(PROGRAMS)/gokinds-stripped: GO_FLAGS := -ldflags "-s -w"
$(PROGRAMS)/gokinds-pie: GO_FLAGS := -buildmode=pie
$(PROGRAMS)/gokinds-pie-stripped: GO_FLAGS := -buildmode=pie -ldflags "-s -w"

# Fuzzers: clang's libFuzzer and sanitizers over all that reads a target's files. RUNS inputs each.
FUZZ       := build-fuzz
# What looks at live processes rather than at files.
LIVE_TARGET := $(addprefix user/analysis/target/,target.c adopt.c hazard.c launch.c started_as.c strangers.c)
FUZZ_SRCS  := $(filter-out $(LIVE_TARGET),$(shell find user/base user/analysis \
	$(addprefix user/profiles/,calls timeline views sessions diff record) -name '*.c')) \
	user/profiles/fleet/otlp/answer.c
FUZZ_OBJS  := $(FUZZ_SRCS:%.c=$(FUZZ)/%.o)
# Formats and the live view, for those fuzzers that show something or look at options.
SHOWN_SRCS := $(shell find user/profiles/sink user/profiles/top -name '*.c')
SHOWN_OBJS := $(SHOWN_SRCS:%.c=$(FUZZ)/%.o)
# Options, whose parser looks at values of a configuration, too.
CONFIG_SRCS := $(filter-out %/config_look.c,$(wildcard user/commands/agent/config*.c)) \
	$(shell find user/commands/cli user/profiles/fleet -name '*.c')
CONFIG_OBJS := $(CONFIG_SRCS:%.c=$(FUZZ)/%.o)
FUZZ_BINS  := $(addprefix $(FUZZ)/,config elf maps otlp record sink)
FUZZ_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -g -O1
RUNS       ?= 20000

# Code that tells the fuzzer which branches were taken, and what was compared. Checks of output have
# none: they say nothing of the input, and would take half of the time.
FUZZ_COVER := -fsanitize=fuzzer-no-link
$(FUZZ)/tests/fuzz/written.o: FUZZ_COVER :=
$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)$(CLANG) -std=gnu11 $(CPPFLAGS) $(FUZZ_FLAGS) $(FUZZ_COVER) -MMD -MP -c -o $@ $<
$(FUZZ)/elf: $(FUZZ)/tests/fuzz/elf_mutator.o
$(FUZZ)/config $(FUZZ)/record $(FUZZ)/sink: $(FUZZ)/tests/fuzz/recording_file.o
$(FUZZ)/config: $(CONFIG_OBJS) $(SHOWN_OBJS) $(BUILD)/user/profiles/web/embed.o
$(FUZZ)/sink: $(FUZZ)/tests/fuzz/recording_mutator.o $(FUZZ)/tests/fuzz/written.o $(FUZZ)/tests/fuzz/sent.o \
	$(SHOWN_OBJS) $(filter $(FUZZ)/user/profiles/fleet/%,$(CONFIG_OBJS)) \
	$(BUILD)/user/profiles/web/embed.o
$(FUZZ_BINS): $(FUZZ)/%: $(FUZZ)/tests/fuzz/fuzz_%.o $(FUZZ_OBJS)
	$(call say,LINK,$@)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)
-include $(FUZZ_OBJS:.o=.d) $(SHOWN_OBJS:.o=.d) $(CONFIG_OBJS:.o=.d) $(FUZZ)/tests/fuzz/*.d

fuzzers: $(FUZZ_BINS)

fuzz: ## install what is missing, build, fuzz with RUNS=20000 inputs a fuzzer
	$(Q)scripts/install-deps.sh build fuzz
	$(Q)$(MAKE) --no-print-directory fuzzers
	$(Q)tests/fuzz/run --build $(FUZZ) --runs $(RUNS) $(FUZZ_ARGS)

.PHONY: fuzzers fuzz

test: $(UNIT_BINS) ## build and run the unit tests alone (no root)
	$(Q)tests/run --unit --build $(BUILD) $(FILTER)

tests: all $(UNIT_BINS) $(PROGRAM_BINS) $(DROPPER) $(SAMPLE) $(CONSUMERS) $(PROFILES) $(FUZZ_BINS) ## build the program, the tests and their targets

# The second make finds the tools that the first has installed.
# As many jobs as there are processors, unless it was said how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# FILTER: parts of tests' names, as tests/run takes them.
check: ## install what is missing, build, run every test (root); FILTER=name runs some
	$(Q)scripts/install-deps.sh build test kernels package
	$(Q)scripts/check-layers
	$(Q)scripts/check-docs
	$(Q)scripts/check-functions
	$(Q)$(MAKE) --no-print-directory $(JOBS) tests
	$(if $(FILTER),,$(Q)$(MAKE) --no-print-directory $(JOBS) cross)
	$(Q)tests/run --build $(BUILD) $(FILTER)

demo: ## install what is missing, build, profile a busy redis-server (root)
	$(Q)scripts/install-deps.sh build demo
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)scripts/demo.sh

# The agent amid targets and receivers that come and go: SECONDS (1800), SEED; PROFTRACE_KILLS=100 for test_agent_killed.py.
soak-agent: all $(PROGRAM_BINS) ## the agent for half an hour (root); SECONDS=N
	$(Q)cd tests/e2e && $(if $(SECONDS),SECONDS=$(SECONDS)) $(if $(SEED),SEED=$(SEED)) python3 soak_agent.py

.PHONY: soak-agent test tests check demo

# Benchmarks. `make bench BENCH_ARGS="--help"` tells what can be chosen.
BENCH      := $(BUILD)/bench
BENCH_C    := $(CC) -std=gnu11 -O2 -Wall -Wextra
BENCH_PLAIN := known waits durations rates thousands
PICTURES    := gcc gcc-nop5 gcc-nops clang clang-nop5
BENCH_BINS := $(PICTURES:%=$(BENCH)/picture-%) $(BENCH)/regions $(BENCH)/calls $(BENCH)/clock2 $(BENCH)/clock2.bpf.o $(BENCH)/empty.bpf.o \
	$(PROGRAMS)/threads $(PROGRAMS)/proofs $(PROGRAMS)/nameless $(PROGRAMS)/nameless-static $(PROGRAMS)/requests $(PROGRAMS)/many \
	$(BENCH_PLAIN:%=$(BENCH)/%) $(addprefix $(BENCH)/macro-,gcc g++ clang clang++)

$(BENCH):
	@mkdir -p $@
$(BENCH)/endbr64.o: tests/bench/functions.c tests/bench/calls.h | $(BENCH)
	$(call say,CC,$@)$(BENCH_C) -fcf-protection=branch -DENDBR64 -c -o $@ $<
$(BENCH)/calls: tests/bench/calls.c tests/bench/functions.c tests/bench/first.S $(BENCH)/endbr64.o \
		tests/bench/calls.h tests/bench/batches.h
	$(call say,TARGET,$@)$(BENCH_C) -fcf-protection=none -o $@ $(filter-out %.h,$^)
$(BENCH)/clock2: tests/bench/clock2.c user/tracing/attach/links/link.c user/tracing/attach/links/link.h | $(BENCH)
	$(call say,CC,$@)$(BENCH_C) -D_GNU_SOURCE -Iuser/tracing -o $@ $(filter %.c,$^) -lbpf
# proftrace.h as each compiler makes it.
$(BENCH)/macro-%: tests/bench/macro.c include/proftrace.h | $(BENCH)
	$(call say,TARGET,$@)$* -x $(if $(findstring ++,$*),c++,c) -O2 -Wall -Wextra -Iinclude -o $@ $<
# Functions that begin with a push, which the kernel emulates.
$(BENCH_PLAIN:%=$(BENCH)/%): $(BENCH)/%: tests/bench/%.c | $(BENCH)
	$(call say,TARGET,$@)$(BENCH_C) -Wno-unused-parameter -fno-omit-frame-pointer -o $@ $^ -lpthread -lm
$(BENCH)/regions: tests/bench/regions.c include/proftrace.h tests/bench/batches.h | $(BENCH)
	$(call say,TARGET,$@)$(BENCH_C) -Iinclude -fcf-protection=none -fno-omit-frame-pointer -fno-optimize-sibling-calls -o $@ $<
# Somebody else's code with nops at its entries and without. Of gcc's two ways to have some of five
# bytes, one makes five nops, and the other is not made for code at any address.
$(BENCH)/picture-gcc-nop5: PICTURE_FLAGS := -pg -mfentry -mnop-mcount
$(BENCH)/picture-gcc-nops: PICTURE_FLAGS := -fpatchable-function-entry=5
$(BENCH)/picture-clang-nop5: PICTURE_FLAGS := -fpatchable-function-entry=5
$(BENCH)/picture-clang $(BENCH)/picture-clang-nop5: PICTURE_CC := $(CLANG)
$(BENCH)/picture-gcc $(BENCH)/picture-gcc-nop5 $(BENCH)/picture-gcc-nops: PICTURE_CC := $(CC)
$(BENCH)/picture-%: tests/bench/picture.c tests/bench/batches.h | $(BENCH)
	$(call say,TARGET,$@)$(PICTURE_CC) -std=gnu11 -O2 -fcf-protection=none -fno-pie $(PICTURE_FLAGS) -c -o $@.o $< && $(PICTURE_CC) -no-pie -o $@ $@.o -lm
$(BENCH)/thousands: tests/bench/thousands.S
$(BENCH)/%.bpf.o: tests/bench/%.bpf.c vmlinux/vmlinux.h | $(BENCH)
	$(call say,BPF,$@)$(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Ivmlinux -c -o $@ $<

benchmarks: all $(BENCH_BINS)

bench: ## install what is missing, build, print what tracing costs (root)
	$(Q)scripts/install-deps.sh build bench
	$(Q)$(MAKE) --no-print-directory benchmarks
	$(Q)scripts/bench --build $(BUILD) $(BENCH_ARGS)

.PHONY: benchmarks bench

# What targets survive. `make survive SURVIVE_ARGS="--help"` tells what can be chosen.
SURVIVE_BINS := $(addprefix $(PROGRAMS)/,boost_fibers panics raises raises-static unwinds)

$(PROGRAMS)/boost_fibers: tests/programs/boost_fibers.cpp tests/programs/target.h | $(PROGRAMS)
	$(call say,TARGET,$@)$(PROGRAM_CXX) -o $@ $< -lboost_context
# The distribution's compiler: another one first in the PATH may want to be set up.
$(PROGRAMS)/panics: tests/programs/panics.rs | $(PROGRAMS)
	$(call say,TARGET,$@)/usr/bin/rustc -O -C panic=unwind -o $@ $<

# Linked with libc, as what uses its libraries is, and without, as it is by default. The compiler
# writes its object and a script of the linker beside each other: each program has its own folder.
$(PROGRAMS)/raises: RAISES_FLAGS := -dWITH_LIBC
$(PROGRAMS)/raises $(PROGRAMS)/raises-static: tests/programs/raises.pas | $(PROGRAMS)
	$(call say,TARGET,$@)mkdir -p $@-units && fpc -v0 -O2 -Xs- $(RAISES_FLAGS) -FU$@-units -FE$@-units \
		-o$@ $< >/dev/null
$(PROGRAMS)/unwinds: tests/programs/unwinds.c tests/programs/target.h | $(PROGRAMS)
	$(call say,TARGET,$@)$(PROGRAM_C) -o $@ $< -lunwind

survivors: all $(PROGRAM_BINS) $(SURVIVE_BINS)

survive: ## install what is missing, show that targets survive what they do under proftrace (root)
	$(Q)scripts/install-deps.sh build test survive
	$(Q)$(MAKE) --no-print-directory survivors
	$(Q)tests/survive/run --build $(BUILD) $(SURVIVE_ARGS)

.PHONY: survivors survive

# Debian's kernels. `make kernels KERNELS_ARGS="--help"` tells what can be chosen.
kernels: ## install what is missing, run tests under Debian's kernels in QEMU (root)
	$(Q)scripts/install-deps.sh build test kernels
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(PROGRAM_BINS)
	$(Q)$(MAKE) --no-print-directory $(JOBS) cross CROSS_TARGETS="all foreign"
	$(Q)tests/kernels/run --build $(BUILD) $(KERNELS_ARGS)

# What is counted on arm64 as well, by tests/kernels/arm64.py.
foreign: $(addprefix $(PROGRAMS)/,recursion threads calc-pie longjmp forks)

.PHONY: kernels foreign
