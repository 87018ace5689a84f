// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/deny.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "symbol/symtab.h"

struct rule {
	const char *glob;
	enum deny_verdict verdict;
	const char *reason;
};

static const char no_function[] = "is not called like a function";
static const char saves_context[] = "saves or replaces its caller's context";
static const char inspects_caller[] = "looks at its return address";

static const char switches_stacks[] = "switches stacks under its caller";
static const char own_convention[] = "is called in a way of its own";
static const char unknown[] = "has no name: it may look at its return address";
static const char checksummed[] = "the program may verify a checksum of it";

/*
 * Go's own: what is entered by a jump, from a signal or by the first instruction of a thread, what
 * leaves its caller for another stack, and what is entered in its middle. From the assembly in
 * src/runtime and src/runtime/cgo, Go 1.10 to 1.26; some names exist in some of these only.
 */
static const struct rule go_rules[] = {
	{"go.buildid", DENY_PROBE, "is data"},
	{"go:buildid", DENY_PROBE, "is data"},
	{"_rt0_*", DENY_PROBE, no_function},
	{"main", DENY_PROBE, no_function},
	{"runtime.rt0_go", DENY_PROBE, no_function},
	{"runtime.mstart", DENY_PROBE, no_function},
	{"runtime.goexit", DENY_PROBE, no_function},
	{"runtime.asyncPreempt", DENY_PROBE, no_function},
	{"runtime.sigtramp", DENY_PROBE, no_function},
	{"runtime.sigreturn", DENY_PROBE, no_function},
	{"runtime.sigreturn__sigaction", DENY_PROBE, no_function},
	{"runtime.cgoSigtramp", DENY_PROBE, no_function},
	{"runtime.sigprofNonGoWrapper", DENY_PROBE, no_function},
	{"runtime.debugCallV[0-9]", DENY_PROBE, no_function},
	{"runtime.debugCallPanicked", DENY_PROBE, no_function},
	{"debugCall[0-9]*", DENY_PROBE, no_function},
	{"runtime.debugCall[0-9]*", DENY_PROBE, no_function},
	{"runtime.systemstack_switch", DENY_PROBE, no_function},
	{"runtime.stackBarrier", DENY_PROBE, no_function},
	{"runtime.return0", DENY_PROBE, no_function},
	{"runtime.clone", DENY_PROBE, saves_context},
	{"syscall.rawVforkSyscall", DENY_PROBE, saves_context},
	{"runtime.jmpdefer", DENY_PROBE, saves_context},
	{"runtime.gosave", DENY_PROBE, saves_context},
	{"gosave", DENY_PROBE, saves_context},
	{"gosave_systemstack_switch", DENY_PROBE, saves_context},
	{"runtime.gogo", DENY_PROBE, switches_stacks},
	{"gogo", DENY_PROBE, switches_stacks},
	{"runtime.mcall", DENY_PROBE, switches_stacks},
	{"runtime.systemstack", DENY_PROBE, switches_stacks},
	{"runtime.morestack", DENY_PROBE, switches_stacks},
	{"runtime.morestack_noctxt", DENY_PROBE, switches_stacks},
	{"runtime.asmcgocall*", DENY_PROBE, switches_stacks},
	{"runtime.cgocallback", DENY_PROBE, switches_stacks},
	{"runtime.cgocallback_gofunc", DENY_PROBE, switches_stacks},
	{"runtime.duffzero", DENY_PROBE, own_convention},
	{"runtime.duffcopy", DENY_PROBE, own_convention},
	{"runtime.gcWriteBarrier*", DENY_PROBE, own_convention},
	{"gcWriteBarrier", DENY_PROBE, own_convention},
	{"crypto/internal/fips140/*", DENY_PROBE, checksummed},
};

static const struct rule rules[] = {
	{"_start", DENY_PROBE, no_function},
	{"_init", DENY_PROBE, no_function},
	{"_fini", DENY_PROBE, no_function},
	{"__restore_rt", DENY_PROBE, no_function},
	{"__restore", DENY_PROBE, no_function},
	{"_dl_runtime_resolve*", DENY_PROBE, no_function},
	{"_dl_runtime_profile*", DENY_PROBE, no_function},
	{"_dl_start*", DENY_PROBE, no_function},
	{"_dl_relocate_static_pie", DENY_PROBE, no_function},
	{"_dl_tlsdesc*", DENY_PROBE, no_function},
	{"__morestack*", DENY_PROBE, no_function},
	{"__x86_*thunk*", DENY_PROBE, no_function},
	{"__llvm_*thunk*", DENY_PROBE, no_function},
	{"__x86.get_pc_thunk.*", DENY_PROBE, no_function},
	{"__start_context", DENY_PROBE, no_function},
	{"__fentry__", DENY_PROBE, no_function},
	{"mcount", DENY_PROBE, no_function},
	{"_mcount", DENY_PROBE, no_function},
	{"__syscall_cancel_arch*", DENY_PROBE, no_function},
	{"setjmp", DENY_PROBE, saves_context},
	{"_setjmp", DENY_PROBE, saves_context},
	{"__setjmp", DENY_PROBE, saves_context},
	{"sigsetjmp", DENY_PROBE, saves_context},
	{"__sigsetjmp*", DENY_PROBE, saves_context},
	{"getcontext", DENY_PROBE, saves_context},
	{"__getcontext", DENY_PROBE, saves_context},
	{"setcontext", DENY_PROBE, saves_context},
	{"__setcontext", DENY_PROBE, saves_context},
	{"swapcontext", DENY_PROBE, saves_context},
	{"__swapcontext", DENY_PROBE, saves_context},
	{"makecontext", DENY_PROBE, saves_context},
	{"__makecontext", DENY_PROBE, saves_context},
	{"*jump_fcontext*", DENY_PROBE, saves_context},
	{"*ontop_fcontext*", DENY_PROBE, saves_context},
	{"*make_fcontext*", DENY_PROBE, saves_context},
	{"longjmp", DENY_PROBE, saves_context},
	{"_longjmp", DENY_PROBE, saves_context},
	{"siglongjmp", DENY_PROBE, saves_context},
	{"__longjmp*", DENY_PROBE, saves_context},
	{"____longjmp_chk", DENY_PROBE, saves_context},
	{"__libc_siglongjmp", DENY_PROBE, saves_context},
	{"__libc_longjmp", DENY_PROBE, saves_context},
	{"vfork", DENY_PROBE, saves_context},
	{"__vfork", DENY_PROBE, saves_context},
	{"__libc_vfork", DENY_PROBE, saves_context},
	{"clone", DENY_PROBE, saves_context},
	{"__clone", DENY_PROBE, saves_context},
	{"clone3", DENY_PROBE, saves_context},
	{"__clone3", DENY_PROBE, saves_context},
	{"__clone_internal*", DENY_PROBE, saves_context},
	{"_Unwind_*", DENY_RETURN, inspects_caller},
	{"__cxa_throw", DENY_RETURN, inspects_caller},
	{"__cxa_rethrow", DENY_RETURN, inspects_caller},
	{"backtrace", DENY_RETURN, inspects_caller},
	{"__backtrace", DENY_RETURN, inspects_caller},
	{"dlopen*", DENY_RETURN, inspects_caller},
	{"dlmopen*", DENY_RETURN, inspects_caller},
	{"dlsym", DENY_RETURN, inspects_caller},
	{"dlvsym", DENY_RETURN, inspects_caller},
	{"___dl*", DENY_RETURN, inspects_caller},
	{"__libc_dl*", DENY_RETURN, inspects_caller},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct rule *rule_among(const struct rule *list, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++) {
		/* Most globs differ in the first letter already. */
		char c = list[i].glob[0];

		if ((c == name[0] || c == '*') && fnmatch(list[i].glob, name, 0) == 0)
			return &list[i];
	}
	return NULL;
}

static const struct rule *go_rule_for(const char *name)
{
	static const char suffix[] = ".abi0"; /* of functions that have a wrapper without it */
	size_t len = strlen(name), suffix_len = sizeof(suffix) - 1;
	char base[64];

	if (len <= suffix_len || len >= sizeof(base) || strcmp(name + len - suffix_len, suffix))
		return rule_among(go_rules, COUNT(go_rules), name);
	memcpy(base, name, len - suffix_len);
	base[len - suffix_len] = '\0';
	return rule_among(go_rules, COUNT(go_rules), base);
}

static const struct rule *rule_for(const char *name, bool is_go)
{
	const struct rule *r = is_go ? go_rule_for(name) : NULL;

	return r ? r : rule_among(rules, COUNT(rules), name);
}

enum deny_verdict deny__verdict(const struct symbol *sym, const char **reason)
{
	const struct rule *worst = rule_for(sym->name, sym->is_go);

	/* A function without a name may be setjmp(), or switch stacks. */
	if (sym->nameless) {
		*reason = unknown;
		return DENY_UNKNOWN;
	}
	for (size_t i = 0; i < sym->aliases_cnt; i++) {
		const struct rule *r = rule_for(sym->aliases[i], sym->is_go);

		if (r && (!worst || r->verdict > worst->verdict))
			worst = r;
	}
	if (!worst)
		return DENY_NOTHING;
	*reason = worst->reason;
	return worst->verdict;
}
