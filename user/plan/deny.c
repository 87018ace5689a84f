// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/deny.h"

#include <fnmatch.h>
#include <stddef.h>

#include "symbol/symtab.h"

struct rule {
	const char *glob;
	enum deny_verdict verdict;
	const char *reason;
};

static const char no_function[] = "is not called like a function";
static const char saves_context[] = "saves or replaces its caller's context";
static const char inspects_caller[] = "looks at its return address";

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

static const struct rule *rule_for(const char *name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		/* Most globs differ in the first letter already. */
		char c = rules[i].glob[0];

		if ((c == name[0] || c == '*') && fnmatch(rules[i].glob, name, 0) == 0)
			return &rules[i];
	}
	return NULL;
}

enum deny_verdict deny__verdict(const struct symbol *sym, const char **reason)
{
	const struct rule *worst = rule_for(sym->name);

	for (size_t i = 0; i < sym->aliases_cnt; i++) {
		const struct rule *r = rule_for(sym->aliases[i]);

		if (r && (!worst || r->verdict > worst->verdict))
			worst = r;
	}
	if (!worst)
		return DENY_NOTHING;
	*reason = worst->reason;
	return worst->verdict;
}
