/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One worker's share of an object's functions: each is decoded, and its entry and its leave get
 * their probes. Inside plan/ only. */
#ifndef PROFTRACE_PLAN_SHARE_H
#define PROFTRACE_PLAN_SHARE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "code/instrumentation.h"
#include "code/pads.h"
#include "code/plain.h"
#include "plan/pieces.h"
#include "plan/proof.h"

struct cold_pieces;
struct early_exits;
struct exit_context;
struct insn_decoder;
struct plan_exit;
struct plan_function;
struct plan_object;
struct plan_options;
struct plan_skip;
struct tails;

/* A part of the symbols of one object, planned by one thread. The members up to `tables` are given
 * and borrowed; the others are made and its own. */
struct share {
	const struct plan_object *obj;
	const struct plan_options *opts;
	const struct exit_context *exit_ctx;
	const struct proofs *proofs; /* NULL: nothing can be proven here */
	uint32_t object;
	const uint32_t *wanted; /* symbol indexes */
	/* By place in `wanted`: numbers of argument lists; NULL: no values are read */
	const uint8_t *lists;
	/* By place in `wanted`: where their second lines are, as in line_wants__mark(); NULL: no
	 * lines */
	const uint32_t *firsts;
	size_t wanted_cnt;
	const struct cold_pieces *cold;
	uint64_t budget; /* bytes that may still be decoded */
	uint64_t tables; /* bytes of exception tables that may still be read */

	struct plan_function *functions;
	size_t functions_cnt, functions_cap;
	struct plan_exit *exits;
	size_t exits_cnt, exits_cap;
	struct plan_skip *skipped;
	size_t skipped_cnt, skipped_cap;
	struct piece_bytes bytes;
	struct proof_notes notes;
	struct pads pads;
	struct code code;
	struct code_decoder *decoder;
	struct insn_decoder *insn;
	struct instrumentation instrumentation;
	struct early_exits *early_exits;
	struct tails *tails;
	uint8_t instrumented;		 /* of the symbol that is planned: enum instrumented_by */
	const struct code_piece *pieces; /* the same */
	size_t pieces_cnt;
	struct plain plain; /* the same, once it has been looked at */
	bool plain_known;
	uint32_t first;	  /* the same: as `firsts` */
	uint32_t named;	  /* the same: where its first static probe is; UINT32_MAX: none */
	uint32_t needs;	  /* the same: see argument_list__needs() */
	bool times_calls; /* the same: its entry must not end its calls */
	uint8_t closed;	  /* the same: as in plan_function.closed_at_entry */
	pthread_t thread;
	int err;
};

/* Plans the wanted symbols of a struct share, as a thread or called; share.err is 0 or -errno then.
 * Returns NULL. */
void *share__run(void *share);
void share__clear(struct share *sh);

#endif
