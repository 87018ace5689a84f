// SPDX-License-Identifier: GPL-2.0-or-later
/* Exits that are seen before their `ret`, in functions assembled by hand. Each is said as objdump
 * says it; calls lead out of the function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "code/code.h"
#include "exits/early_exits.h"

#define BASE 0x10000

static struct code_decoder *decoder;
static struct insn_decoder *insn;
static struct early_exits *early;
static struct code code;

static int setup(void **state)
{
	int err = code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &decoder);

	if (!err)
		err = insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &insn);
	if (!err)
		err = early_exits__new(insn, &early);
	if (!err)
		code_decoder__note_edges(decoder);
	return err;
}

static int teardown(void **state)
{
	early_exits__free(early);
	insn_decoder__free(insn);
	code_decoder__free(decoder);
	code_clear(&code);
	return 0;
}

struct expected {
	uint64_t offset;
	enum code_exit_kind kind;
	uint8_t cond;
	bool early, by_frame_pointer;
	uint16_t up;
};

#define RET(o)                                       \
	(struct expected)                            \
	{                                            \
		o, CODE_EXIT_RET, 0, false, false, 0 \
	}
#define OUT(o)                                       \
	(struct expected)                            \
	{                                            \
		o, CODE_EXIT_JMP, 0, false, false, 0 \
	}
#define JMP(o, up)                                   \
	(struct expected)                            \
	{                                            \
		o, CODE_EXIT_JMP, 0, true, false, up \
	}
#define JMP_FP(o, up)                               \
	(struct expected)                           \
	{                                           \
		o, CODE_EXIT_JMP, 0, true, true, up \
	}
#define JCC(o, cond, up)                                \
	(struct expected)                               \
	{                                               \
		o, CODE_EXIT_JCC, cond, true, false, up \
	}

static void decode(const struct code_piece *piece)
{
	assert_int_equal(code_decode(decoder, piece, 1, UINT64_MAX, &code), 0);
}

static void find(const struct code_piece *piece)
{
	const struct code_flow flow = code_decoder__flow(decoder);

	assert_int_equal(early_exits__find(early, piece, 1, &flow, &code), 0);
}

static void assert_exits(const struct expected *expected, size_t cnt)
{
	assert_int_equal(code.exits_cnt, cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct code_exit *found = NULL;

		for (size_t k = 0; k < code.exits_cnt; k++) {
			if (code.exits[k].vaddr == BASE + expected[i].offset)
				found = &code.exits[k];
		}
		if (!found)
			fail_msg("no exit at %#lx", (unsigned long)expected[i].offset);
		assert_int_equal(found->kind, expected[i].kind);
		assert_int_equal(found->cond, expected[i].cond);
		assert_int_equal(found->early, expected[i].early);
		assert_int_equal(found->by_frame_pointer, expected[i].by_frame_pointer);
		assert_int_equal(found->up, expected[i].up);
		assert_int_equal(found->steps, expected[i].kind == CODE_EXIT_RET);
	}
}

#define EXITS(insns, ...)                                                        \
	do {                                                                     \
		const struct expected expected_[] = {__VA_ARGS__};               \
		const struct code_piece piece_ = {                               \
			.vaddr = BASE, .bytes = insns, .size = sizeof(insns)};   \
		decode(&piece_);                                                 \
		find(&piece_);                                                   \
		assert_exits(expected_, sizeof(expected_) / sizeof(*expected_)); \
	} while (0)

/* clang-format off */
static const uint8_t branches_behind_the_last_call_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0x0c, 0xf0, 0xff, 0xff, /* 1: call another function */
	0x85, 0xc0, /* 6: test %eax,%eax */
	0x74, 0x08, /* 8: je 12 */
	0xe8, 0x03, 0xf0, 0xff, 0xff, /* a: call another function */
	0xeb, 0x01, /* f: jmp 12 */
	0x90, /* 11: nop */
	0x5b, /* 12: pop %rbx */
	0xc3, /* 13: ret */
};

static const uint8_t way_on_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0x06, 0xf0, 0xff, 0xff, /* 1: call another function */
	0x85, 0xc0, /* 6: test %eax,%eax */
	0x75, 0x02, /* 8: jne 0xc */
	0x5b, /* a: pop %rbx */
	0xc3, /* b: ret */
	0xe8, 0xfb, 0xef, 0xff, 0xff, /* c: call another function */
	0x5b, /* 11: pop %rbx */
	0xc3, /* 12: ret */
};

static const uint8_t right_behind_a_call_code[] = {
	0x48, 0x83, 0xec, 0x08, /* 0: sub $0x8,%rsp */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 4: call another function */
	0x48, 0x83, 0xc4, 0x08, /* 9: add $0x8,%rsp */
	0xc3, /* d: ret */
};

static const uint8_t loop_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0xff, 0xcb, /* 6: dec %ebx */
	0x75, 0xf7, /* 8: jne 0x1 */
	0x5b, /* a: pop %rbx */
	0xc3, /* b: ret */
};

static const uint8_t frame_pointer_code[] = {
	0x55, /* 0: push %rbp */
	0x48, 0x89, 0xe5, /* 1: mov %rsp,%rbp */
	0x48, 0x83, 0xec, 0x10, /* 4: sub $0x10,%rsp */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 8: call another function */
	0xeb, 0x00, /* d: jmp 0xf */
	0x8b, 0x45, 0xfc, /* f: mov -0x4(%rbp),%eax */
	0xc9, /* 12: leave */
	0xc3, /* 13: ret */
};

static const uint8_t changed_frame_pointer_code[] = {
	0x55, /* 0: push %rbp */
	0x48, 0x89, 0xe5, /* 1: mov %rsp,%rbp */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 4: call another function */
	0xeb, 0x00, /* 9: jmp 0xb */
	0x48, 0x89, 0xfd, /* b: mov %rdi,%rbp */
	0xc9, /* e: leave */
	0xc3, /* f: ret */
};

static const uint8_t mixed_ways_code[] = {
	0x53, /* 0: push %rbx */
	0x85, 0xff, /* 1: test %edi,%edi */
	0x74, 0x05, /* 3: je 0xa */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 5: call another function */
	0x5b, /* a: pop %rbx */
	0xc3, /* b: ret */
};

static const uint8_t emulated_behind_call_code[] = {
	0x53, /* 0: push %rbx */
	0x85, 0xff, /* 1: test %edi,%edi */
	0x74, 0x05, /* 3: je 0xa */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 5: call another function */
	0x90, /* a: nop */
	0x5b, /* b: pop %rbx */
	0xc3, /* c: ret */
};

static const uint8_t system_call_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0xeb, 0x00, /* 6: jmp 0x8 */
	0x0f, 0x05, /* 8: syscall */
	0x5b, /* a: pop %rbx */
	0xc3, /* b: ret */
};

static const uint8_t shared_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0x85, 0xc0, /* 6: test %eax,%eax */
	0x74, 0x10, /* 8: je 0x1a */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* a: call another function */
	0x85, 0xff, /* f: test %edi,%edi */
	0x74, 0x02, /* 11: je 0x15 */
	0x5b, /* 13: pop %rbx */
	0xc3, /* 14: ret */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 15: call another function */
	0x39, 0xc7, /* 1a: cmp %eax,%edi */
	0x74, 0x02, /* 1c: je 0x20 */
	0x5b, /* 1e: pop %rbx */
	0xc3, /* 1f: ret */
	0x31, 0xc0, /* 20: xor %eax,%eax */
	0x5b, /* 22: pop %rbx */
	0xc3, /* 23: ret */
};

static const uint8_t leaf_code[] = {
	0x53, /* 0: push %rbx */
	0x85, 0xff, /* 1: test %edi,%edi */
	0x74, 0x02, /* 3: je 0x7 */
	0xff, 0xc0, /* 5: inc %eax */
	0x5b, /* 7: pop %rbx */
	0xc3, /* 8: ret */
};

static const uint8_t pops_code[] = {
	0x55, /* 0: push %rbp */
	0x53, /* 1: push %rbx */
	0x48, 0x83, 0xec, 0x18, /* 2: sub $0x18,%rsp */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 6: call another function */
	0xeb, 0x00, /* b: jmp 0xd */
	0x48, 0x83, 0xc4, 0x18, /* d: add $0x18,%rsp */
	0x5b, /* 11: pop %rbx */
	0x5d, /* 12: pop %rbp */
	0xc3, /* 13: ret */
};

static const uint8_t early_out_code[] = {
	0x48, 0x85, 0xff, /* 0: test %rdi,%rdi */
	0x74, 0x0d, /* 3: je 0x12 */
	0x48, 0x83, 0xec, 0x08, /* 5: sub $0x8,%rsp */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 9: call another function */
	0x48, 0x83, 0xc4, 0x08, /* e: add $0x8,%rsp */
	0xc3, /* 12: ret */
};

static const uint8_t landing_pad_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0xeb, 0x00, /* 6: jmp 0x8 */
	0x5b, /* 8: pop %rbx */
	0xc3, /* 9: ret */
};

static const uint8_t many_branches_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0x83, 0xf8, 0x00, /* 6: cmp $0x0,%eax */
	0x74, 0x44, /* 9: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* b: call another function */
	0x83, 0xf8, 0x01, /* 10: cmp $0x1,%eax */
	0x74, 0x3a, /* 13: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 15: call another function */
	0x83, 0xf8, 0x02, /* 1a: cmp $0x2,%eax */
	0x74, 0x30, /* 1d: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1f: call another function */
	0x83, 0xf8, 0x03, /* 24: cmp $0x3,%eax */
	0x74, 0x26, /* 27: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 29: call another function */
	0x83, 0xf8, 0x04, /* 2e: cmp $0x4,%eax */
	0x74, 0x1c, /* 31: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 33: call another function */
	0x83, 0xf8, 0x05, /* 38: cmp $0x5,%eax */
	0x74, 0x12, /* 3b: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 3d: call another function */
	0x83, 0xf8, 0x06, /* 42: cmp $0x6,%eax */
	0x74, 0x08, /* 45: je 0x4f */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 47: call another function */
	0xeb, 0x01, /* 4c: jmp 0x4f */
	0x90, /* 4e: nop */
	0x5b, /* 4f: pop %rbx */
	0xc3, /* 50: ret */
};

static const uint8_t dear_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0xeb, 0x00, /* 6: jmp 0x8 */
	0xf7, 0xf1, /* 8: div %ecx */
	0x5b, /* a: pop %rbx */
	0xc3, /* b: ret */
};

static const uint8_t jump_out_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0x85, 0xc0, /* 6: test %eax,%eax */
	0x74, 0x06, /* 8: je 0x10 */
	0x5b, /* a: pop %rbx */
	0xe9, 0xfb, 0x0f, 0x00, 0x00, /* b: jmp another function */
	0x5b, /* 10: pop %rbx */
	0xc3, /* 11: ret */
};

static const uint8_t unbalanced_code[] = {
	0x53, /* 0: push %rbx */
	0xe8, 0xfb, 0x0f, 0x00, 0x00, /* 1: call another function */
	0xeb, 0x00, /* 6: jmp 0x8 */
	0x48, 0x89, 0xfc, /* 8: mov %rdi,%rsp */
	0xc3, /* b: ret */
};

/* clang-format on */

/* A branch under its condition, a jump whatever it is. */
static void branches_behind_the_last_call(void **state)
{
	EXITS(branches_behind_the_last_call_code, JCC(0x8, 0x4, 8), JMP(0xf, 8));
}

/* The way on leads to the `ret`: the condition is turned round. The other `ret` comes right behind
 * a call. */
static void way_on(void **state)
{
	EXITS(way_on_code, JCC(0x8, 0x4, 8), RET(0x12));
}

/* No instruction there is emulated. */
static void right_behind_a_call(void **state)
{
	EXITS(right_behind_a_call_code, RET(0xd));
}

/* The branch would be hit in vain each round. */
static void loop(void **state)
{
	EXITS(loop_code, RET(0xb));
}

/* `leave` takes the stack pointer from the frame. */
static void frame_pointer(void **state)
{
	EXITS(frame_pointer_code, JMP_FP(0xd, 8));
}

/* So the frame pointer tells nothing before. */
static void changed_frame_pointer(void **state)
{
	EXITS(changed_frame_pointer_code, RET(0xf));
}

/* One of the two ways passes no branch. */
static void mixed_ways(void **state)
{
	EXITS(mixed_ways_code, RET(0xb));
}

/* Both ways pass the nop, so the branch is of no use. */
static void emulated_behind_call(void **state)
{
	EXITS(emulated_behind_call_code, JMP(0xa, 8));
}

/* A system call may last. */
static void system_call(void **state)
{
	EXITS(system_call_code, RET(0xb));
}

/* Two `ret`s that share a way are seen at the branch between them. */
static void shared(void **state)
{
	EXITS(shared_code, JCC(0x11, 0x5, 8), JMP(0x1c, 8));
}

/* Never at the entry itself. */
static void leaf(void **state)
{
	EXITS(leaf_code, RET(0x8));
}

/* All that is popped on the way. */
static void pops(void **state)
{
	EXITS(pops_code, JMP(0xb, 40));
}

/* The way by the call passes nothing. */
static void early_out(void **state)
{
	EXITS(early_out_code, RET(0x12));
}

/* Too many branches would be hit in vain. */
static void many_branches(void **state)
{
	EXITS(many_branches_code, RET(0x50));
}

/* A dear instruction may last, too. */
static void dear(void **state)
{
	EXITS(dear_code, RET(0xb));
}

/* Jumps to other functions stay. */
static void jump_out(void **state)
{
	EXITS(jump_out_code, OUT(0xb), JCC(0x8, 0x4, 8));
}

/* The slot is not known before. */
static void unbalanced(void **state)
{
	EXITS(unbalanced_code, RET(0xb));
}

/* A thread that lands there has not passed the jump before. */
static void landing_pad(void **state)
{
	const uint64_t pads[] = {BASE + 0x8};
	const struct code_piece piece = {.vaddr = BASE,
					 .bytes = landing_pad_code,
					 .size = sizeof(landing_pad_code),
					 .pads = pads,
					 .pads_cnt = 1};
	const struct expected ret = RET(0x9), jump = JMP(0x6, 8);

	decode(&piece);
	find(&piece);
	assert_exits(&ret, 1);
	EXITS(landing_pad_code, jump);
}

static void patched_code_is_left_alone(void **state)
{
	const struct code_piece piece = {
		.vaddr = BASE, .bytes = pops_code, .size = sizeof(pops_code)};
	const struct expected ret = RET(0x13);

	decode(&piece);
	code.patched = true;
	find(&piece);
	assert_exits(&ret, 1);
	code.patched = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_behind_the_last_call),
		cmocka_unit_test(way_on),
		cmocka_unit_test(right_behind_a_call),
		cmocka_unit_test(loop),
		cmocka_unit_test(frame_pointer),
		cmocka_unit_test(changed_frame_pointer),
		cmocka_unit_test(mixed_ways),
		cmocka_unit_test(emulated_behind_call),
		cmocka_unit_test(system_call),
		cmocka_unit_test(shared),
		cmocka_unit_test(leaf),
		cmocka_unit_test(pops),
		cmocka_unit_test(early_out),
		cmocka_unit_test(many_branches),
		cmocka_unit_test(dear),
		cmocka_unit_test(jump_out),
		cmocka_unit_test(unbalanced),
		cmocka_unit_test(landing_pad),
		cmocka_unit_test(patched_code_is_left_alone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
