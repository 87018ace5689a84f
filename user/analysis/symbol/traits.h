/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dangers of an object to return addresses on the stack, told from its symbols, sections and, if it
 * imports dlsym(), strings. Example: an import of __cxa_throw is TRAIT_UNWINDS. */
#ifndef PROFTRACE_SYMBOL_TRAITS_H
#define PROFTRACE_SYMBOL_TRAITS_H

struct elf_image;

enum object_trait {
	TRAIT_UNWINDS = 1 << 0,	 /* throws or unwinds: C++ exceptions, Rust panics, _Unwind_* */
	TRAIT_SWITCHES = 1 << 1, /* switches stacks: swapcontext, makecontext, boost.context, ... */
	TRAIT_GO = 1 << 2,	 /* built by the Go toolchain: stacks move */
	TRAIT_INSPECTS = 1 << 3, /* relies on what is on its own stack: sanitizers, collectors */
	/* libc, ld.so and their companions, libgcc_s too: they hold this machinery for others and
	 * do not count by themselves. */
	/* These three traits matter only together with others. */
	TRAIT_SIGNALS = 1 << 5, /* installs signal handlers, which may unwind or switch anywhere */
	TRAIT_CANCELS = 1 << 6, /* cancels threads, or ends them inside calls */
	TRAIT_CLEANS = 1 << 7,	/* has C cleanups that an unwinder runs then */
	TRAIT_LIBC = 1 << 4,
	/* Switches from a thread's own stack to one that it has made (makecontext) and back, in the
	 * same thread: what was called before the first one was made returns as usual. */
	TRAIT_UCONTEXT = 1 << 10,
	TRAIT_LOADS = 1 << 8,	 /* loads code at run time (dlopen) */
	TRAIT_ALTSTACK = 1 << 9, /* handles signals on a stack of their own */
	/* Looks up unwind tables, as an unwinder linked into it does: no reason by itself. */
	TRAIT_TABLES = 1 << 11,
	TRAIT_FORKS = 1 << 12, /* makes processes with a copy of its memory */
	/* Lists its callers: backtrace() and its likes, mostly for the log of a crash. The list
	 * ends at a return address that has been exchanged, and that is all that happens. */
	TRAIT_SHOWS = 1 << 13,
	/* Calls setjmp(), or longjmp(), or their likes: mostly to handle errors, and no reason by
	 * themselves. Objects that do both are looked at by exits/jump_swaps.h. */
	TRAIT_SETJMPS = 1 << 14,
	TRAIT_LONGJMPS = 1 << 15,
	/* Functions in it call mcount() (gcc -pg), which looks at their return address: no danger
	 * to others. */
	TRAIT_COUNTS = 1 << 16,
	/* Copies all of its program's code as it begins, to run it from huge pages: a process that
	 * has our breakpoints by then dies of the copies. */
	TRAIT_MOVES = 1 << 18,
};

/*
 * Returns a set of traits; never fails (what cannot be read counts as nothing found). If `why` is
 * not NULL, *why is set to a static or image-owned word that names the evidence ("__cxa_throw",
 * ".gcc_except_table", ".note.go.buildid"), or NULL.
 */
unsigned traits__of(const struct elf_image *img, const char **why);

#endif
