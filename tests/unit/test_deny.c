// SPDX-License-Identifier: GPL-2.0-or-later
/* The deny list: each family of docs' hazards by a name or two, and names that only look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "select/deny.h"
#include "symbol/symtab.h"

static const struct {
	const char *name;
	enum deny_verdict verdict;
	const char *reason;
} names[] = {
	{"main", DENY_NOTHING, NULL},
	{"_start", DENY_PROBE, "is not called like a function"},
	{"_init", DENY_PROBE, "is not called like a function"},
	{"_fini", DENY_PROBE, "is not called like a function"},
	{"__restore_rt", DENY_PROBE, "is not called like a function"},
	{"_dl_runtime_resolve_xsavec", DENY_PROBE, "is not called like a function"},
	{"_dl_start", DENY_PROBE, "is not called like a function"},
	{"_dl_start_user", DENY_PROBE, "is not called like a function"},
	{"__morestack", DENY_PROBE, "is not called like a function"},
	{"__x86_indirect_thunk_rax", DENY_PROBE, "is not called like a function"},
	{"__x86_return_thunk", DENY_PROBE, "is not called like a function"},
	{"__start_context", DENY_PROBE, "is not called like a function"},
	{"__fentry__", DENY_PROBE, "is not called like a function"},
	{"_setjmp", DENY_PROBE, "saves or replaces its caller's context"},
	{"__sigsetjmp", DENY_PROBE, "saves or replaces its caller's context"},
	{"longjmp", DENY_PROBE, "saves or replaces its caller's context"},
	{"____longjmp_chk", DENY_PROBE, "saves or replaces its caller's context"},
	{"getcontext", DENY_PROBE, "saves or replaces its caller's context"},
	{"swapcontext", DENY_PROBE, "saves or replaces its caller's context"},
	{"jump_fcontext", DENY_PROBE, "saves or replaces its caller's context"},
	{"bthread_jump_fcontext", DENY_PROBE, "saves or replaces its caller's context"},
	{"vfork", DENY_PROBE, "saves or replaces its caller's context"},
	{"__clone3", DENY_PROBE, "saves or replaces its caller's context"},
	{"_Unwind_RaiseException", DENY_RETURN, "looks at its return address"},
	{"__cxa_throw", DENY_RETURN, "looks at its return address"},
	{"backtrace", DENY_RETURN, "looks at its return address"},
	{"dlopen", DENY_RETURN, "looks at its return address"},
	{"dlsym", DENY_RETURN, "looks at its return address"},
	{"dlvsym", DENY_RETURN, "looks at its return address"},
	{"___dlsym", DENY_RETURN, "looks at its return address"},
	{"start", DENY_NOTHING, NULL},
	{"_start_server", DENY_NOTHING, NULL},
	{"my_setjmp", DENY_NOTHING, NULL},
	{"setjmp_buffer", DENY_NOTHING, NULL},
	{"clone_tree", DENY_NOTHING, NULL},
	{"backtrace_symbols", DENY_NOTHING, NULL},
	{"dlclose", DENY_NOTHING, NULL},
	{"fork", DENY_NOTHING, NULL},
	{"", DENY_NOTHING, NULL},
};

static void verdicts(void **state)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct symbol sym = {.name = names[i].name};
		const char *reason = NULL;
		enum deny_verdict verdict = deny__verdict(&sym, &reason);

		if (verdict != names[i].verdict)
			fail_msg("%s: %d", names[i].name, verdict);
		if (reason != names[i].reason)
			assert_string_equal(reason, names[i].reason);
	}
}

/* Go's runtime, whose names mean something in Go programs only. */
static void go_verdicts(void **state)
{
	static const char *const denied[] = {
		"_rt0_amd64_linux",
		"runtime.rt0_go.abi0",
		"runtime.rt0_go",
		"runtime.mstart.abi0",
		"runtime.gogo.abi0",
		"gogo",
		"runtime.mcall",
		"runtime.systemstack.abi0",
		"runtime.morestack.abi0",
		"runtime.morestack_noctxt.abi0",
		"runtime.goexit.abi0",
		"runtime.asmcgocall.abi0",
		"runtime.asmcgocall_no_g.abi0",
		"runtime.cgocallback.abi0",
		"runtime.sigtramp.abi0",
		"runtime.sigreturn__sigaction.abi0",
		"runtime.asyncPreempt",
		"runtime.debugCallV2",
		"debugCall64",
		"runtime.duffcopy",
		"runtime.gcWriteBarrier4",
		"runtime.clone.abi0",
		"go:buildid",
		"crypto/internal/fips140/sha256.(*Digest).Write",
	};
	static const char *const probed[] = {
		"main.main",
		"main.gogo",
		"runtime.main",
		"runtime.mstart1",
		"runtime.newstack",
		"runtime.goexit1",
		"runtime.sigtrampgo",
		"runtime.asyncPreempt2",
		"runtime.cgocallbackg",
		"runtime.debugCallWrap",
		"runtime.memmove.abi0",
		"crypto/internal/fips140test.F",
		"go.uber.org/zap.New",
		".abi0",
		"",
	};
	const char *reason;

	for (size_t i = 0; i < sizeof(denied) / sizeof(*denied); i++) {
		struct symbol sym = {.name = denied[i], .is_go = true};

		if (deny__verdict(&sym, &reason) != DENY_PROBE)
			fail_msg("%s", denied[i]);
		sym.is_go = false;
		if (deny__verdict(&sym, &reason) != DENY_NOTHING)
			fail_msg("%s outside of Go", denied[i]);
	}
	for (size_t i = 0; i < sizeof(probed) / sizeof(*probed); i++) {
		const struct symbol sym = {.name = probed[i], .is_go = true};

		if (deny__verdict(&sym, &reason) != DENY_NOTHING)
			fail_msg("%s", probed[i]);
	}
}

static enum deny_verdict verdict_of(const char *name, const char *alias, const char *alias2)
{
	const char *const aliases[] = {alias, alias2};
	const struct symbol sym = {.name = name, .aliases = aliases, .aliases_cnt = 2};
	const char *reason;

	return deny__verdict(&sym, &reason);
}

static void the_worst_name_decides(void **state)
{
	assert_int_equal(verdict_of("a", "b", "c"), DENY_NOTHING);
	assert_int_equal(verdict_of("a", "b", "vfork"), DENY_PROBE);
	assert_int_equal(verdict_of("a", "dlsym", "c"), DENY_RETURN);
	assert_int_equal(verdict_of("dlsym", "setjmp", "a"), DENY_PROBE);
	assert_int_equal(verdict_of("setjmp", "dlsym", "a"), DENY_PROBE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(go_verdicts),
		cmocka_unit_test(the_worst_name_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
