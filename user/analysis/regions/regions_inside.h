/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The regions of one object while they are planned. Inside regions.c and region_sites.c only. */
#ifndef PROFTRACE_REGIONS_REGIONS_INSIDE_H
#define PROFTRACE_REGIONS_REGIONS_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/red_zone.h"
#include "select/filter.h"
#include "select/probe_name.h"

struct eh_cfa;
struct insn_decoder;
struct plan;
struct plan_object;
struct plan_options;
struct region_flow;
struct symtab;
struct thread_locals;

/* A place in code that may become a site of a region or a mark. */
struct candidate {
	char *name; /* of the region */
	char *own;  /* its own, if it finds no partner: then it is a mark; NULL: a region anyway */
	uint64_t vaddr, offset, semaphore;
	const char *arguments;
	enum probe_role role;
	bool function; /* it is the first instruction of one */
	bool assembly; /* ... and that one is Go's, in assembly */
	bool forced;   /* --usdt asks for it */
};

struct regions {
	struct plan *plan;
	const struct plan_options *opts;
	struct filter *filter;
	struct filter_object names;
	struct plan_object *obj;
	uint32_t object;
	struct thread_locals *locals; /* of the object */
	struct candidate *candidates;
	size_t cnt, cap;
	struct eh_cfa *frames; /* where those of the candidates are, by address */
	struct insn_decoder *insn;
	struct region_flow *flow; /* made when it is needed */
	struct symtab *tab;	  /* NULL: there is none */
	bool *split;		  /* by symbol: it is in pieces, or one */
	bool tab_is_ours, tab_tried;
	uint64_t looked;
	uint64_t *entered; /* 5-byte nops where functions are entered: in the file, in order */
	size_t entered_cnt;
	/* The last function that was looked at. */
	uint32_t proven;
	struct red_zone_proof proof;
};

#endif
