# SPDX-License-Identifier: GPL-2.0-or-later
# make V=1 shows commands; DEBUG=1 builds with -O0 -g; ASAN=1 with address and undefined-behaviour
# sanitizers. `make help` lists the targets.

VERSION  := 0.1.0
PREFIX   ?= /usr/local
DESTDIR  ?=
BUILD    := build$(if $(ASAN),-asan)
PROGRAM  := proftrace
CC       := gcc
AR       := ar
CLANG    := clang
BPFTOOL  := $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
Q        := $(if $(V),,@)
say       = $(if $(V),,@printf '  %-7s %s\n' '$1' '$2';)

CFLAGS   ?= $(if $(DEBUG),-O0,-O2) -g
WARN     := -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes -Wstrict-prototypes
# We may be given a small stack.
FRAMES   := $(if $(ASAN),,-Wframe-larger-than=24576)
# A folder of a part is named without that part: #include "calls/profile.h".
PARTS    := base profiles $(if $(REPORT_ONLY),,analysis tracing) commands
CPPFLAGS += -D_GNU_SOURCE -DPROFTRACE_VERSION='"$(VERSION)"' $(PARTS:%=-Iuser/%) \
	$(if $(REPORT_ONLY),,-Ibpf) -I$(BUILD)
,        := ,
# What $(CC) builds for, as BPF objects name it.
BPF_ARCH := $(or $(if $(filter aarch64-%,$(shell $(CC) -dumpmachine)),arm64),x86)
SAN      := $(if $(ASAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined)
# Libraries of others: each of our parts needs those of its line, and of the lines below it.
LIBS     := $(if $(REPORT_ONLY),,-lbpf \
	-ldw -lelf -llzma -lZydis -lZycore -liberty -lncursesw -ltinfo -linih) \
	-lsqlite3 -lz -lzstd -lpthread -lm -ldl

# main() with its table of commands. A build that only reads recordings has another table, and of
# the commands those in it.
MAIN     := user/main.c user/commands/cmd/$(if $(REPORT_ONLY),report_commands,commands).c
SRCS     := $(sort $(filter-out user/commands/cmd/%commands.c,$(if $(REPORT_ONLY), \
	$(shell find user/base user/profiles user/commands/cli user/commands/report -name '*.c') \
	user/commands/cmd/cmd_report.c user/commands/cmd/cmd_diff.c user/commands/cmd/cmd_send.c, \
	$(shell find user/*/ -name '*.c'))))
OBJS     := $(SRCS:%.c=$(BUILD)/%.o) $(BUILD)/user/profiles/web/embed.o
# Everything but main(), each library before those that it needs. A linker that goes through them
# once, in this order, finds no function that is called from further down.
LIB      := $(addprefix $(BUILD)/lib,commands.a $(if $(REPORT_ONLY),,trace.a analyze.a) profile.a)
SKEL_TWO := $(BUILD)/proftrace.skel.h $(BUILD)/basic.skel.h
SKEL     := $(SKEL_TWO) $(BUILD)/asleep.skel.h
FORMATTED := $(sort $(shell find user -name '*.[ch]')) $(wildcard bpf/*.[ch] include/*.h \
	$(foreach kind,unit formats drop page bench fuzz,tests/$(kind)/*.[ch]) packaging/*.c)

all: $(PROGRAM) ## build ./proftrace

$(PROGRAM): $(MAIN:%.c=$(BUILD)/%.o) $(LIB)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libcommands.a: $(filter $(BUILD)/user/commands/%,$(OBJS))
$(BUILD)/libtrace.a: $(filter $(BUILD)/user/tracing/%,$(OBJS))
$(BUILD)/libanalyze.a: $(filter $(BUILD)/user/analysis/%,$(OBJS))
$(BUILD)/libprofile.a: $(filter $(BUILD)/user/profiles/% $(BUILD)/user/base/%,$(OBJS))
$(LIB):
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -std=gnu11 $(WARN) $(FRAMES) $(CPPFLAGS) $(CFLAGS) $(SAN) -MMD -MP -c -o $@ $<

# Names of system calls and of errors, from the headers of what $(CC) builds for.
$(BUILD)/user/analysis/symbol/system_calls.o: $(BUILD)/system_calls.inc $(BUILD)/errors.inc
$(BUILD)/errors.inc:
	@mkdir -p $(@D)
	$(Q)echo '#include <errno.h>' | $(CC) -E -dM - | \
		sed -nE 's/^#define (E[A-Z0-9]+) ([0-9]+)$$/[\2] = "[\1]",/p' > $@
$(BUILD)/system_calls.inc:
	@mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -nE -e '/__NR_(arch_specific_)?syscalls? /d' \
			-e 's/^#define (__NR_([a-z0-9_]+)) .*/[\1] = "[\2]",/p' > $@

# The page of -f html, cut where its data goes; user/profiles/sink/page/sink_html.c puts it together.
PAGE     := $(BUILD)/web/head.html $(BUILD)/web/tail.html $(BUILD)/web/live.html.gz
$(BUILD)/user/profiles/web/embed.o: user/profiles/web/embed.S $(PAGE)
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) -I$(BUILD)/web -c -o $@ $<
$(PAGE) &: scripts/build-page $(wildcard user/profiles/web/page.* user/profiles/web/app/*.js)
	$(call say,PAGE,$(@D))scripts/build-page $(BUILD)/web

# Only these may include the skeleton.
$(filter $(BUILD)/user/tracing/attach/% $(BUILD)/user/tracing/tables/% \
	$(BUILD)/user/tracing/collect/%,$(OBJS)): $(SKEL)

$(BUILD)/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# Their variables must lie alike, and their maps be the same: user space has one type for both. A
# variable that is given a value where it is defined lies where it is defined, others where they are
# used first. A structure that is initialised with constants may become a map of constants,
# `.rodata.cst16`, of one of them alone.
$(BUILD)/user/tracing/attach/links/skeleton.o: $(BUILD)/variables-agree
$(BUILD)/variables-agree: $(SKEL_TWO)
	$(Q)for skel in $^; do { sed -n '/__\(bss\|data\|data_written\|data_turn\|rodata\) {/,/} \*/p' $$skel | sed 's/ [a-z]*_bpf__/ /'; \
		sed -n '/struct bpf_map \*/p' $$skel | sort; } > $$skel.variables; done
	$(Q)cmp $(SKEL_TWO:%=%.variables) && touch $@

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c bpf/proftrace.bpf.c $(wildcard bpf/*.h vmlinux/*.h) scripts/bpf-stack scripts/bpf-writes
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -D__TARGET_ARCH_$(BPF_ARCH) -Ibpf -Ivmlinux -c -o $@.tmp $<
	$(Q)scripts/bpf-stack $(if $(V),-v) $@.tmp
	$(Q)scripts/bpf-writes $(if $(V),-v) $@.tmp
	$(Q)llvm-strip -g $@.tmp -o $@ && rm -f $@.tmp

REPORT_BUILD ?= build-report
report-only: ## build build-report/proftrace, which reads recordings: no BPF, no ELF, no clang
	$(Q)$(MAKE) --no-print-directory all BUILD=$(REPORT_BUILD) PROGRAM=$(REPORT_BUILD)/proftrace REPORT_ONLY=1

# For another architecture, by Debian's cross compiler and with its libraries.
CROSS_TARGETS := all
cross: ## install what is missing, build build-arm64/proftrace
	$(Q)scripts/install-deps.sh build cross
	$(Q)root=$$(scripts/cross-libraries arm64) && $(MAKE) --no-print-directory $(CROSS_TARGETS) BUILD=build-arm64 \
		PROGRAM=build-arm64/proftrace AR=aarch64-linux-gnu-ar CC="aarch64-linux-gnu-gcc --sysroot=$$root"

deps: ## install what building and testing need
	$(Q)scripts/install-deps.sh

include tests/tests.mk
include packaging/packaging.mk

# Where shells look for what completes command lines; zsh's folder is Debian's.
ZSH_FUNCTIONS ?= vendor-completions
COMPLETIONS := bash:bash-completion/completions/proftrace zsh:zsh/$(ZSH_FUNCTIONS)/_proftrace \
	fish:fish/vendor_completions.d/proftrace.fish

# The agent's unit of systemd's and its configuration, which is never replaced.
UNITS    ?= $(PREFIX)/lib/systemd/system
CONFIG   ?= /etc/proftrace/agent.conf

install: proftrace ## install the program, man pages, completions, schemas and proftrace.h (PREFIX, DESTDIR)
	install -D -m 755 proftrace $(DESTDIR)$(PREFIX)/bin/proftrace
	install -D -m 644 docs/proftrace.1 $(DESTDIR)$(PREFIX)/share/man/man1/proftrace.1
	install -D -m 644 docs/fleet/clickhouse.sql $(DESTDIR)$(PREFIX)/share/proftrace/clickhouse.sql
	install -D -m 644 docs/fleet/grafana.json $(DESTDIR)$(PREFIX)/share/proftrace/grafana.json
	install -D -m 644 include/proftrace.h $(DESTDIR)$(PREFIX)/include/proftrace.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/proftrace/schema docs/schema/*.json
	$(Q)set -e; for to in $(COMPLETIONS); do \
		path=$(DESTDIR)$(PREFIX)/share/$${to#*:}; mkdir -p "$${path%/*}"; \
		./proftrace --completion $${to%%:*} > "$$path"; chmod 644 "$$path"; done
	$(Q)mkdir -p $(DESTDIR)$(UNITS) && sed 's,@PREFIX@,$(or $(PREFIX),/usr/local),' packaging/proftrace-agent.service > $(DESTDIR)$(UNITS)/proftrace-agent.service
	$(Q)chmod 644 $(DESTDIR)$(UNITS)/proftrace-agent.service
	$(Q)test -e $(DESTDIR)$(CONFIG) || install -D -m 644 packaging/agent.conf $(DESTDIR)$(CONFIG)
	$(Q)scripts/verb-pages ./proftrace $(DESTDIR)$(PREFIX)/share/man/man1 < docs/proftrace.1

format: ## format the sources
	$(Q)clang-format -i $(FORMATTED)

clean: ## remove what was built
	$(Q)rm -rf build build-asan build-report build-fuzz build-arm64 proftrace demo.folded demo.svg

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.PHONY: all report-only cross deps install format clean help
.DELETE_ON_ERROR:
-include $(OBJS:.o=.d) $(MAIN:%.c=$(BUILD)/%.d)
