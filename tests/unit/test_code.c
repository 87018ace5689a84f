// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions assembled by hand, of every class that the planner tells apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "code/code.h"
#include "code/tiny.h"

#define BASE 0x1000

/* Decodes `bytes` as a function at BASE, with an optional cold piece at `cold_at`. */
struct fixture {
	struct code_decoder *decoder;
	struct code code;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &f->decoder);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_decoder__free(f->decoder);
	code_clear(&f->code);
	free(f);
	return 0;
}

static const struct code *decode_labelled(void **state, const void *bytes, size_t size,
					  uint64_t next_label)
{
	struct fixture *f = *state;
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = size};

	assert_int_equal(code_decode(f->decoder, &piece, 1, next_label, &f->code), 0);
	return &f->code;
}

#define DECODE(...)                                                         \
	({                                                                  \
		static const uint8_t bytes_[] = {__VA_ARGS__};              \
		decode_labelled(state, bytes_, sizeof(bytes_), UINT64_MAX); \
	})

static void assert_site(const struct code *c, uint32_t n, uint32_t offset, enum site_class site,
			uint16_t delta)
{
	assert_true(n < c->sites_cnt);
	assert_int_equal(c->sites[n].offset, offset);
	assert_string_equal(site_class__name(c->sites[n].site), site_class__name(site));
	assert_int_equal(c->sites[n].delta, delta);
}

/* The first candidate that is not single-stepped, or NULL. */
static const struct code_site *emulated(const struct code *c)
{
	for (uint32_t i = 0; i < c->sites_cnt; i++) {
		if (c->sites[i].site != SITE_STEP)
			return &c->sites[i];
	}
	return NULL;
}

static void push_first(void **state)
{
	/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
	const struct code *c = DECODE(0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3);

	assert_site(c, 0, 0, SITE_PUSH, 0);
	assert_site(c, 1, 1, SITE_STEP, 8);
	assert_int_equal(c->exits_cnt, 1);
	assert_int_equal(c->exits[0].vaddr, BASE + 5);
	assert_int_equal(c->exits[0].kind, CODE_EXIT_RET);
	assert_true(c->leaf);
	assert_null(c->no_exits);
	assert_null(c->bad);
}

static void push_of_a_new_register(void **state)
{
	/* push %r12; pop %r12; ret: emulated with REX.B; with another prefix it is not */
	assert_site(DECODE(0x41, 0x54, 0x41, 0x5c, 0xc3), 0, 0, SITE_PUSH, 0);
	assert_site(DECODE(0x48, 0x55, 0x5d, 0xc3), 0, 0, SITE_STEP, 0);
}

static void endbr_then_push(void **state)
{
	const struct code *c = DECODE(0xf3, 0x0f, 0x1e, 0xfa, 0x53, 0x5b, 0xc3);

	assert_site(c, 0, 0, SITE_STEP, 0);
	assert_site(c, 1, 4, SITE_PUSH, 0);
}

static void sub_then_push(void **state)
{
	/* sub $0x18,%rsp; push %rbx; ... : usable where the slot may be computed */
	const struct code *c =
		DECODE(0x48, 0x83, 0xec, 0x18, 0x53, 0x5b, 0x48, 0x83, 0xc4, 0x18, 0xc3);

	assert_site(c, 0, 0, SITE_STEP, 0);
	assert_site(c, 1, 4, SITE_PUSH, 0x18);
}

static void large_frame_by_lea(void **state)
{
	/* lea -0x80(%rsp),%rsp; push %rbx; pop %rbx; ret */
	const struct code *c = DECODE(0x48, 0x8d, 0x64, 0x24, 0x80, 0x53, 0x5b, 0xc3);

	assert_site(c, 1, 5, SITE_PUSH, 0x80);
}

static void nop5_only_at_the_entry(void **state)
{
	assert_site(DECODE(0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3), 0, 0, SITE_NOP5, 0);
	assert_site(DECODE(0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3), 1, 4,
		    SITE_NOP5, 0);
	/* mov %edi,%eax; nop5; ret: by then the red zone may be in use */
	assert_null(emulated(DECODE(0x89, 0xf8, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3)));
}

static const struct code *decode_at(void **state, uint64_t vaddr, uint64_t passed,
				    const void *bytes, size_t size)
{
	struct fixture *f = *state;
	struct code_piece piece = {.vaddr = vaddr, .bytes = bytes, .size = size, .passed = passed};

	assert_int_equal(code_decode(f->decoder, &piece, 1, UINT64_MAX, &f->code), 0);
	return &f->code;
}

static void nop5_across_pages_stays_a_nop(void **state)
{
	static const uint8_t gnu[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};
	static const uint8_t llvm[] = {0x0f, 0x1f, 0x44, 0x00, 0x08, 0xc3};

	for (uint64_t left = 1; left <= 5; left++) {
		uint64_t vaddr = 0x5000 - left;

		assert_site(decode_at(state, vaddr, 0, gnu, sizeof(gnu)), 0, 0,
			    left < 5 ? SITE_NOP : SITE_NOP5, 0);
		assert_site(decode_at(state, vaddr, 0, llvm, sizeof(llvm)), 0, 0,
			    left < 5 ? SITE_STEP : SITE_NOP5, 0);
	}
}

/* Whatever its form, and whatever its class. */
static void what_becomes_a_call_only_at_the_entry(void **state)
{
	const struct code *c;

	/* mov %edi,%eax; nopl 8(%rax,%rax,1); ret */
	c = DECODE(0x89, 0xf8, 0x0f, 0x1f, 0x44, 0x00, 0x08, 0xc3);
	assert_int_equal(c->sites_cnt, 2);
	assert_site(c, 1, 7, SITE_STEP, 0);
	/* mov %edi,%eax; jmp to the function that follows */
	assert_site(DECODE(0x89, 0xf8, 0xe9, 0x00, 0x00, 0x00, 0x00), 1, 2, SITE_JMP, 0);
	/* mov %edi,%eax; jmp to the next instruction; ret */
	c = DECODE(0x89, 0xf8, 0xe9, 0x00, 0x00, 0x00, 0x00, 0xc3);
	assert_int_equal(c->sites_cnt, 1);
	/* nop; nopw; nop5; ret: nothing has run yet */
	c = DECODE(0x90, 0x66, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3);
	assert_site(c, 2, 3, SITE_NOP5, 0);
}

static void nop5_not_where_the_code_comes_back_to(void **state)
{
	/* nop5; mov %rdi,-8(%rsp); dec %edi; jne to the nop5; ret */
	const struct code *c = DECODE(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x89, 0x7c, 0x24, 0xf8,
				      0xff, 0xcf, 0x75, 0xf2, 0xc3);

	assert_int_equal(c->loops_to_entry, 1);
	for (uint32_t i = 0; i < c->sites_cnt; i++)
		assert_int_not_equal(c->sites[i].site, SITE_NOP5);
}

static void call_of_instrumentation_is_passed(void **state)
{
	/* call elsewhere; push %rbx; pop %rbx; ret */
	static const uint8_t bytes[] = {0xe8, 0x00, 0x10, 0x00, 0x00, 0x53, 0x5b, 0xc3};
	const struct code *c = decode_at(state, BASE, BASE, bytes, sizeof(bytes));

	assert_site(c, 0, 0, SITE_CALL, 0);
	assert_site(c, 1, 5, SITE_PUSH, 0);
	assert_false(c->leaf);
	assert_int_equal(decode_at(state, BASE, 0, bytes, sizeof(bytes))->sites_cnt, 1);
}

static void sled_is_passed_and_never_a_site(void **state)
{
	/* jmp over a nop of nine bytes; push %rbx; pop %rbx; ret */
	static const uint8_t bytes[] = {0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84, 0x00,
					0x00, 0x02, 0x00, 0x00, 0x53, 0x5b, 0xc3};
	const struct code *c = decode_at(state, BASE, BASE, bytes, sizeof(bytes));

	assert_site(c, 0, 11, SITE_PUSH, 0);
	assert_site(c, 1, 12, SITE_STEP, 8);
	assert_int_equal(c->exits_cnt, 1);
	assert_true(c->leaf);
	c = decode_at(state, BASE, 0, bytes, sizeof(bytes));
	assert_site(c, 0, 0, SITE_JMP, 0);
	assert_int_equal(c->sites_cnt, 1);
}

static void nop5_needs_a_new_kernel(void **state)
{
	static const uint8_t bytes[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = sizeof(bytes)};
	struct code_decoder *old;
	struct code code = {0};

	assert_int_equal(code_decoder__new(&arch_x86_64, CALL_NOPS_NONE, NULL, NULL, &old), 0);
	assert_int_equal(code_decode(old, &piece, 1, UINT64_MAX, &code), 0);
	assert_site(&code, 0, 0, SITE_STEP, 0);
	code_clear(&code);
	code_decoder__free(old);
}

/* A nop of ten bytes, within one page, may be anywhere in the entry block, as its call leaves the
 * red zone alone. */
static void nop10_where_the_kernel_calls_from_it(void **state)
{
	/* mov %edi,%eax; nop10; nop5; ret */
	static const uint8_t bytes[] = {0x89, 0xf8, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00,
					0x00, 0x00, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};
	struct code_piece piece = {.bytes = bytes, .size = sizeof(bytes)};
	struct code_decoder *d;
	struct code code = {0};

	assert_int_equal(code_decoder__new(&arch_x86_64, CALL_NOPS_10, NULL, NULL, &d), 0);
	for (uint64_t left = 9; left <= 10; left++) {
		uint32_t n = 0;

		piece.vaddr = 0x5000 - left - 2;
		assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, &code), 0);
		assert_site(&code, n++, 0, SITE_STEP, 0);
		if (left == 10)
			assert_site(&code, n++, 2, SITE_NOP10, 0);
		assert_site(&code, n++, 12, SITE_NOP, 0);
		assert_site(&code, n++, 17, SITE_STEP, 0);
		assert_int_equal(code.sites_cnt, n);
	}
	code_clear(&code);
	code_decoder__free(d);
	assert_string_equal(site_class__name(SITE_NOP10), "nop10");
	assert_int_equal(code_site__rank(&(struct code_site){.site = SITE_NOP10}),
			 code_site__rank(&(struct code_site){.site = SITE_NOP5}));
}

static void nops(void **state)
{
	assert_site(DECODE(0x90, 0xc3), 0, 0, SITE_NOP, 0);
	assert_site(DECODE(0x66, 0x90, 0xc3), 0, 0, SITE_NOP, 0);
	/* xchg %r8,%rax is no nop, but the kernel would emulate it as one */
	assert_site(DECODE(0x49, 0x90, 0xc3), 0, 2, SITE_STEP, 0);
}

static void branches_end_the_entry_block(void **state)
{
	/* test %edi,%edi; je +1; push %rbx; ret: the push does not run at every call */
	const struct code *c = DECODE(0x85, 0xff, 0x74, 0x01, 0x53, 0xc3);

	assert_int_equal(c->sites_cnt, 2);
	assert_site(c, 1, 2, SITE_JCC, 0);
	/* jmp +0; ret */
	assert_site(DECODE(0xeb, 0x00, 0xc3), 0, 0, SITE_JMP, 0);
}

static void call_first(void **state)
{
	const struct code *c = DECODE(0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3);

	assert_site(c, 0, 0, SITE_CALL, 0);
	assert_int_equal(c->sites_cnt, 1);
	assert_false(c->leaf);
}

static void loop_into_the_entry_block(void **state)
{
	/* mov %edi,%eax; L: push %rbx; pop %rbx; dec %eax; jne L; ret */
	const struct code *c = DECODE(0x89, 0xf8, 0x53, 0x5b, 0xff, 0xc8, 0x75, 0xfa, 0xc3);

	assert_int_equal(c->sites_cnt, 1);
	assert_site(c, 0, 0, SITE_STEP, 0);
	assert_false(c->loops_to_entry);
}

static void loop_to_the_entry_itself(void **state)
{
	/* E: nop; dec %edi; jne E; ret */
	const struct code *c = DECODE(0x90, 0xff, 0xcf, 0x75, 0xfb, 0xc3);

	assert_true(c->loops_to_entry);
	assert_site(c, 0, 0, SITE_NOP, 0);
	assert_true(c->leaf);
}

/* Whatever stands behind a call that never returns, it is reached by nothing. */
static void call_at_the_end(void **state)
{
	/* test %edi,%edi; je; ret; call far; nop */
	const struct code *c =
		DECODE(0x85, 0xff, 0x74, 0x01, 0xc3, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x90);

	assert_null(c->no_exits);
	assert_int_equal(c->exits_cnt, 1);
	assert_null(DECODE(0xc3, 0xe8, 0x00, 0x10, 0x00, 0x00)->no_exits);
	/* je; ret; call far; push %rax: that may run on */
	assert_non_null(DECODE(0x74, 0x01, 0xc3, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x50)->no_exits);
	/* je; ret; nop */
	assert_non_null(DECODE(0x74, 0x01, 0xc3, 0x90)->no_exits);
}

static void tail_call_of_itself(void **state)
{
	/* E: push %rbx; call far; pop %rbx; jmp E: a new call each time */
	const struct code *c = DECODE(0x53, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x5b, 0xeb, 0xf7);

	assert_false(c->loops_to_entry);
	assert_true(c->tail_jumps);
	assert_site(c, 0, 0, SITE_PUSH, 0);
}

static void label_in_the_entry_block(void **state)
{
	static const uint8_t bytes[] = {0x89, 0xf8, 0x53, 0x5b, 0xc3};
	const struct code *c = decode_labelled(state, bytes, sizeof(bytes), BASE + 2);

	assert_int_equal(c->sites_cnt, 1);
	assert_site(c, 0, 0, SITE_STEP, 0);
}

static void lock_prefix_is_refused(void **state)
{
	/* lock incl (%rdi); push %rbx; pop %rbx; ret */
	const struct code *c = DECODE(0xf0, 0xff, 0x07, 0x53, 0x5b, 0xc3);

	assert_site(c, 0, 3, SITE_PUSH, 0);
	/* lock incl (%rdi); ret: nothing emulated, but ret can be stepped */
	assert_site(DECODE(0xf0, 0xff, 0x07, 0xc3), 0, 3, SITE_STEP, 0);
}

static void segment_prefix(void **state)
{
	/* mov %fs:0x28,%rax; ret: fs and gs are accepted, the others are not */
	assert_site(DECODE(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00, 0xc3), 0, 0,
		    SITE_STEP, 0);
	assert_site(DECODE(0x2e, 0x8b, 0x07, 0xc3), 0, 3, SITE_STEP, 0);
}

static void returns_of_every_encoding(void **state)
{
	/* test; je +2; rep ret; ... repz; ret $8 */
	const struct code *c = DECODE(0x85, 0xff, 0x74, 0x02, 0xf3, 0xc3, 0xc2, 0x08, 0x00);

	assert_int_equal(c->exits_cnt, 2);
	assert_int_equal(c->exits[0].vaddr, BASE + 4);
	assert_int_equal(c->exits[1].vaddr, BASE + 6);
	/* bnd ret */
	assert_int_equal(DECODE(0xf2, 0xc3)->exits_cnt, 1);
	/* lret, lret $8, iretq: no leave of a function */
	assert_non_null(DECODE(0xcb)->no_exits);
	assert_non_null(DECODE(0xca, 0x08, 0x00)->no_exits);
	assert_non_null(DECODE(0x48, 0xcf)->no_exits);
	assert_false(DECODE(0xcb)->followed);
}

static void tail_jumps(void **state)
{
	/* test %edi,%edi; jne far; jmp far */
	const struct code *c = DECODE(0x85, 0xff, 0x0f, 0x85, 0x00, 0x10, 0x00, 0x00, 0xe9, 0x00,
				      0x20, 0x00, 0x00);

	assert_true(c->tail_jumps);
	assert_false(c->leaf);
	assert_int_equal(c->exits_cnt, 2);
	assert_int_equal(c->exits[0].kind, CODE_EXIT_JCC);
	assert_int_equal(c->exits[0].cond, 5);
	assert_int_equal(c->exits[1].kind, CODE_EXIT_JMP);
	assert_null(c->no_exits);
}

static void indirect_tail_jumps(void **state)
{
	/* jmp *0x10(%rip); mov (%rdi),%rax: jmp *0x18(%rax); jmp *%rax without a table */
	assert_int_equal(DECODE(0xff, 0x25, 0x10, 0x00, 0x00, 0x00)->exits_cnt, 1);
	assert_int_equal(DECODE(0x48, 0x8b, 0x07, 0xff, 0x60, 0x18)->exits_cnt, 1);
	assert_int_equal(DECODE(0x48, 0x8b, 0x07, 0xff, 0xe0)->exits_cnt, 1);
}

static void unread_jump_tables_stay_inside(void **state)
{
	/* movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; ret */
	const struct code *c = DECODE(0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3);

	/* Whether the last byte is code, nobody knows. */
	assert_int_equal(c->exits_cnt, 0);
	assert_non_null(c->no_exits);
	assert_false(c->tail_jumps);
	/* jmp *0x2000(,%rdi,8); ret */
	assert_false(DECODE(0xff, 0x24, 0xfd, 0x00, 0x20, 0x00, 0x00, 0xc3)->tail_jumps);
	/* notrack jmp *%rax; ret */
	assert_false(DECODE(0x3e, 0xff, 0xe0, 0xc3)->tail_jumps);
}

/* A table of two offsets behind the function below: cases at BASE + 22 and BASE + 23. */
static bool read_table(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	static const int32_t offsets[] = {22 - 24, 23 - 24};

	if (vaddr != BASE + 24 || len != sizeof(offsets))
		return false;
	memcpy(buf, offsets, sizeof(offsets));
	return true;
}

/* cmp $1,%edi; ja R; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax;
 * nop; R: ret; ret; or without the range check */
static const uint8_t with_table[] = {0x83, 0xff, 0x01, 0x77, 0x11, 0x48, 0x8d, 0x15,
				     0x0c, 0x00, 0x00, 0x00, 0x48, 0x63, 0x04, 0xba,
				     0x48, 0x01, 0xd0, 0xff, 0xe0, 0x90, 0xc3, 0xc3};

static void decode_with_table(const uint8_t *bytes, struct code *code)
{
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = sizeof(with_table)};
	struct code_decoder *d;

	assert_int_equal(code_decoder__new(&arch_x86_64, CALL_NOPS_5, read_table, NULL, &d), 0);
	assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, code), 0);
	code_decoder__free(d);
}

static void jump_tables_are_followed(void **state)
{
	struct code code = {0};

	decode_with_table(with_table, &code);
	assert_int_equal(code.exits_cnt, 2);
	assert_false(code.tail_jumps);
	assert_null(code.no_exits);
	code_clear(&code);
}

static void jump_tables_need_a_bound(void **state)
{
	uint8_t unchecked[sizeof(with_table)];
	struct code code = {0};

	memcpy(unchecked, with_table, sizeof(unchecked));
	unchecked[3] = 0x74; /* je: says nothing of the range */
	decode_with_table(unchecked, &code);
	assert_int_equal(code.exits_cnt, 1);
	code_clear(&code);
}

static void masks_bound_tables(void **state)
{
	/* and $1,%edi; nop; nop; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; ... */
	/* and $7,%edi; cmp $1,%edi; ja R; lea table(%rip),%rdx; movslq (%rdx,%rdi,4),%rax;
	 * jmp *%rax; nop; R: ret; ret */
	static const uint8_t checked[] = {0x83, 0xe7, 0x07, 0x83, 0xff, 0x01, 0x77, 0x0e,
					  0x48, 0x8d, 0x15, 0x09, 0x00, 0x00, 0x00, 0x48,
					  0x63, 0x04, 0xba, 0xff, 0xe0, 0x90, 0xc3, 0xc3};
	uint8_t masked[sizeof(with_table)];
	struct code code = {0};

	_Static_assert(sizeof(checked) == sizeof(with_table), "the table lies behind both");
	memcpy(masked, with_table, sizeof(masked));
	masked[1] = 0xe7;
	masked[3] = masked[4] = 0x90;
	decode_with_table(masked, &code);
	assert_int_equal(code.exits_cnt, 2);
	assert_null(code.no_exits);
	code_clear(&code);
	/* A mask of another register, or with another constant than 2^n - 1. */
	masked[1] = 0xe6;
	decode_with_table(masked, &code);
	assert_int_equal(code.exits_cnt, 0);
	code_clear(&code);
	masked[1] = 0xe7;
	masked[2] = 0x02;
	decode_with_table(masked, &code);
	assert_int_equal(code.exits_cnt, 0);
	code_clear(&code);
	/* Where a check follows, that says more. */
	decode_with_table(checked, &code);
	assert_int_equal(code.exits_cnt, 2);
	code_clear(&code);
}

/* A table of two offsets at BASE + 40, to BASE + 37 and BASE + 38. */
static bool read_far_table(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	static const int32_t offsets[] = {37 - 40, 38 - 40};

	if (vaddr != BASE + 40 || len != sizeof(offsets))
		return false;
	memcpy(buf, offsets, sizeof(offsets));
	return true;
}

/* A switch by gcc at -O0: the register with the table still has the address of an earlier table. */
static void tables_of_unoptimised_code(void **state)
{
	/* cmp $1,%edi (clang: sub); ja R; lea 0(,%rdi,4),%rdx; lea table(%rip),%rax;
	 * mov (%rdx,%rax),%eax; cltq; lea table(%rip),%rdx; add %rdx,%rax; jmp *%rax; R: ret; ret
	 */
	uint8_t bytes[] = {0x83, 0xff, 0x01, 0x77, 0x20, 0x48, 0x8d, 0x14, 0xbd, 0x00,
			   0x00, 0x00, 0x00, 0x48, 0x8d, 0x05, 0x14, 0x00, 0x00, 0x00,
			   0x8b, 0x04, 0x02, 0x48, 0x98, 0x48, 0x8d, 0x15, 0x08, 0x00,
			   0x00, 0x00, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3, 0xc3};
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = sizeof(bytes)};
	struct code code = {0};
	struct code_decoder *d;
	struct code_flow flow;

	assert_int_equal(code_decoder__new(&arch_x86_64, CALL_NOPS_5, read_far_table, NULL, &d), 0);
	code_decoder__note_edges(d);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, &code), 0);
		/* the default is a case, too */
		assert_int_equal(code.exits_cnt, 2);
		assert_false(code.exits_missing);
		flow = code_decoder__flow(d);
		assert_true(flow.certain);
		assert_int_equal(flow.edges_cnt, 3);
		assert_int_equal(flow.edges[0].from, BASE + 3);
		assert_int_equal(flow.edges[0].to, BASE + 37);
		assert_int_equal(flow.edges[2].from, BASE + 35);
		assert_int_equal(flow.edges[2].to, BASE + 38);
		assert_int_equal(flow.reached[5], 8);
		assert_int_equal(flow.reached[6], CODE_INSIDE);
		bytes[1] = 0xef; /* sub */
	}
	bytes[8] = 0x7d; /* lea 0(,%rdi,2): no place in such a table */
	assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, &code), 0);
	assert_false(code_decoder__flow(d).certain);
	code_decoder__free(d);
	code_clear(&code);
}

/* Whether all jumps' targets are known. */
static bool is_certain(void **state)
{
	return code_decoder__flow(((struct fixture *)*state)->decoder).certain;
}

static void flow_may_be_uncertain(void **state)
{
	DECODE(0xeb, 0x00, 0xc3); /* jmp; ret */
	assert_true(is_certain(state));
	DECODE(0xff, 0xe0); /* jmp *%rax: a tail call */
	assert_true(is_certain(state));
	DECODE(0xff, 0xe0, 0x89, 0xc0, 0xc3); /* jmp *%rax; mov; ret: it may be to there */
	assert_false(is_certain(state));
	DECODE(0x55, 0x74, 0x03, 0x5d, 0xff, 0xe0, 0x5d, 0xc3); /* push; je; pop; jmp *%rax */
	assert_true(is_certain(state));
	DECODE(0x55, 0x74, 0x02, 0xff, 0xe0, 0x5d, 0xc3); /* the same with the frame still there */
	assert_false(is_certain(state));
	DECODE(0x74, 0x01, 0xff); /* je into bytes that are no instruction */
	assert_false(is_certain(state));
	DECODE(0x3e, 0xff, 0xe0, 0xc3); /* notrack jmp *%rax; ret */
	assert_false(is_certain(state));
}

static void bounds_hold_where_a_branch_leads(void **state)
{
	/* cmp $1,%edi; jbe T; ret; (nops); T: lea table(%rip),%rdx; movslq; add; jmp *%rax; ret;
	 * ret */
	static const uint8_t bytes[] = {0x83, 0xff, 0x01, 0x76, 0x01, 0xc3, 0x48, 0x8d,
					0x15, 0x0b, 0x00, 0x00, 0x00, 0x48, 0x63, 0x04,
					0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3, 0xc3};
	uint8_t unchecked[sizeof(bytes)];
	struct code code = {0};

	decode_with_table(bytes, &code);
	assert_int_equal(code.exits_cnt, 3);
	assert_false(code.exits_missing);
	/* jae says nothing of it */
	memcpy(unchecked, bytes, sizeof(bytes));
	unchecked[3] = 0x73;
	decode_with_table(unchecked, &code);
	assert_int_equal(code.exits_cnt, 1);
	assert_true(code.exits_missing);
	code_clear(&code);
}

static void tail_calls_through_an_array(void **state)
{
	/* push %rbx; mov (%rdx,%rdi,8),%rax; pop %rbx; jmp *%rax: the frame is gone */
	const struct code *c = DECODE(0x53, 0x48, 0x8b, 0x04, 0xfa, 0x5b, 0xff, 0xe0);

	assert_int_equal(c->exits_cnt, 1);
	assert_false(c->exits_missing);
	assert_true(c->tail_jumps);
	assert_false(c->followed);
	/* without the pop it is a switch */
	c = DECODE(0x53, 0x48, 0x8b, 0x04, 0xfa, 0xff, 0xe0);
	assert_int_equal(c->exits_cnt, 0);
}

static void landing_pads_are_followed(void **state)
{
	/* call far; ret; P: push %rbx; call far; pop %rbx; ret */
	static const uint8_t bytes[] = {0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3, 0x53,
					0xe8, 0x00, 0x20, 0x00, 0x00, 0x5b, 0xc3};
	static const uint64_t pads[] = {BASE + 6, BASE + 0x5000};
	struct code_piece piece = {
		.vaddr = BASE, .bytes = bytes, .size = sizeof(bytes), .pads = pads, .pads_cnt = 2};
	struct fixture *f = *state;
	const struct code *c = &f->code;

	assert_int_equal(code_decode(f->decoder, &piece, 1, UINT64_MAX, &f->code), 0);
	assert_int_equal(c->exits_cnt, 2);
	assert_int_equal(c->exits[1].vaddr, BASE + 13);
	assert_int_equal(c->calls_cnt, 2);
	assert_false(c->calls[0].in_pad);
	assert_true(c->calls[1].in_pad);
	assert_true(c->followed);
	/* without them nobody gets there */
	piece.pads_cnt = 0;
	assert_int_equal(code_decode(f->decoder, &piece, 1, UINT64_MAX, &f->code), 0);
	assert_int_equal(c->exits_cnt, 1);
	assert_int_equal(c->calls_cnt, 1);
}

static void calls_are_noted(void **state)
{
	/* call far; call *0x10(%rip); call *%rax; jne far; jmp *0x20(%rip) */
	const struct code *c =
		DECODE(0xe8, 0x00, 0x10, 0x00, 0x00, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00, 0xff, 0xd0,
		       0x0f, 0x85, 0x00, 0x30, 0x00, 0x00, 0xff, 0x25, 0x20, 0x00, 0x00, 0x00);
	static const struct code_call calls[] = {
		{BASE + 5, BASE + 0x1005, CODE_CALL_DIRECT, false},
		{BASE + 11, BASE + 11 + 0x10, CODE_CALL_SLOT, false},
		{BASE + 13, 0, CODE_CALL_UNKNOWN, false},
		{0, BASE + 19 + 0x3000, CODE_CALL_DIRECT, false},
		{0, BASE + 25 + 0x20, CODE_CALL_SLOT, false},
	};

	assert_true(c->followed);
	assert_false(c->leaf);
	assert_int_equal(c->calls_cnt, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(c->calls[i].end, calls[i].end);
		assert_int_equal(c->calls[i].kind, calls[i].kind);
		if (calls[i].target)
			assert_int_equal(c->calls[i].target, calls[i].target);
	}
}

static void what_cannot_be_followed(void **state)
{
	/* push %rdi; ret: a jump */
	assert_false(DECODE(0x57, 0xc3)->followed);
	assert_false(DECODE(0x57, 0xc3)->leaf);
	/* runs on; a system call; another stack; a switch, read or not */
	assert_false(DECODE(0x89, 0xf8)->followed);
	assert_false(DECODE(0x89, 0xf8)->leaf);
	assert_false(DECODE(0x0f, 0x05, 0xc3)->followed);
	assert_false(DECODE(0x48, 0x89, 0xfc, 0xc3)->followed);
	assert_false(DECODE(0x3e, 0xff, 0xe0, 0xc3)->followed);
	/* a call of the next instruction, and of the middle */
	assert_int_equal(DECODE(0xe8, 0x00, 0x00, 0x00, 0x00, 0xc3)->calls[0].kind,
			 CODE_CALL_UNKNOWN);
	assert_false(DECODE(0xe8, 0x01, 0x00, 0x00, 0x00, 0xc3, 0xc3)->followed);
}

static void data_is_not_code(void **state)
{
	/* push %rbx; pop %rbx; jmp +4; four bytes of data that look like returns; ret */
	const struct code *c = DECODE(0x53, 0x5b, 0xeb, 0x04, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3);

	assert_int_equal(c->exits_cnt, 1);
	assert_int_equal(c->exits[0].vaddr, BASE + 8);
	assert_null(c->bad);
	/* Perhaps code all the same, reached in a way that is not seen. */
	assert_false(c->leaf);
}

static void landing_pads_limit_the_entry_block(void **state)
{
	/* mov; L: push %rbx; pop %rbx; ret; unreached: jmp L */
	const struct code *c = DECODE(0x89, 0xf8, 0x53, 0x5b, 0xc3, 0xeb, 0xfb);

	assert_int_equal(c->sites_cnt, 1);
	assert_site(c, 0, 0, SITE_STEP, 0);
}

static void middle_of_an_instruction(void **state)
{
	/* je +1; mov $0xc3c3c3c3,%eax; ret */
	const struct code *c = DECODE(0x74, 0x01, 0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3);

	assert_non_null(c->bad);
}

static void lock_prefix_jumped_over(void **state)
{
	/* je +1; lock incl (%rdi); ret */
	const struct code *c = DECODE(0x74, 0x01, 0xf0, 0xff, 0x07, 0xc3);

	assert_null(c->bad);
	assert_int_equal(c->exits_cnt, 1);
}

static void running_on_has_no_exits(void **state)
{
	/* mov %edi,%eax and nothing behind it */
	assert_non_null(DECODE(0x89, 0xf8)->no_exits);
	/* call without return: ends there, and never leaves by itself */
	assert_non_null(DECODE(0xe8, 0x00, 0x10, 0x00, 0x00)->no_exits);
	/* padding behind a return is no running on */
	assert_null(DECODE(0xc3, 0x90, 0x66, 0x90)->no_exits);
	/* je to the store; ret; movb $0,0x1, which is a crash */
	assert_null(DECODE(0x74, 0x01, 0xc3, 0xc6, 0x04, 0x25, 1, 0, 0, 0, 0)->no_exits);
	assert_null(DECODE(0x74, 0x01, 0xc3, 0xc7, 0x04, 0x25, 0, 0, 0, 0, 0, 0, 0, 0)->no_exits);
	/* movb $0,0x2000 and movb $0,%fs:0x1 are none, and what lies behind one is reached. */
	assert_non_null(DECODE(0x74, 0x01, 0xc3, 0xc6, 0x04, 0x25, 0, 0x20, 0, 0, 0)->no_exits);
	assert_non_null(DECODE(0x74, 0x01, 0xc3, 0x64, 0xc6, 0x04, 0x25, 1, 0, 0, 0, 0)->no_exits);
	assert_non_null(
		DECODE(0x74, 0x01, 0xc3, 0xc6, 0x04, 0x25, 1, 0, 0, 0, 0, 0x89, 0xf8)->no_exits);
}

static void stack_switching_is_no_leaf(void **state)
{
	/* mov %rdi,%rsp; ret */
	assert_false(DECODE(0x48, 0x89, 0xfc, 0xc3)->leaf);
	/* xchg %rdi,%rsp; ret */
	assert_false(DECODE(0x48, 0x87, 0xe7, 0xc3)->leaf);
	/* push %rbp; mov %rsp,%rbp; leave; ret is one */
	assert_true(DECODE(0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3)->leaf);
	/* syscall; ret */
	assert_false(DECODE(0x0f, 0x05, 0xc3)->leaf);
}

/* Checks the result of tiny__reason() on the code that DECODE() gave. */
static void assert_tiny(const struct code *c, const char *reason)
{
	if (reason)
		assert_string_equal(tiny__reason(c), reason);
	else
		assert_null(tiny__reason(c));
}

static void tiny_leaves(void **state)
{
	static uint8_t longest[34];

	assert_tiny(DECODE(0xc3), "a leaf of 1 instruction, cheaper than its probe (-F names it)");
	/* test %edi,%edi; je +2; mov %edi,%eax; ret; and padding */
	assert_tiny(DECODE(0x85, 0xff, 0x74, 0x02, 0x89, 0xf8, 0xc3, 0x90),
		    "a leaf of 4 instructions, cheaper than its probe (-F names it)");
	memset(longest, 0x53, 32); /* push %rbx; the last one is a ret */
	longest[30] = 0x5b;
	longest[31] = 0xc3;
	assert_tiny(decode_labelled(state, longest, 32, UINT64_MAX),
		    "a leaf of 32 instructions, cheaper than its probe (-F names it)");
	longest[31] = 0x5b;
	longest[32] = 0xc3;
	assert_tiny(decode_labelled(state, longest, 33, UINT64_MAX), NULL);
}

static void not_tiny(void **state)
{
	/* a call; a jump out; a loop; a loop on one instruction; bytes that are no code */
	assert_tiny(DECODE(0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3), NULL);
	assert_tiny(DECODE(0xe9, 0x00, 0x10, 0x00, 0x00), NULL);
	assert_tiny(DECODE(0xff, 0xcf, 0x75, 0xfc, 0xc3), NULL);
	assert_tiny(DECODE(0xe2, 0xfe, 0xc3), NULL);
	assert_tiny(DECODE(0x90, 0x06, 0xc3), NULL);
	/* jmp *%rax; syscall */
	assert_tiny(DECODE(0xff, 0xe0), NULL);
	assert_tiny(DECODE(0x0f, 0x05, 0xc3), NULL);
	/* rep movsb; lock incl (%rdi); xchg %eax,(%rdi); div %edi; fsin; pause */
	assert_tiny(DECODE(0xf3, 0xa4, 0xc3), NULL);
	assert_tiny(DECODE(0xf0, 0xff, 0x07, 0xc3), NULL);
	assert_tiny(DECODE(0x87, 0x07, 0xc3), NULL);
	assert_tiny(DECODE(0xf7, 0xf7, 0xc3), NULL);
	assert_tiny(DECODE(0xd9, 0xfe, 0xc3), NULL);
	assert_tiny(DECODE(0xf3, 0x90, 0xc3), NULL);
	/* cpuid; rdtsc; mfence; divsd %xmm1,%xmm0; vsqrtsd %xmm1,%xmm1,%xmm0 */
	assert_tiny(DECODE(0x0f, 0xa2, 0xc3), NULL);
	assert_tiny(DECODE(0x0f, 0x31, 0xc3), NULL);
	assert_tiny(DECODE(0x0f, 0xae, 0xf0, 0xc3), NULL);
	assert_tiny(DECODE(0xf2, 0x0f, 0x5e, 0xc1, 0xc3), NULL);
	assert_tiny(DECODE(0xc5, 0xf3, 0x51, 0xc1, 0xc3), NULL);
	/* what is not: xchg between registers, mul, a nop, addsd */
	assert_non_null(tiny__reason(DECODE(0x87, 0xf8, 0xc3)));
	assert_non_null(tiny__reason(DECODE(0xf7, 0xe7, 0xc3)));
	assert_non_null(tiny__reason(DECODE(0x90, 0xc3)));
	assert_non_null(tiny__reason(DECODE(0xf2, 0x0f, 0x58, 0xc1, 0xc3)));
}

static void stack_pointer_lost(void **state)
{
	/* and $-16,%rsp; push %rbx; pop %rbx; ret: where the slot lies is unknown afterwards */
	const struct code *c = DECODE(0x48, 0x83, 0xe4, 0xf0, 0x53, 0x5b, 0xc3);

	assert_int_equal(c->sites_cnt, 1);
}

static void bad_bytes(void **state)
{
	/* push %rbx; (06 is invalid) */
	const struct code *c = DECODE(0x53, 0x06, 0xc3);

	assert_non_null(c->bad);
	assert_int_equal(c->sites_cnt, 1);
	assert_false(c->leaf);
	/* mov; push; bad: only the first instruction is sure to run once */
	c = DECODE(0x89, 0xf8, 0x53, 0x06);
	assert_int_equal(c->sites_cnt, 1);
	assert_int_equal(c->sites[0].offset, 0);
	/* cut in the middle of an instruction */
	assert_non_null(DECODE(0x48, 0x89)->bad);
}

static void cold_pieces_belong_to_the_function(void **state)
{
	/* hot: mov; L: push %rbx; pop %rbx; jne cold; ret     cold: jne L; ret */
	static const uint8_t hot[] = {0x89, 0xf8, 0x53, 0x5b, 0x0f, 0x85,
				      0xf6, 0x0f, 0x00, 0x00, 0xc3};
	static const uint8_t cold[] = {0x0f, 0x85, 0xfc, 0xef, 0xff, 0xff, 0xc3};
	struct code_piece pieces[] = {
		{.vaddr = BASE, .bytes = hot, .size = sizeof(hot)},
		{.vaddr = BASE + 0x1000, .bytes = cold, .size = sizeof(cold)},
	};
	struct fixture *f = *state;

	assert_int_equal(code_decode(f->decoder, pieces, 2, UINT64_MAX, &f->code), 0);
	assert_false(f->code.tail_jumps);
	assert_int_equal(f->code.exits_cnt, 2);
	assert_int_equal(f->code.exits[1].vaddr, BASE + 0x1006);
	/* the cold piece comes back to L, which thereby runs more than once */
	assert_int_equal(f->code.sites_cnt, 1);
}

/* Found by the fuzzer: the entry block ended in the piece, where a branch back was not seen. */
static void entry_blocks_end_with_the_first_piece(void **state)
{
	/* mov     right behind: L: push %rbx; pop %rbx; jne L; ret */
	static const uint8_t hot[] = {0x89, 0xf8};
	static const uint8_t cold[] = {0x53, 0x5b, 0x75, 0xfc, 0xc3};
	struct code_piece pieces[] = {
		{.vaddr = BASE, .bytes = hot, .size = sizeof(hot)},
		{.vaddr = BASE + sizeof(hot), .bytes = cold, .size = sizeof(cold)}};
	struct fixture *f = *state;

	assert_int_equal(code_decode(f->decoder, pieces, 2, UINT64_MAX, &f->code), 0);
	assert_int_equal(f->code.sites_cnt, 1);
	assert_site(&f->code, 0, 0, SITE_STEP, 0);
	assert_int_equal(f->code.exits_cnt, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(push_first),
		TEST(push_of_a_new_register),
		TEST(endbr_then_push),
		TEST(sub_then_push),
		TEST(large_frame_by_lea),
		TEST(nop5_only_at_the_entry),
		TEST(nop5_across_pages_stays_a_nop),
		TEST(what_becomes_a_call_only_at_the_entry),
		TEST(nop5_not_where_the_code_comes_back_to),
		TEST(call_of_instrumentation_is_passed),
		TEST(sled_is_passed_and_never_a_site),
		TEST(nop5_needs_a_new_kernel),
		TEST(nop10_where_the_kernel_calls_from_it),
		TEST(nops),
		TEST(branches_end_the_entry_block),
		TEST(call_first),
		TEST(loop_into_the_entry_block),
		TEST(loop_to_the_entry_itself),
		TEST(call_at_the_end),
		TEST(tail_call_of_itself),
		TEST(label_in_the_entry_block),
		TEST(lock_prefix_is_refused),
		TEST(segment_prefix),
		TEST(returns_of_every_encoding),
		TEST(tail_jumps),
		TEST(indirect_tail_jumps),
		TEST(unread_jump_tables_stay_inside),
		TEST(jump_tables_are_followed),
		TEST(jump_tables_need_a_bound),
		TEST(masks_bound_tables),
		TEST(tables_of_unoptimised_code),
		TEST(flow_may_be_uncertain),
		TEST(bounds_hold_where_a_branch_leads),
		TEST(tail_calls_through_an_array),
		TEST(landing_pads_are_followed),
		TEST(calls_are_noted),
		TEST(what_cannot_be_followed),
		TEST(data_is_not_code),
		TEST(landing_pads_limit_the_entry_block),
		TEST(middle_of_an_instruction),
		TEST(lock_prefix_jumped_over),
		TEST(running_on_has_no_exits),
		TEST(stack_switching_is_no_leaf),
		TEST(tiny_leaves),
		TEST(not_tiny),
		TEST(stack_pointer_lost),
		TEST(bad_bytes),
		TEST(cold_pieces_belong_to_the_function),
		TEST(entry_blocks_end_with_the_first_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
