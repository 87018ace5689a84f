/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes functions of one object, each after the other, and decides where their entry and their
 * leave are probed. Several workers share the functions of a large object. Inside planner/ only. */
#ifndef PROFTRACE_PLANNER_WORKER_H
#define PROFTRACE_PLANNER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "code/instrumentation.h"
#include "code/landing_pads.h"
#include "code/pieces.h"
#include "exits/return_safety.h"
#include "exits/proof.h"

struct early_exits;
struct exit_context;
struct insn_decoder;
struct plan_exit;
struct plan_function;
struct plan_object;
struct plan_options;
struct plan_skip;
struct read_code;
struct tails;

/* A function that is to be planned. */
struct wanted_symbol {
	uint32_t symbol;   /* its index in the object's symbols */
	uint8_t arguments; /* number of the list of values to read at its calls; 0: none */
	/* Its lines are to be counted: bytes from its start to the code of its second line, or
	 * UINT32_MAX where it has one line. 0: no lines. */
	uint32_t second_line;
};

/* The function that a worker is at. */
struct function_at_hand {
	const struct wanted_symbol *wanted;
	const struct code_piece *pieces;
	size_t pieces_cnt;
	uint8_t instrumented;	    /* enum instrumented_by */
	struct return_safety plain; /* once it has been looked for */
	bool return_safety_known;
	uint32_t first_probe;	 /* its first static probe, from its start; UINT32_MAX: none */
	uint8_t arguments;	 /* as wanted, or 0 if they cannot be had */
	uint32_t arguments_need; /* see argument_list__needs() */
	bool timed;		 /* its entry must not end its calls */
	uint8_t closed_at_entry; /* see struct plan_function */
};

struct worker {
	/* Given, and borrowed. */
	const struct plan_object *obj;
	const struct plan_options *opts;
	const struct exit_context *exit_ctx;
	const struct proofs *proofs; /* NULL: nothing can be proven here */
	uint32_t object;	     /* its number */
	const struct cold_pieces *cold;
	const struct read_code *read;
	const struct wanted_symbol *wanted;
	size_t wanted_cnt;
	uint64_t budget; /* bytes that may still be decoded */
	uint64_t tables; /* bytes of exception tables that may still be read */

	/* Made, and its own until they are taken. */
	struct plan_function *functions;
	size_t functions_cnt, functions_cap;
	struct plan_exit *exits;
	size_t exits_cnt, exits_cap;
	struct plan_skip *skipped;
	size_t skipped_cnt, skipped_cap;
	struct proof_notes notes;
	int err; /* 0 or -errno */

	/* Tools. */
	struct code_decoder *decoder;
	struct insn_decoder *insn; /* the decoder's */
	struct early_exits *early_exits;
	struct tails *tails;
	struct instrumentation instrumentation;
	struct elf_pages *pages;
	struct piece_bytes bytes;
	struct landing_pads pads;
	struct code code; /* of the function at hand */
	struct function_at_hand now;
};

/* Plans the wanted symbols of a struct worker; worker.err tells how it went. */
void worker__run(void *worker);
void worker__clear(struct worker *w);

#endif
