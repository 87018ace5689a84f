/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One object (program or library) of the target, as far as it has been read for the plan. */
#ifndef PROFTRACE_PLAN_OBJECT_H
#define PROFTRACE_PLAN_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "select/line_wants.h"
#include "target/patches.h"

struct eh_frame;
struct elf_image;
struct filter_object;
struct instrumented;
struct line_table;
struct linkage;
struct symtab;
struct target_object;
struct usdt;

struct plan_object {
	struct elf_image *img; /* NULL: not ELF */
	struct symtab *tab;    /* NULL: not wanted, so far */
	const char *root;      /* as in symtab__load(); only while it is planned */
	char soname[128];
	struct instrumented
		*instrumented; /* what its compiler has noted of entries; NULL: nothing */
	unsigned traits;       /* TRAIT_* */
	const char *evidence;  /* for them */
	/* Loaded when they are needed. */
	struct eh_frame *eh;	 /* NULL: none */
	struct linkage *linkage; /* NULL: no proofs */
	bool eh_loaded;
	bool loads_looked_for;
	bool loads_stack; /* its code loads the stack pointer with something new */
	/* The object never switches stacks, so the look at the code of functions without names
	 * may clear them for return probes. */
	bool trust_nameless;
	struct line_table *source; /* where functions are declared; NULL: unknown */
	bool source_opened;
	struct usdt *usdt; /* static probes; NULL: not read, so far */
	/* Their vaddrs, by address: functions begin before what is in them. */
	uint64_t *probes;
	size_t probes_cnt;
	/* Why return probes in it might crash the kernel; NULL: they won't, as far as is known. */
	const char *crash;
	bool claimed; /* by us: others have no return probes in it (planner/return_claim.h) */
	struct line_wants lines;
	struct patches patches; /* where its code is another in memory */
	bool patches_known;	/* that has been looked at */
};

int plan_object__load_eh_frame(struct plan_object *obj); /* 0 or -ENOMEM */
/* Sets `loads_stack`, which takes a look at all of its code, once. Returns 0 or -ENOMEM. */
int plan_object__look_for_loads(struct plan_object *obj);
/* Sets `tells` of an object whose symbols are loaded. Returns 0 or -ENOMEM. */
int plan_object__look_at_nameless(struct plan_object *obj);
void plan_object__clear(struct plan_object *obj);

/* The object as patterns see it; borrows from both. */
struct filter_object plan_object__names(const struct plan_object *obj,
					const struct target_object *tobj);

#endif
