// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A return address is looked at by unwinders, by whoever walks the stack, and it goes astray when
 * the stack is switched. All of that is begun by code that runs while the function is on the stack:
 * by what it calls, if no signal handler can come in between. So the function is safe if
 *
 * - all its calls are known and reach code that is safe: in the same object directly, in another
 *   one by an import whose binding can be foreseen, or in a library by a name that is known; or
 * - where nothing can begin but exceptions: those that come out of its other calls end in it. They
 *   do in a call that its exception table does not list (the C++ runtime ends the program, that is
 *   how noexcept is compiled), and in one that leads to a handler of everything.
 *
 * A jump out is a call as well: the return address is still the function's.
 */
#include "exits/proof.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "code/landing_pads.h"
#include "elf/elf_image.h"
#include "elf/linkage.h"
#include "exits/bindings.h"
#include "exits/call_graph.h"
#include "exits/return_safety.h"
#include "exits/safe_callees.h"
#include "plan/object.h"
#include "symbol/traits.h"
#include "target/target.h"
#include "unwind/eh_frame.h"
#include "util/array.h"

#define MAX_CODE_SIZE (1u << 20)  /* of what is called */
#define STUB_SIZE     16	  /* of a linker's stub */
#define BUDGET	      (64u << 20) /* bytes of code and tables to read beyond the plan's own */

/* Others than exceptions may look at return addresses. */
#define STRICT_TRAITS (TRAIT_SWITCHES | TRAIT_INSPECTS | TRAIT_SHOWS | TRAIT_CANCELS)

/* A planned function, until it is decided. */
struct candidate {
	uint32_t node;
	bool ends, calls;
	size_t function;
	struct code_site site;
};

struct proofs {
	struct plan_object *objects;
	size_t objects_cnt;
	struct bindings_object *bindings_objects;
	struct bindings *bindings;
	struct call_graph *graph;
	bool strict;	    /* only calls that are known will do */
	bool imports;	    /* imports are bound as the files say */
	bool own_allocator; /* of the C library, not somebody's who might walk the stack */
	uint64_t budget;
	struct candidate *candidates;
	size_t candidates_cnt, candidates_cap;
	struct proof_result *results;
	size_t results_cnt;
	/* of what is decoded here */
	struct code_decoder *decoder;
	const struct elf_image *img;
	struct code code;
	struct landing_pads pads;
	struct return_safety plain;
};

void proof_notes__clear(struct proof_notes *n)
{
	free(n->notes);
	free(n->calls);
	*n = (struct proof_notes){0};
}

static bool read_current(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct proofs *pr = ctx;

	return elf_image__read_vaddr(pr->img, vaddr, buf, len);
}

static int load_objects(struct proofs *pr, const struct target *t)
{
	for (size_t i = 0; i < pr->objects_cnt; i++) {
		struct plan_object *obj = &pr->objects[i];
		int err;

		if (!obj->img)
			continue;
		err = plan_object__load_eh_frame(obj);
		if (!err && !obj->linkage)
			err = linkage__load(obj->img, &obj->linkage);
		if (err)
			return err;
		pr->bindings_objects[i] = (struct bindings_object){
			.linkage = obj->linkage,
			.soname = obj->soname,
			.path = t->objects[i].path,
			.is_libc = obj->traits & TRAIT_LIBC,
		};
	}
	return bindings__new(pr->bindings_objects, pr->objects_cnt, &pr->bindings);
}

static bool allocator_is_libcs(const struct proofs *pr)
{
	static const char *const names[] = {"malloc",	"free",		 "calloc",	  "realloc",
					    "memalign", "aligned_alloc", "posix_memalign"};
	uint64_t vaddr;
	uint32_t object;

	for (size_t i = 0; i < pr->objects_cnt; i++) {
		if (!(pr->objects[i].traits & TRAIT_LIBC))
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			if (bindings__of(pr->bindings, i, names[k], &object, &vaddr) !=
			    BINDING_LIBC)
				return false;
		}
		return true;
	}
	return false;
}

/* All objects of a target are of one architecture. */
static const struct arch *arch_of(const struct plan_object *objects, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (objects[i].img)
			return elf_image__arch(objects[i].img);
	}
	return arch__host();
}

int proofs__new(const struct target *t, struct plan_object *objects, size_t cnt, unsigned traits,
		struct proofs **out)
{
	struct proofs *pr = calloc(1, sizeof(*pr));
	int err = pr ? 0 : -ENOMEM;

	if (!err) {
		pr->objects = objects;
		pr->objects_cnt = cnt;
		pr->strict = traits & STRICT_TRAITS;
		/* Profilers of the program's own put themselves between. */
		pr->imports = !(traits & (TRAIT_INSPECTS | TRAIT_SHOWS));
		pr->budget = BUDGET;
		pr->graph = call_graph__new();
		pr->bindings_objects = calloc(cnt + 1, sizeof(*pr->bindings_objects));
		err = pr->graph && pr->bindings_objects ? load_objects(pr, t) : -ENOMEM;
	}
	if (!err)
		err = code_decoder__new(arch_of(objects, cnt), CALL_NOPS_NONE, read_current, pr,
					&pr->decoder);
	if (!err)
		code_decoder__note_edges(pr->decoder);
	if (err) {
		proofs__free(pr);
		return err;
	}
	pr->own_allocator = allocator_is_libcs(pr);
	*out = pr;
	return 0;
}

void proofs__free(struct proofs *pr)
{
	if (!pr)
		return;
	bindings__free(pr->bindings);
	free(pr->bindings_objects);
	call_graph__free(pr->graph);
	free(pr->candidates);
	free(pr->results);
	code_decoder__free(pr->decoder);
	code_clear(&pr->code);
	landing_pads__clear(&pr->pads);
	free(pr);
}

/* The fate of an exception out of this call. */
static enum lsda_fate fate_of(const struct proofs *pr, const struct code_call *call,
			      const struct landing_pads *pads)
{
	return pr->strict || !call->end ? LSDA_PASSES : landing_pads__fate(pads, call->end);
}

/* A function whose calls are being noted. */
struct noting {
	const struct proofs *pr;
	const struct code *code;
	const struct landing_pads *pads;
	struct proof_notes *notes;
	struct proof_note *note;
	bool pads_run; /* exceptions of some call land in it */
};

/* Notes the calls in landing pads, or those elsewhere. Returns 0 or -ENOMEM. */
static int note_calls(struct noting *n, bool in_pads)
{
	struct proof_notes *notes = n->notes;

	for (size_t i = 0; i < n->code->calls_cnt && !n->note->impossible; i++) {
		const struct code_call *call = &n->code->calls[i];
		enum lsda_fate fate;

		if (call->in_pad != in_pads)
			continue;
		fate = fate_of(n->pr, call, n->pads);
		n->note->ends |= fate != LSDA_PASSES;
		n->pads_run |= fate == LSDA_CAUGHT;
		if (fate != LSDA_PASSES)
			continue;
		n->note->impossible = call->kind == CODE_CALL_UNKNOWN;
		if (ARRAY_RESERVE(&notes->calls, notes->calls_cnt, &notes->calls_cap))
			return -ENOMEM;
		notes->calls[notes->calls_cnt++] =
			(struct proof_call){call->target, call->kind == CODE_CALL_SLOT};
	}
	return 0;
}

struct proof_note *proofs__note(const struct proofs *pr, uint64_t vaddr, const struct code *code,
				const struct landing_pads *pads, struct proof_notes *notes)
{
	struct proof_note note = {
		.vaddr = vaddr,
		.calls = notes->calls_cnt,
		.impossible = !code->followed,
	};
	struct noting noting = {pr, code, pads, notes, &note, false};
	int err = note_calls(&noting, false);

	/* Handlers, and landing pads outside the function, only matter if an exception can get
	 * there. */
	note.impossible |= noting.pads_run && pads->outside;
	if (!err && noting.pads_run)
		err = note_calls(&noting, true);
	if (err || ARRAY_RESERVE(&notes->notes, notes->cnt, &notes->cap))
		return NULL;
	if (note.impossible)
		notes->calls_cnt = note.calls;
	note.calls_cnt = notes->calls_cnt - note.calls;
	notes->notes[notes->cnt] = note;
	return &notes->notes[notes->cnt++];
}

void proof_note__judge(struct proof_note *note, const struct proofs *pr,
		       const struct return_safety *plain)
{
	if (!pr->strict || !(plain->doubt || plain->reaches_up))
		return;
	note->impossible = true;
	note->calls_cnt = 0;
}

static bool is_safe_callee(const struct proofs *pr, enum safe_callee_kind kind)
{
	return kind == SAFE_ALWAYS || (kind == SAFE_ALLOCATES && pr->own_allocator) ||
	       (kind == SAFE_UNLESS_THROWN && !pr->strict);
}

/* A node that stands for all code that is not known: CALL_NODE_NONE if out of memory. */
static uint32_t spoilt_node(struct proofs *pr)
{
	uint32_t node = call_graph__node(pr->graph, UINT32_MAX, 0);

	if (node != CALL_NODE_NONE) {
		call_graph__at(pr->graph, node)->known = true;
		call_graph__at(pr->graph, node)->spoilt = true;
	}
	return node;
}

/* Adds the function that an import leads to. Returns 0 or -ENOMEM; *node is CALL_NODE_NONE if that
 * is harmless. */
static int follow_import(struct proofs *pr, uint32_t from, uint64_t slot, uint32_t *node)
{
	const char *name = pr->imports ? linkage__import(pr->objects[from].linkage, slot) : NULL;
	enum binding binding = BINDING_UNKNOWN;
	uint32_t object = 0;
	uint64_t vaddr = 0;

	*node = CALL_NODE_NONE;
	if (name)
		binding = bindings__of(pr->bindings, from, name, &object, &vaddr);
	if (binding == BINDING_LIBC && is_safe_callee(pr, safe_callee__libc(name)))
		return 0;
	if (binding == BINDING_OBJECT && is_safe_callee(pr, safe_callee__cxx(name)))
		return 0;
	if (binding == BINDING_OBJECT && vaddr)
		*node = call_graph__node(pr->graph, object, vaddr);
	else
		*node = spoilt_node(pr);
	return *node == CALL_NODE_NONE ? -ENOMEM : 0;
}

static int add_note(struct proofs *pr, uint32_t object, const struct proof_notes *notes,
		    const struct proof_note *note, uint32_t *out)
{
	uint32_t node = call_graph__node(pr->graph, object, note->vaddr);

	if (node == CALL_NODE_NONE)
		return -ENOMEM;
	call_graph__at(pr->graph, node)->known = true;
	call_graph__at(pr->graph, node)->spoilt = note->impossible;
	for (size_t i = 0; i < note->calls_cnt; i++) {
		const struct proof_call *call = &notes->calls[note->calls + i];
		uint32_t to;
		int err = 0;

		if (call->by_slot)
			err = follow_import(pr, object, call->target, &to);
		else if ((to = call_graph__node(pr->graph, object, call->target)) == CALL_NODE_NONE)
			err = -ENOMEM;
		if (!err && to != CALL_NODE_NONE)
			err = call_graph__add_call(pr->graph, node, to);
		if (err)
			return err;
	}
	*out = node;
	return 0;
}

int proofs__add(struct proofs *pr, uint32_t object, const struct proof_notes *notes, size_t base)
{
	for (size_t i = 0; i < notes->cnt; i++) {
		const struct proof_note *note = &notes->notes[i];
		struct candidate c = {
			.ends = note->ends,
			.calls = note->calls_cnt,
			.function = base + note->function,
			.site = note->site,
		};
		int err = add_note(pr, object, notes, note, &c.node);

		if (err)
			return err;
		if (!note->planned || note->impossible)
			continue;
		if (ARRAY_RESERVE(&pr->candidates, pr->candidates_cnt, &pr->candidates_cap))
			return -ENOMEM;
		pr->candidates[pr->candidates_cnt++] = c;
	}
	return 0;
}

/* Whether a linker's stub stands at `vaddr`, which does nothing but jump to an import. Unwind
 * tables have one range for all of them, or none. Returns 1, 0 or -ENOMEM; a stub is in pr->code
 * then. */
static int decode_stub(struct proofs *pr, const struct plan_object *obj, uint64_t vaddr)
{
	uint8_t bytes[STUB_SIZE];
	const struct code_piece piece = {.vaddr = vaddr, .bytes = bytes, .size = sizeof(bytes)};
	const struct code *code = &pr->code;
	uint64_t offset;
	int err;

	if (!elf_image__exec_offset(obj->img, vaddr, sizeof(bytes), &offset) ||
	    !elf_image__read_vaddr(obj->img, vaddr, bytes, sizeof(bytes)))
		return 0;
	err = code_decode(pr->decoder, &piece, 1, UINT64_MAX, &pr->code);
	return err ? err
		   : code->followed && code->calls_cnt == 1 &&
			       code->calls[0].kind == CODE_CALL_SLOT && !code->calls[0].end;
}

/* The code that is called at `vaddr`: all that its unwind table says is together, from there
 * first. Returns how many pieces, 0 if nothing is known of it. */
static size_t find_code(const struct plan_object *obj, uint64_t vaddr, struct code_piece pieces[2])
{
	const struct eh_range *range = obj->eh ? eh_frame__at(obj->eh, vaddr) : NULL;
	uint64_t offset, size;

	if (!range)
		return 0;
	size = range->end - range->start;
	if (size > MAX_CODE_SIZE || !elf_image__exec_offset(obj->img, range->start, size, &offset))
		return 0;
	pieces[0] = (struct code_piece){.vaddr = vaddr, .size = range->end - vaddr};
	pieces[1] = (struct code_piece){.vaddr = range->start, .size = vaddr - range->start};
	return pieces[1].size ? 2 : 1;
}

/* Reads both pieces into one block, which the caller frees. */
static int read_code(struct proofs *pr, const struct plan_object *obj, struct code_piece *pieces,
		     size_t cnt, uint8_t **out)
{
	size_t size = pieces[0].size + (cnt > 1 ? pieces[1].size : 0);
	uint8_t *bytes;

	if (!cnt || size > pr->budget)
		return -ENODATA;
	pr->budget -= size;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	*out = bytes;
	for (size_t i = 0; i < cnt; i++) {
		if (!elf_image__read_vaddr(obj->img, pieces[i].vaddr, bytes, pieces[i].size))
			return -ENODATA;
		pieces[i].bytes = bytes;
		bytes += pieces[i].size;
	}
	return 0;
}

/* Decodes the code at `vaddr` and what is known of it. Returns 0, -ENODATA or -ENOMEM. */
static int decode_called(struct proofs *pr, const struct plan_object *obj, uint64_t vaddr)
{
	const struct pads_source pads = {obj->img, obj->eh, obj->linkage, &pr->budget};
	struct code_piece pieces[2];
	uint8_t *bytes = NULL;
	size_t cnt;
	int err;

	pr->img = obj->img;
	pr->pads.cnt = 0;
	pr->plain = (struct return_safety){0};
	err = decode_stub(pr, obj, vaddr);
	if (err)
		return err < 0 ? err : 0;
	cnt = find_code(obj, vaddr, pieces);
	err = read_code(pr, obj, pieces, cnt, &bytes);
	if (!err)
		err = landing_pads__read(&pr->pads, &pads, pieces, cnt);
	if (!err)
		err = code_decode(pr->decoder, pieces, cnt, UINT64_MAX, &pr->code);
	if (!err && pr->strict) {
		const struct code_flow flow = code_decoder__flow(pr->decoder);

		return_safety__look(
			elf_image__arch(pr->img),
			&(struct plain_function){pieces, cnt, &pr->code, &flow, &pr->pads},
			&pr->plain);
	}
	free(bytes);
	return err;
}

/* Notes what must hold for code that is called but not planned. */
static int explore(struct proofs *pr, uint32_t node)
{
	const struct call_node at = *call_graph__at(pr->graph, node);
	struct proof_notes notes = {0};
	struct proof_note *note;
	uint32_t same;
	int err;

	err = decode_called(pr, &pr->objects[at.object], at.vaddr);
	if (err == -ENODATA) {
		call_graph__at(pr->graph, node)->known = true;
		call_graph__at(pr->graph, node)->spoilt = true;
		return 0;
	}
	if (err)
		return err;
	note = proofs__note(pr, at.vaddr, &pr->code, &pr->pads, &notes);
	if (note && !note->impossible)
		proof_note__judge(note, pr, &pr->plain);
	err = note ? add_note(pr, at.object, &notes, note, &same) : -ENOMEM;
	proof_notes__clear(&notes);
	return err;
}

static const char *reason_of(const struct candidate *c)
{
	return c->ends	  ? "noexcept: exceptions end in it"
	       : c->calls ? "calls only what cannot unwind"
			  : "calls nothing: cannot be unwound through";
}

int proofs__decide(struct proofs *pr, const struct proof_result **results, size_t *cnt)
{
	int err = 0;

	/* Exploring a node may append new ones. */
	for (size_t i = 0; !err && i < call_graph__count(pr->graph); i++) {
		if (!call_graph__at(pr->graph, i)->known)
			err = explore(pr, i);
	}
	if (!err)
		err = call_graph__spread(pr->graph);
	pr->results = calloc(pr->candidates_cnt + 1, sizeof(*pr->results));
	if (err || !pr->results)
		return -ENOMEM;
	for (size_t i = 0; i < pr->candidates_cnt; i++) {
		const struct candidate *c = &pr->candidates[i];

		if (!call_graph__at(pr->graph, c->node)->spoilt)
			pr->results[pr->results_cnt++] =
				(struct proof_result){c->function, c->site, reason_of(c)};
	}
	*results = pr->results;
	*cnt = pr->results_cnt;
	return 0;
}
