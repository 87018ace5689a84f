// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions at functions' entries, and what our programs do in their place, as text. The table
 * is assembled at test time. */
#include "arch/arch.h"
#include "elf_fixture.h"
#include "wire.h"

/* Registers by their numbers. */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15, NONE };

#define LEFT_OUT	    .length = 0
#define DOES(TO, BASE, ...) .length = 1, .to = TO, .base = BASE, .index = NONE, __VA_ARGS__
#define BITS32		    .flags = WIRE_EMULATE_32

static const struct row {
	const char *text;
	struct wire_emulation does; /* length 0: it is left to the kernel; else its own is meant */
} table[] = {
	{"endbr64", {DOES(NONE, NONE, .flags = 0)}},
	{"mov %rsp,%rbp", {DOES(BP, SP, .flags = 0)}},
	{"mov %rdi,%rax", {DOES(AX, DI, .flags = 0)}},
	{".byte 0x48, 0x8b, 0xc7", {DOES(AX, DI, .flags = 0)}}, /* the other form of it */
	{"mov %r15,%r10", {DOES(R10, R15, .flags = 0)}},
	{"mov %edi,%eax", {DOES(AX, DI, BITS32)}},
	{"mov %r9d,%r11d", {DOES(R11, R9, BITS32)}},
	{"mov $5,%ebx", {DOES(BX, NONE, BITS32, .constant = 5)}},
	{"mov $-2,%rax", {DOES(AX, NONE, .constant = -2)}},
	{"movabs $0x123456789abcdef0,%r12", {DOES(R12, NONE, .constant = 0x123456789abcdef0)}},
	{"movslq %esi,%rax", {DOES(AX, SI, .flags = WIRE_EMULATE_SIGNED)}},
	{"lea 8(%rsp),%rax", {DOES(AX, SP, .constant = 8)}},
	{"lea -0x20(%rdi,%r9,8),%r13",
	 {.length = 1, .to = R13, .base = DI, .index = R9, .shift = 3, .constant = -0x20}},
	{"lea (,%rdx,4),%rax", {.length = 1, .to = AX, .base = NONE, .index = DX, .shift = 2}},
	{"lea (%rdi,%rsi),%eax",
	 {.length = 1, .to = AX, .base = DI, .index = SI, .flags = WIRE_EMULATE_32}},
	{"lea 0x1000(%rip),%rax",
	 {DOES(AX, NONE, .flags = WIRE_EMULATE_BY_IP, .constant = 0x1000)}},
	{"xor %eax,%eax", {DOES(AX, NONE, .flags = WIRE_EMULATE_32 | WIRE_EMULATE_ZERO)}},
	{"xor %r10,%r10", {DOES(R10, NONE, .flags = WIRE_EMULATE_ZERO)}},

	/* registers of arguments, which other profilers read behind us */
	{"mov %rsi,%rdi", {LEFT_OUT}},
	{"mov $1,%esi", {LEFT_OUT}},
	{"lea 8(%rdi),%rdx", {LEFT_OUT}},
	{"xor %ecx,%ecx", {LEFT_OUT}},
	{"mov %rax,%r8", {LEFT_OUT}},
	{"movslq %esi,%r9", {LEFT_OUT}},
	/* the stack pointer, behind which return probes are armed */
	{"sub $24,%rsp", {LEFT_OUT}},
	{"lea -0x80(%rsp),%rsp", {LEFT_OUT}},
	{"mov %rbp,%rsp", {LEFT_OUT}},
	/* memory */
	{"mov (%rdi),%rax", {LEFT_OUT}},
	{"mov %rax,(%rdi)", {LEFT_OUT}},
	{"movslq (%rdi),%rax", {LEFT_OUT}},
	{"xor (%rdi),%eax", {LEFT_OUT}},
	{"mov %fs:0x28,%rax", {LEFT_OUT}},
	{"movabs 0x123456789abcdef0,%rax", {LEFT_OUT}},
	/* parts of registers, and addresses of 32 bits */
	{"mov %di,%ax", {LEFT_OUT}},
	{"mov %dil,%al", {LEFT_OUT}},
	{"mov %ah,%bl", {LEFT_OUT}},
	{"lea 8(%edi),%rax", {LEFT_OUT}},
	{"lea 8(%eip),%rax", {LEFT_OUT}},
	{"lea 8(%rdi),%ax", {LEFT_OUT}},
	{"xor %ax,%ax", {LEFT_OUT}},
	{".byte 0x67, 0x48, 0x89, 0xf8", {LEFT_OUT}}, /* prefixes before mov %rdi,%rax */
	{".byte 0x66, 0x48, 0x89, 0xf8", {LEFT_OUT}},
	{".byte 0x48, 0x66, 0x89, 0xf8", {LEFT_OUT}},
	/* what is not among them */
	{"xor %ebx,%eax", {LEFT_OUT}},
	{"mov %ds,%eax", {LEFT_OUT}},
	{"mov %cr0,%rax", {LEFT_OUT}},
	{"add $1,%rax", {LEFT_OUT}},
	{"test %eax,%eax", {LEFT_OUT}},
	{"cmovz %rdi,%rax", {LEFT_OUT}},
	{"xchg %rax,%rbx", {LEFT_OUT}},
	{"movd %xmm0,%eax", {LEFT_OUT}},
	{"endbr32", {LEFT_OUT}},
	{"nop", {LEFT_OUT}},
	{"ret", {LEFT_OUT}},
	{"push %rbp", {LEFT_OUT}},
};

#define ROWS (sizeof(table) / sizeof(*table))

static uint8_t code[4096];
static uint32_t starts[ROWS + 1];

static void read_to(const char *name, void *to, size_t size)
{
	size_t len;
	uint8_t *bytes = read_bytes(name, &len);

	assert_true(len <= size);
	memcpy(to, bytes, len);
	free(bytes);
}

static int setup(void **state)
{
	FILE *f;

	if (fixture_make(state))
		return -1;
	f = fopen("emul.s", "w");
	assert_non_null(f);
	for (size_t i = 0; i < ROWS; i++)
		fprintf(f, ".Lrow%zu: %s\n", i, table[i].text);
	fprintf(f, ".Lrow%zu:\n.section starts,\"a\"\n", ROWS);
	for (size_t i = 0; i <= ROWS; i++)
		fprintf(f, ".long .Lrow%zu-.Lrow0\n", i);
	assert_int_equal(fclose(f), 0);
	sh("gcc -c -o emul.o emul.s && objcopy -O binary -j .text emul.o code && "
	   "objcopy -O binary -j starts emul.o starts");
	read_to("code", code, sizeof(code));
	read_to("starts", starts, sizeof(starts));
	return 0;
}

static void describe(const struct wire_emulation *e, char *text, size_t size)
{
	snprintf(text, size, "length %u, %u = %u + (%u << %u) + %lld, flags %u, at %u", e->length,
		 e->to, e->base, e->index, e->shift, (long long)e->constant, e->flags,
		 e->page_offset);
}

static void every_row(void **state)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint32_t length = starts[i + 1] - starts[i];
		struct wire_emulation found = {0}, expected = table[i].does;
		char text[128], other[128];

		if (!arch_x86_64.emulation(code + starts[i], length, &found))
			found = (struct wire_emulation){0};
		else if (expected.length)
			expected.length = length;
		describe(&found, text, sizeof(text));
		describe(&expected, other, sizeof(other));
		if (strcmp(text, other))
			fail_msg("%s: %s; expected %s", table[i].text, text, other);
		/* cut short it is none */
		for (uint32_t len = 0; len < length; len++)
			assert_false(arch_x86_64.emulation(code + starts[i], len, &found) &&
				     found.length > len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
	};

	return cmocka_run_group_tests(tests, setup, fixture_clean);
}
