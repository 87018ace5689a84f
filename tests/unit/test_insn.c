// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single instructions. The table is assembled by gcc at test time, so what stands here is what GNU
 * as makes of the text, and lengths and targets are its own. What the kernel accepts and emulates
 * follows arch/x86/kernel/uprobes.c (good_insns_64, good_2byte_insns, is_prefix_bad(),
 * branch_setup_xol_ops(), push_setup_xol_ops()).
 */
#include "arch/arch.h"
#include "elf_fixture.h"

#include <errno.h>

#include "arch/insn.h"

#define REFUSED SITE_CLASSES /* the kernel accepts no probe there */

struct row {
	const char *text;
	int flow, stack, down, site;
};

static const struct row table[] = {
	/* nops; pause is one to the kernel, xchg %r8,%rax must not be */
	{"nop", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x66, 0x90", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x48, 0x90", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{"pause", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{"nopl 0(%rax,%rax,1)", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	/* of the longer ones those that the kernel uses itself, and all of five bytes: measured */
	{".byte 0x0f, 0x1f, 0x44, 0x00, 0x08", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	{".byte 0x0f, 0x1f, 0x44, 0x20, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	{".byte 0x66, 0x0f, 0x1f, 0x40, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	{".byte 0x48, 0x0f, 0x1f, 0x40, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	{".byte 0x66, 0x66, 0x66, 0x66, 0x90", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP5},
	{".byte 0x0f, 0x1f, 0x4c, 0x00, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x44, 0x0f, 0x1f, 0x40, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"nopl (%rax)", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x0f, 0x1f, 0x40, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x48, 0x0f, 0x1f, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x48, 0x0f, 0x1f, 0x44, 0x00, 0x00", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x0f, 0x1f, 0x80, 0, 2, 0, 0", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", FLOW_NEXT, STACK_MOVES, 0, SITE_NOP},
	{".byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{".byte 0x0f, 0x1f, 0xc0", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"nopw %cs:0x200(%rax,%rax,1)", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"endbr64", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	/* pushes and pops */
	{"push %rax", FLOW_NEXT, STACK_MOVES, 8, SITE_PUSH},
	{"push %rsp", FLOW_NEXT, STACK_MOVES, 8, SITE_PUSH},
	{"push %r15", FLOW_NEXT, STACK_MOVES, 8, SITE_PUSH},
	{"push %ax", FLOW_NEXT, STACK_MOVES, 2, SITE_STEP},
	{".byte 0x48, 0x55", FLOW_NEXT, STACK_MOVES, 8, SITE_STEP},
	{"push $1", FLOW_NEXT, STACK_MOVES, 8, SITE_STEP},
	{"push $0x12345", FLOW_NEXT, STACK_MOVES, 8, SITE_STEP},
	{"push 8(%rdi)", FLOW_NEXT, STACK_MOVES, 8, SITE_STEP},
	{"pushf", FLOW_NEXT, STACK_MOVES, 8, REFUSED},
	{".byte 0x66, 0x9c", FLOW_NEXT, STACK_MOVES, 8, REFUSED},
	{"push %fs", FLOW_NEXT, STACK_MOVES, 8, SITE_STEP},
	{"pop %rbx", FLOW_NEXT, STACK_MOVES, -8, SITE_STEP},
	{"pop %r12", FLOW_NEXT, STACK_MOVES, -8, SITE_STEP},
	{"pop %rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"pop 8(%rdi)", FLOW_NEXT, STACK_MOVES, -8, SITE_STEP},
	{"popf", FLOW_NEXT, STACK_MOVES, -8, SITE_STEP},
	/* the stack pointer moved by a constant */
	{"sub $0x18,%rsp", FLOW_NEXT, STACK_MOVES, 0x18, SITE_STEP},
	{"sub $0x1018,%rsp", FLOW_NEXT, STACK_MOVES, 0x1018, SITE_STEP},
	{"sub $-0x80,%rsp", FLOW_NEXT, STACK_MOVES, -0x80, SITE_STEP},
	{"add $0x18,%rsp", FLOW_NEXT, STACK_MOVES, -0x18, SITE_STEP},
	{"add $-0x80,%rsp", FLOW_NEXT, STACK_MOVES, 0x80, SITE_STEP},
	{"lea -0x80(%rsp),%rsp", FLOW_NEXT, STACK_MOVES, 0x80, SITE_STEP},
	{"lea 0x1000(%rsp),%rsp", FLOW_NEXT, STACK_MOVES, -0x1000, SITE_STEP},
	{"cmp $8,%rsp", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"test %rsp,%rsp", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"cmp %rax,%rsp", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %rsp,%rbp", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %rsp,%rax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"add %rsp,%rax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %rax,8(%rsp)", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"subq $8,(%rsp)", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"sub $0x18,%r12", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %rax,%r12", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"lea 8(%rsp),%r12", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	/* aligned, or restored from the frame pointer */
	{"and $-16,%rsp", FLOW_NEXT, STACK_FRAME, 0, SITE_STEP},
	{"leave", FLOW_NEXT, STACK_FRAME, 0, SITE_STEP},
	{"mov %rbp,%rsp", FLOW_NEXT, STACK_FRAME, 0, SITE_STEP},
	{"lea -0x28(%rbp),%rsp", FLOW_NEXT, STACK_FRAME, 0, SITE_STEP},
	/* loaded with something else */
	{"mov %rdi,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"mov %r13,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"mov (%rdi),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"mov 8(%rbp),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"mov $0x1000,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"movabs $0x123456789a,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"xchg %rdi,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"xchg %rax,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"xchg %rsp,(%rdi)", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"sub %rax,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"sub 8(%rdi),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"or $8,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"shl $4,%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"inc %rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"neg %rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"lea (%rdi,%rsi),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"lea 8(%r12),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"lea 8(%r13),%rsp", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	{"enter $16,$0", FLOW_NEXT, STACK_UNKNOWN, 0, SITE_STEP},
	/* calls and direct jumps; a 66 prefix makes the kernel refuse */
	{"call .+0x1000", FLOW_CALL, STACK_MOVES, 0, SITE_CALL},
	{"call *%rax", FLOW_CALL, STACK_MOVES, 0, SITE_STEP},
	{"call *8(%rdi)", FLOW_CALL, STACK_MOVES, 0, SITE_STEP},
	{"call *8(%rip)", FLOW_CALL, STACK_MOVES, 0, SITE_STEP},
	{"jmp .+0x10", FLOW_JMP, STACK_MOVES, 0, SITE_JMP},
	{"jmp .-0x10", FLOW_JMP, STACK_MOVES, 0, SITE_JMP},
	{"jmp .+0x1000", FLOW_JMP, STACK_MOVES, 0, SITE_JMP},
	{"jne .+0x10", FLOW_JCC, STACK_MOVES, 0, SITE_JCC},
	{"jle .-0x1000", FLOW_JCC, STACK_MOVES, 0, SITE_JCC},
	{"bnd jmp .+0x10", FLOW_JMP, STACK_MOVES, 0, SITE_JMP},
	{".byte 0x66, 0x0f, 0x84; .long 0", FLOW_JCC, STACK_MOVES, 0, REFUSED},
	{".byte 0x2e; jne .+0x10", FLOW_JCC, STACK_MOVES, 0, REFUSED},
	{"loop .-0x10", FLOW_JCC, STACK_MOVES, 0, SITE_STEP},
	{"jrcxz .+0x10", FLOW_JCC, STACK_MOVES, 0, SITE_STEP},
	/* indirect jumps */
	{"jmp *%rax", FLOW_JMP_REG, STACK_MOVES, 0, SITE_STEP},
	{"jmp *%r11", FLOW_JMP_REG, STACK_MOVES, 0, SITE_STEP},
	{"notrack jmp *%rax", FLOW_JMP_TABLE, STACK_MOVES, 0, REFUSED},
	{"jmp *0x2000(,%rdi,8)", FLOW_JMP_TABLE, STACK_MOVES, 0, SITE_STEP},
	{"jmp *(%rdx,%rdi,8)", FLOW_JMP_TABLE, STACK_MOVES, 0, SITE_STEP},
	{"jmp *8(%rip)", FLOW_JMP_TAIL, STACK_MOVES, 0, SITE_STEP},
	{"jmp *0x18(%rax)", FLOW_JMP_TAIL, STACK_MOVES, 0, SITE_STEP},
	{"jmp *(%rsp)", FLOW_JMP_TAIL, STACK_MOVES, 0, SITE_STEP},
	{"jmp *8(%r12)", FLOW_JMP_TAIL, STACK_MOVES, 0, SITE_STEP},
	/* returns and ends */
	{"ret", FLOW_RET, STACK_MOVES, 0, SITE_STEP},
	{"ret $8", FLOW_RET, STACK_MOVES, 0, SITE_STEP},
	{"rep ret", FLOW_RET, STACK_MOVES, 0, SITE_STEP},
	{"bnd ret", FLOW_RET, STACK_MOVES, 0, SITE_STEP},
	{"lretq", FLOW_RET, STACK_MOVES, 0, SITE_STEP},
	{"iretq", FLOW_RET, STACK_MOVES, 0, REFUSED},
	{"ud2", FLOW_STOP, STACK_MOVES, 0, REFUSED},
	{"ud1 %eax,%eax", FLOW_STOP, STACK_MOVES, 0, REFUSED},
	{"hlt", FLOW_STOP, STACK_MOVES, 0, REFUSED},
	{"int3", FLOW_STOP, STACK_MOVES, 0, REFUSED},
	{"int1", FLOW_STOP, STACK_MOVES, 0, REFUSED},
	/* system calls */
	{"syscall", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"sysenter", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"int $0x80", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	/* prefixes: fs and gs are accepted, lock and the other segments are not */
	{"mov %fs:0x28,%rax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %gs:0,%eax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov %es:(%rdi),%eax", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"mov %ss:(%rdi),%eax", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{".byte 0x3e; mov (%rdi),%eax", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"lock incl (%rdi)", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"lock cmpxchg %rdx,(%rdi)", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"xacquire lock incl (%rdi)", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"rep stosq", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"mov (%edi),%eax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	/* system, port and flag instructions */
	{"cli", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"sti", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"in %dx,%al", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"out %al,$0x80", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"insb", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"outsb", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"wrmsr", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"clts", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"wbinvd", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"xgetbv", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"rdtscp", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"mfence", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"stmxcsr (%rdi)", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
	{"cpuid", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"rdtsc", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"cld", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	/* ordinary ones of every opcode map */
	{"mov %edi,%eax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"lea 8(%rip),%rax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"imul %esi,%eax", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"movups %xmm0,(%rdi)", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"pshufb %xmm1,%xmm0", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"roundsd $1,%xmm1,%xmm0", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"fldt 8(%rdi)", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"vaddps %ymm1,%ymm2,%ymm3", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"vaddps %xmm1,%xmm2,%xmm3", FLOW_NEXT, STACK_MOVES, 0, SITE_STEP},
	{"vaddps %zmm1,%zmm2,%zmm3", FLOW_NEXT, STACK_MOVES, 0, REFUSED},
};

#define ROWS (sizeof(table) / sizeof(*table))

static uint8_t code[16384];
static uint32_t starts[ROWS + 1]; /* of each row's bytes in `code` */

/* One row after the other, and a table of where each begins. */
static void assemble(const struct row *rows, size_t cnt)
{
	FILE *f = fopen("insn.s", "w");

	assert_non_null(f);
	for (size_t i = 0; i < cnt; i++)
		fprintf(f, ".Lrow%zu: %s\n", i, rows[i].text);
	fprintf(f, ".Lrow%zu:\n.section starts,\"a\"\n", cnt);
	for (size_t i = 0; i <= cnt; i++)
		fprintf(f, ".long .Lrow%zu-.Lrow0\n", i);
	assert_int_equal(fclose(f), 0);
	sh("gcc -c -o insn.o insn.s && objcopy -O binary -j .text insn.o code && "
	   "objcopy -O binary -j starts insn.o starts");
}

static int setup(void **state)
{
	uint8_t *bytes;
	size_t len;

	if (fixture_make(state))
		return -1;
	assemble(table, ROWS);
	bytes = read_bytes("code", &len);
	assert_true(len <= sizeof(code));
	memcpy(code, bytes, len);
	free(bytes);
	bytes = read_bytes("starts", &len);
	assert_int_equal(len, sizeof(starts));
	memcpy(starts, bytes, len);
	free(bytes);
	return 0;
}

static const char *site_name(const struct insn *in)
{
	return in->probeable ? site_class__name(in->site) : "refused";
}

static void check_row(struct insn_decoder *d, size_t i)
{
	const struct row *r = &table[i];
	const char *site = r->site == REFUSED ? "refused" : site_class__name(r->site);
	uint32_t length = starts[i + 1] - starts[i];
	struct insn in;

	if (!insn_decode(d, code + starts[i], length, &in))
		fail_msg("%s: no instruction", r->text);
	if (in.length != length || in.flow != r->flow || in.stack != r->stack ||
	    (in.stack == STACK_MOVES && in.down != r->down) || strcmp(site_name(&in), site))
		fail_msg("%s: length %d flow %d stack %d down %d site %s", r->text, in.length,
			 in.flow, in.stack, in.down, site_name(&in));
	/* cut short it is none */
	for (uint32_t len = 0; len < length; len++) {
		if (insn_decode(d, code + starts[i], len, &in))
			assert_true(in.length <= len);
	}
}

static void every_row(void **state)
{
	struct insn_decoder *d;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &d), 0);
	for (size_t i = 0; i < ROWS; i++)
		check_row(d, i);
	insn_decoder__free(d);
}

#define DECODE(...)                                                                     \
	({                                                                              \
		static const uint8_t bytes_[] = {__VA_ARGS__};                          \
		struct insn_decoder *d_;                                                \
		struct insn in_;                                                        \
		assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &d_), 0); \
		assert_true(insn_decode(d_, bytes_, sizeof(bytes_), &in_));             \
		assert_int_equal(in_.length, sizeof(bytes_));                           \
		insn_decoder__free(d_);                                                 \
		in_;                                                                    \
	})

/*
 * xchg %r8,%rax: kernels up to 6.18 at least take 90 with any prefix for a nop and emulate it as
 * one (branch_setup_xol_ops()), which loses the exchange: seen on 6.18.44.
 */
static void xchg_r8_cannot_be_probed(void **state)
{
	assert_false(DECODE(0x49, 0x90).probeable);
	assert_false(DECODE(0x41, 0x90).probeable);
	assert_true(DECODE(0x49, 0x91).probeable); /* xchg %r9,%rax has an opcode of its own */
}

/* The kernel looks the opcode behind a VEX prefix up among those of one byte: seen on
 * 6.18.44. */
static void vex_prefixes(void **state)
{
	(void)state;
	assert_true(DECODE(0xc5, 0xf8, 0x28, 0xc1).probeable);	      /* vmovaps %xmm1,%xmm0 */
	assert_true(DECODE(0xc5, 0xf9, 0x2e, 0xc1).probeable);	      /* vucomisd %xmm1,%xmm0 */
	assert_true(DECODE(0xc4, 0xe2, 0xc8, 0xf2, 0xc7).probeable);  /* andn %rdi,%rsi,%rax */
	assert_false(DECODE(0xc5, 0xf9, 0x2f, 0xc1).probeable);	      /* vcomisd %xmm1,%xmm0 */
	assert_false(DECODE(0xc5, 0xf9, 0x6f, 0xc1).probeable);	      /* vmovdqa %xmm1,%xmm0 */
	assert_false(DECODE(0xc5, 0xf9, 0xef, 0xc1).probeable);	      /* vpxor %xmm1,%xmm0,%xmm0 */
	assert_false(DECODE(0xc4, 0xe2, 0x79, 0x17, 0xc1).probeable); /* vptest %xmm1,%xmm0 */
}

/* How startup code and hand-written switches load a new stack. */
static void stack_loaded_from_a_symbol(void **state)
{
	/* lea 0x10(%rip),%rsp */
	assert_int_equal(DECODE(0x48, 0x8d, 0x25, 0x10, 0, 0, 0).stack, STACK_UNKNOWN);
}

static void stack_loaded_conditionally(void **state)
{
	/* cmovne %rax,%rsp */
	assert_int_equal(DECODE(0x48, 0x0f, 0x45, 0xe0).stack, STACK_UNKNOWN);
}

static void branch_distances(void **state)
{
	assert_int_equal(DECODE(0xeb, 0xfe).rel, -2);
	assert_int_equal(DECODE(0xe9, 0x00, 0x10, 0x00, 0x00).rel, 0x1000);
	assert_int_equal(DECODE(0xe8, 0xff, 0xff, 0xff, 0xff).rel, -1);
	assert_int_equal(DECODE(0x75, 0x7f).rel, 0x7f);
	assert_int_equal(DECODE(0x0f, 0x8f, 0x00, 0x00, 0x00, 0x80).rel, INT32_MIN);
	assert_int_equal(DECODE(0xe3, 0x80).rel, -0x80);
}

/* One decoder remembers all of a branch but its distance. It tells a distance of 0 apart, as
 * kernels may take such a jump for a nop. */
static void branches_of_a_kind(void **state)
{
	static const uint8_t branches[][6] = {
		{0x0f, 0x8c, 1, 0, 0, 0}, {0x0f, 0x8c, 0xfe, 0xff, 0xff, 0xff},
		{0x0f, 0x8d, 2, 0, 0, 0}, {0xe9, 3, 0, 0, 0},
		{0xe9, 0, 0, 0, 0},	  {0xe9, 4, 0, 0, 0},
		{0xe8, 0, 0, 0, 0x80},	  {0xe8, 0, 0, 0, 0},
		{0xe8, 5, 0, 0, 0},
	};
	struct insn_decoder *one, *own;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &one), 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
			size_t len = branches[i][0] == 0x0f ? 6 : 5;
			struct insn a, b;

			assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &own), 0);
			if (round) {
				insn_decoder__spare_calls(one);
				insn_decoder__spare_calls(own);
				insn_decoder__spare_nop5(one);
				insn_decoder__spare_nop5(own);
			}
			assert_true(insn_decode(one, branches[i], len, &a));
			assert_true(insn_decode(own, branches[i], len, &b));
			assert_int_equal(a.length, len);
			assert_int_equal(a.rel, b.rel);
			assert_int_equal(a.flow, b.flow);
			assert_int_equal(a.cond, b.cond);
			assert_int_equal(a.site, b.site);
			assert_int_equal(a.probeable, b.probeable);
			if (a.flow == FLOW_CALL)
				assert_int_equal(a.probeable, !round);
			assert_int_equal(a.may_become_call, b.may_become_call);
			/* cut short it is none */
			assert_false(insn_decode(one, branches[i], len - 1, &b));
			insn_decoder__free(own);
		}
	}
	insn_decoder__free(one);
}

static void conditions(void **state)
{
	struct insn in = DECODE(0x7c, 0x00); /* jl */

	assert_true(in.is_jcc_opcode);
	assert_int_equal(in.cond, 0xc);
	in = DECODE(0x0f, 0x8d, 0, 0, 0, 0); /* jge */
	assert_true(in.is_jcc_opcode);
	assert_int_equal(in.cond, 0xd);
	assert_false(DECODE(0xe2, 0x00).is_jcc_opcode); /* loop */
}

static void facts(void **state)
{
	assert_true(DECODE(0xf3, 0x0f, 0x1e, 0xfa).endbr);
	assert_false(DECODE(0xf3, 0x0f, 0x1e, 0xfb).endbr); /* endbr32 */
	assert_true(DECODE(0x0f, 0x05).system_call);
	assert_true(DECODE(0xcd, 0x80).system_call);
	assert_false(DECODE(0x0f, 0x0b).system_call);
	/* movslq (%rdx,%rdi,4),%rax; mov (%rdx,%rdi,8),%rax; mov (%rdx,%rdi),%rax */
	assert_true(DECODE(0x48, 0x63, 0x04, 0xba).table_load);
	assert_true(DECODE(0x48, 0x8b, 0x04, 0xfa).table_load);
	assert_false(DECODE(0x48, 0x8b, 0x04, 0x3a).table_load);
}

/* This kernel makes calls of nops, later kernels of any instruction that does nothing. */
static void what_may_become_a_call(void **state)
{
	assert_true(DECODE(0x0f, 0x1f, 0x44, 0x00, 0x08).may_become_call);
	assert_true(DECODE(0x0f, 0x1f, 0x4c, 0x00, 0x00).may_become_call);
	assert_true(DECODE(0x66, 0x66, 0x66, 0x66, 0x90).may_become_call);
	assert_true(DECODE(0xf3, 0x66, 0x66, 0x66, 0x90).may_become_call);
	assert_true(DECODE(0xe9, 0x00, 0x00, 0x00, 0x00).may_become_call);
	assert_true(DECODE(0x48, 0x8d, 0x64, 0x24, 0x00).may_become_call);
	assert_true(DECODE(0x66, 0x66, 0x48, 0x89, 0xc0).may_become_call);
	assert_false(DECODE(0xe9, 0x01, 0x00, 0x00, 0x00).may_become_call);
	assert_false(DECODE(0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00).may_become_call);
	assert_false(DECODE(0xb8, 0x00, 0x00, 0x00, 0x00).may_become_call);
	/* no call fits across two pages */
	assert_int_equal(DECODE(0x0f, 0x1f, 0x44, 0x00, 0x00).site_across, SITE_NOP);
	assert_int_equal(DECODE(0x0f, 0x1f, 0x44, 0x00, 0x08).site_across, SITE_STEP);
	assert_int_equal(DECODE(0x66, 0x66, 0x66, 0x66, 0x90).site_across, SITE_NOP);
	assert_int_equal(DECODE(0x55).site_across, SITE_PUSH);
}

/* A function's end loads the registers that it has saved from the frame. */
static void loads_from_the_frame(void **state)
{
	assert_true(DECODE(0x48, 0x8b, 0x5d, 0xf8).fetches);  /* mov -8(%rbp),%rbx */
	assert_false(DECODE(0x48, 0x89, 0x5d, 0xf8).fetches); /* mov %rbx,-8(%rbp) */
	assert_false(DECODE(0x48, 0x8b, 0x07).fetches);	      /* mov (%rdi),%rax */
	assert_false(DECODE(0x49, 0x8b, 0x45, 0x08).fetches); /* mov 8(%r13),%rax */
}

/* Returns that do nothing but what is known. */
static void near_returns(void **state)
{
	assert_true(DECODE(0xc3).near_return);
	assert_true(DECODE(0xf3, 0xc3).near_return);	    /* rep ret */
	assert_true(DECODE(0xf2, 0xc3).near_return);	    /* bnd ret */
	assert_false(DECODE(0xc2, 0x08, 0x00).near_return); /* ret $8 */
	assert_false(DECODE(0x66, 0xc3).near_return);	    /* retw */
	assert_false(DECODE(0xcb).near_return);		    /* lret */
	assert_false(DECODE(0x48, 0xcf).near_return);	    /* iretq */
	assert_false(DECODE(0xff, 0xe0).near_return);	    /* jmp *%rax */
}

static void nop5_needs_a_new_kernel(void **state)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct insn_decoder *d;
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_NONE, &d), 0);
	assert_true(insn_decode(d, nop5, sizeof(nop5), &in));
	assert_int_equal(in.site, SITE_STEP);
	assert_true(in.probeable);
	insn_decoder__free(d);
}

/* Nops since Linux 7.2: see insn_uprobe__classify_nop10(). */
static void nops_since_calls_have_ten_bytes(void **state)
{
	static const uint8_t nop10[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
	static const uint8_t other10[] = {0x66, 0x36, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
	static const uint8_t nop9[] = {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x08};
	static const uint8_t pause[] = {0xf3, 0x90};
	struct insn_decoder *d;
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_10, &d), 0);
	assert_true(insn_decode(d, nop10, sizeof(nop10), &in));
	assert_true(in.is_nop10 && in.is_nop);
	assert_false(in.probeable); /* across two pages it is refused */
	assert_true(insn_nop10_at(&in, 0x4000) && insn_nop10_at(&in, 0x4ff6));
	assert_false(insn_nop10_at(&in, 0x4ff7) || insn_nop10_at(&in, 0x4fff));
	assert_true(insn_decode(d, other10, sizeof(other10), &in));
	assert_false(in.is_nop10 || in.probeable);
	assert_true(insn_decode(d, nop9, sizeof(nop9), &in));
	assert_true(in.probeable && in.site == SITE_NOP && !in.is_nop10);
	assert_true(insn_decode(d, nop5, sizeof(nop5), &in));
	assert_true(in.probeable && in.site == SITE_NOP && in.site_across == SITE_NOP);
	assert_false(in.may_become_call);
	assert_true(insn_decode(d, pause, sizeof(pause), &in));
	assert_int_equal(in.site, SITE_STEP);
	insn_decoder__free(d);

	/* 6.18 refuses what has a segment prefix. */
	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &d), 0);
	assert_true(insn_decode(d, nop10, sizeof(nop10), &in));
	assert_false(in.is_nop10 || in.probeable);
	insn_decoder__free(d);
}

static void invalid_bytes(void **state)
{
	static const uint8_t bad[][4] = {{0x06},       {0x0e}, {0x27},	     {0x60},
					 {0x82, 0xc0}, {0xd6}, {0x0f, 0x04}, {0x0f, 0x0f, 0xc0},
					 {0xff, 0xff}};
	struct insn_decoder *d;
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &d), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (insn_decode(d, bad[i], sizeof(bad[i]), &in))
			assert_false(in.probeable);
	}
	assert_false(insn_decode(d, bad[0], 0, &in));
	insn_decoder__free(d);
}

/* What was decoded before is remembered: that makes no difference. Real code, this program's. */
int main(void);

static void what_is_remembered(void **state)
{
	const uint8_t *code = (const uint8_t *)main, *page = code - (uintptr_t)code % 4096;
	struct insn_decoder *seasoned, *fresh;
	struct insn first, second, anew;
	size_t length;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_NONE, &seasoned), 0);
	for (const uint8_t *at = page; at < code; at += length) {
		size_t room = code - at < 15 ? code - at : 15;
		bool valid = insn_decode(seasoned, at, room, &first);

		length = valid ? first.length : 1;
		assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_NONE, &fresh), 0);
		assert_int_equal(insn_decode(fresh, at, room, &anew), valid);
		assert_int_equal(insn_decode(seasoned, at, room, &second), valid);
		if (valid) {
			assert_memory_equal(&first, &anew, sizeof(anew));
			assert_memory_equal(&second, &anew, sizeof(anew));
		}
		/* Less than all of it is no instruction, known or not. */
		if (valid && length > 1)
			assert_false(insn_decode(seasoned, at, length - 1, &second));
		insn_decoder__free(fresh);
	}
	insn_decoder__free(seasoned);
}

/* Instructions that differ in a distance alone, which some have a constant behind. */
static void what_is_remembered_has_its_own_distance(void **state)
{
	static const struct {
		uint8_t bytes[12], length, distance_at;
	} all[] = {
		{{0x8b, 0x05}, 6, 2},		      /* mov x(%rip),%eax */
		{{0x48, 0x89, 0x3d}, 7, 3},	      /* mov %rdi,x(%rip) */
		{{0x48, 0x8d, 0x15}, 7, 3},	      /* lea x(%rip),%rdx */
		{{0xff, 0x15}, 6, 2},		      /* call *x(%rip) */
		{{0x3e, 0xff, 0x25}, 7, 3},	      /* notrack jmp *x(%rip) */
		{{0xff, 0x35}, 6, 2},		      /* push x(%rip) */
		{{0x0f, 0x1f, 0x05}, 7, 3},	      /* nop x(%rip) */
		{{0xf0, 0x48, 0xff, 0x05}, 8, 4},     /* lock incq x(%rip) */
		{{0xc5, 0xf8, 0x28, 0x05}, 8, 4},     /* vmovaps x(%rip),%xmm0 */
		{{0x83, 0x3d, 0, 0, 0, 0, 7}, 7, 2},  /* cmpl $7,x(%rip) */
		{{0x83, 0x3d, 0, 0, 0, 0, 9}, 7, 2},  /* cmpl $9,x(%rip) */
		{{0xc7, 0x05, 0, 0, 0, 0, 1}, 10, 2}, /* movl $1,x(%rip) */
	};
	static const int32_t distances[] = {16, 0, -16, INT32_MAX, 0x12345678};
	struct insn_decoder *seasoned, *fresh;
	struct insn in, anew;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &seasoned), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all) * 10; i++) {
		uint8_t bytes[12], length = all[i / 10].length;

		memcpy(bytes, all[i / 10].bytes, sizeof(bytes));
		memcpy(bytes + all[i / 10].distance_at, &distances[i % 5], sizeof(*distances));
		assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &fresh), 0);
		assert_true(insn_decode(seasoned, bytes, length, &in));
		assert_true(insn_decode(fresh, bytes, length, &anew));
		assert_memory_equal(&in, &anew, sizeof(in));
		assert_false(insn_decode(seasoned, bytes, length - 1, &in));
		insn_decoder__free(fresh);
	}
	insn_decoder__free(seasoned);
}

static void what_is_spared_is_not_remembered(void **state)
{
	static const uint8_t call[] = {0xe8, 0x10, 0x00, 0x00, 0x00};
	static const uint8_t indirect[] = {0xff, 0xd0}; /* call *%rax */
	static const uint8_t push[] = {0x55};
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct insn_decoder *d;
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &d), 0);
	assert_true(insn_decode(d, nop5, sizeof(nop5), &in) && in.probeable);
	insn_decoder__spare_nop5(d);
	assert_true(insn_decode(d, nop5, sizeof(nop5), &in) && !in.probeable);
	assert_true(insn_decode(d, call, sizeof(call), &in) && in.probeable);
	assert_true(insn_decode(d, indirect, sizeof(indirect), &in) && in.probeable);
	insn_decoder__spare_calls(d);
	assert_true(insn_decode(d, call, sizeof(call), &in) && !in.probeable);
	assert_true(insn_decode(d, indirect, sizeof(indirect), &in) && !in.probeable);
	assert_true(insn_decode(d, push, sizeof(push), &in) && in.probeable);
	insn_decoder__free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(what_is_remembered),
		cmocka_unit_test(what_is_remembered_has_its_own_distance),
		cmocka_unit_test(what_is_spared_is_not_remembered),
		cmocka_unit_test(xchg_r8_cannot_be_probed),
		cmocka_unit_test(vex_prefixes),
		cmocka_unit_test(stack_loaded_from_a_symbol),
		cmocka_unit_test(stack_loaded_conditionally),
		cmocka_unit_test(branch_distances),
		cmocka_unit_test(branches_of_a_kind),
		cmocka_unit_test(conditions),
		cmocka_unit_test(facts),
		cmocka_unit_test(what_may_become_a_call),
		cmocka_unit_test(loads_from_the_frame),
		cmocka_unit_test(near_returns),
		cmocka_unit_test(nop5_needs_a_new_kernel),
		cmocka_unit_test(nops_since_calls_have_ten_bytes),
		cmocka_unit_test(invalid_bytes),
	};

	return cmocka_run_group_tests(tests, setup, fixture_clean);
}
