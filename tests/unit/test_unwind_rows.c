// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind rows: of real programs, each compared with what libdw makes of the same address; of
 * made-up and damaged ones, what must come of them. */
#include "elf_fixture.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>

#include "unwind/rows.h"
#include "util/search.h"
#include "wire.h"

#define RBX 3
#define RBP 6
#define RSP 7
#define RIP 16

/* The rule (WIRE_UNWIND_RULE()) at `vaddr`; WIRE_UNWIND_NONE where there is none. */
static uint32_t rule_at(const struct unwind_rows *r, uint64_t vaddr)
{
	size_t after;

	if (vaddr < r->base || vaddr - r->base > UINT32_MAX)
		return WIRE_UNWIND_NONE;
	after = LOWER_BOUND(r->cnt, i, r->rows[i].start <= vaddr - r->base);
	return after ? r->rows[after - 1].rule & ~WIRE_UNWIND_BEGINS : WIRE_UNWIND_NONE;
}

/* Whether the operations are one register and a displacement, which a load may follow. */
static bool is_base(const Dwarf_Op *ops, size_t cnt, int64_t *number, int64_t *offset, bool *loaded)
{
	*loaded = cnt == 2 && ops[1].atom == DW_OP_deref;
	if (cnt != 1 && !*loaded)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		*number = (int64_t)ops[0].number;
		*offset = (int64_t)ops[0].number2;
		return true;
	}
	*number = ops[0].atom - DW_OP_breg0;
	*offset = (int64_t)ops[0].number;
	return ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31;
}

/* Where libdw says that a register is, from the CFA on; false if that is not how it is told. */
static bool saved_at(Dwarf_Frame *frame, int number, int64_t *offset, bool *same, bool *undefined)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t cnt = 0;

	assert_int_equal(dwarf_frame_register(frame, number, mem, &ops, &cnt), 0);
	*same = !cnt && !ops;
	*undefined = !cnt && ops == mem;
	*offset = 0;
	if (*same || *undefined)
		return false;
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (cnt == 2 && ops[1].atom == DW_OP_plus_uconst)
		*offset = (int64_t)ops[1].number;
	return cnt == 1 || (cnt == 2 && ops[1].atom == DW_OP_plus_uconst);
}

/* The rule as libdw has it. Stubs' and what is computed otherwise: *other is set. */
static uint32_t libdw_rule(Dwarf_CFI *cfi, uint64_t vaddr, bool *other)
{
	int64_t number, offset, rbp_offset, ra_offset;
	bool loaded, same, undefined, rbp_saved, ra_saved, rbp_same, signal;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	uint32_t rule = WIRE_UNWIND_NONE;
	size_t cnt;

	*other = false;
	if (dwarf_cfi_addrframe(cfi, vaddr, &frame))
		return rule;
	assert_true(dwarf_frame_info(frame, NULL, NULL, &signal) == RIP);
	ra_saved = saved_at(frame, RIP, &ra_offset, &same, &undefined);
	rbp_saved = saved_at(frame, RBP, &rbp_offset, &rbp_same, &same);
	rbp_same |= same;
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &cnt), 0);
	if (undefined)
		rule = WIRE_UNWIND_RULE(WIRE_UNWIND_END, 0, 0);
	else if (signal || !is_base(ops, cnt, &number, &offset, &loaded) || loaded)
		*other = true;
	else if (ra_saved && ra_offset == -8 && (number == RSP || number == RBP || number == RBX) &&
		 (rbp_saved || rbp_same))
		rule = WIRE_UNWIND_RULE(number == RSP	? WIRE_UNWIND_RSP
					: number == RBP ? WIRE_UNWIND_RBP
							: WIRE_UNWIND_RBX,
					offset / 8, rbp_saved ? -rbp_offset / 8 : 0);
	free(frame);
	return rule;
}

struct tally {
	size_t rows, other, kinds[16];
};

static void compare_file(const char *path, struct tally *t)
{
	struct unwind_rows rows;
	struct elf_image *img;
	Dwarf_CFI *cfi;
	Elf *elf;
	int fd;

	img = open_path(path, &fd);
	assert_int_equal(unwind_rows__load(img, &rows), 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	*t = (struct tally){.rows = rows.cnt};
	for (size_t i = 0; i < rows.cnt; i++) {
		/* At its first and its last byte. */
		uint64_t at[] = {rows.base + rows.rows[i].start,
				 i + 1 < rows.cnt ? rows.base + rows.rows[i + 1].start - 1 : 0};

		if (i)
			assert_true(rows.rows[i].start > rows.rows[i - 1].start);
		for (size_t k = 0; k < 2 && at[k]; k++) {
			bool other;
			uint32_t rule = libdw_rule(cfi, at[k], &other),
				 ours = rows.rows[i].rule & ~WIRE_UNWIND_BEGINS;

			assert_int_equal(rule_at(&rows, at[k]), ours);
			if (!other && rule != ours)
				fail_msg("%s at 0x%lx: rule 0x%x, libdw has 0x%x", path,
					 (unsigned long)at[k], ours, rule);
			t->other += other;
		}
		t->kinds[WIRE_UNWIND_KIND(rows.rows[i].rule)]++;
	}
	assert_int_equal(rule_at(&rows, rows.base - 1), WIRE_UNWIND_NONE);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	unwind_rows__free(&rows);
	close_image(img, fd);
}

/* Programs of this machine. What libdw tells in other ways than by a register is rare. */
static void real_rows_are_libdws(void **state)
{
	static const char *const files[] = {"/usr/bin/python3",
					    "/lib/x86_64-linux-gnu/libc.so.6",
					    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					    "/lib64/ld-linux-x86-64.so.2",
					    "/usr/sbin/nginx",
					    "/proc/self/exe"};
	struct tally t;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK)) /* not every machine has all */
			continue;
		compare_file(files[i], &t);
		assert_true(t.rows > 100);
		assert_true(t.other < t.rows / 20);
		assert_true(t.kinds[WIRE_UNWIND_RSP] > t.rows / 2);
	}
	compare_file("/lib/x86_64-linux-gnu/libc.so.6", &t);
	assert_int_equal(t.kinds[WIRE_UNWIND_SIGNAL], 1); /* __restore_rt */
	assert_true(t.kinds[WIRE_UNWIND_END] >= 1);	  /* clone3 */
}

/* One function for each way to tell where a frame is; labels stand where they are asked for. */
static const char shapes[] =
	".text\n.globl shapes\n"
	".type shapes,@function\nshapes: .cfi_startproc\nr0: nop\n"
	".cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nr1: nop\n"
	".cfi_def_cfa_register rbp\nr2: nop\n.cfi_remember_state\n.cfi_def_cfa rsp, 8\n"
	".cfi_restore rbp\nr3: nop\n.cfi_restore_state\nr4: nop\n"
	".cfi_def_cfa rsp, 0x7fff8\nr5: nop\n.cfi_def_cfa rsp, 0x80000\nr6: nop\n"
	".cfi_def_cfa rsp, 12\nr7: nop\n.cfi_def_cfa rbx, 16\nr8: nop\n"
	".cfi_def_cfa r12, 16\nother: nop\n"
	/* DW_CFA_def_cfa_expression: *(rbp - 16); rbp at *rbp */
	".cfi_escape 0x0f, 3, 0x76, 0x70, 6\nr9: nop\n.cfi_escape 0x10, 6, 2, 0x76, 0\nr10: nop\n"
	".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22\n"
	"r11: nop\n.cfi_def_cfa rsp, 8\n.cfi_undefined rip\nr12: nop\n.cfi_endproc\n"
	".size shapes,.-shapes\n"
	"gap: .fill 64, 1, 0x90\n"
	".type signal,@function\nsignal: .cfi_startproc\n.cfi_signal_frame\n"
	".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\n"
	".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\nr13: nop\n"
	".cfi_escape 0x10, 16, 3, 0x77, 0xb0, 1\nr14: nop\n.cfi_endproc\n"
	".size signal,.-signal\n"
	".section .note.GNU-stack,\"\"\n";

static void shapes_are_told(void **state)
{
	static const uint32_t rules[] = {
		WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 1, 0),
		WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 2, 2),
		WIRE_UNWIND_RULE(WIRE_UNWIND_RBP, 2, 2),
		WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 1, 0),
		WIRE_UNWIND_RULE(WIRE_UNWIND_RBP, 2, 2),
		WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 0xffff, 2),
		WIRE_UNWIND_NONE, /* larger than there is room for */
		WIRE_UNWIND_NONE, /* no words */
		WIRE_UNWIND_RULE(WIRE_UNWIND_RBX, 2, 2),
		WIRE_UNWIND_NONE, /* another register */
		WIRE_UNWIND_NONE, /* rbp by the CFA, which it is needed for */
		WIRE_UNWIND_RULE(WIRE_UNWIND_AT_RBP, -2, 0),
		WIRE_UNWIND_NONE, /* a stub that has saved rbp */
		WIRE_UNWIND_RULE(WIRE_UNWIND_END, 0, 0),
	};
	struct unwind_rows rows;
	struct elf_image *img;
	uint64_t base;
	int fd;

	compile("shapes.so", "shapes.s", shapes, "-shared -nostdlib");
	img = open_path("shapes.so", &fd);
	assert_int_equal(unwind_rows__load(img, &rows), 0);
	base = rows.base;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rule_at(&rows, base + i) != rules[i] && i != 12)
			fail_msg("r%zu: 0x%x", i, rule_at(&rows, base + i));
	}
	assert_int_equal(rule_at(&rows, base + 12), WIRE_UNWIND_RULE(WIRE_UNWIND_STUB, 10, 0));
	assert_int_equal(rule_at(&rows, base + 14), WIRE_UNWIND_NONE);
	assert_int_equal(rule_at(&rows, base + 14 + 63), WIRE_UNWIND_NONE);
	assert_int_equal(rule_at(&rows, base + 14 + 64),
			 WIRE_UNWIND_RULE(WIRE_UNWIND_SIGNAL, 0, 0));
	assert_int_equal(rule_at(&rows, base + 14 + 65), WIRE_UNWIND_NONE);
	assert_int_equal(rule_at(&rows, base + 14 + 66), WIRE_UNWIND_NONE);
	unwind_rows__free(&rows);
	close_image(img, fd);
}

/* Go's table of 1.20, of four functions of 16 bytes: a frame whose rbp is saved by a move, one
 * whose rbp is pushed first, one that is the outermost, one that sets its stack pointer. */
#define GO_RECORD(function, depths, flags)                                  \
	".Lr" function ": .long .L" function " - .Lone, .Lname - .Lnames\n" \
	".long 0, 0, " depths ", 0, 0, 0, 0, 0\n.byte 0, " flags ", 0, 0\n"
#define GO_ENTRY(function) ".long .L" function " - .Lone, .Lr" function " - .Lfuncs\n"
static const char go[] =
	".text\n.globl _start\n.hidden _start\n_start: ret\n.p2align 4\n"
	".Lone: sub $0x18,%rsp\nmov %rbp,0x10(%rsp)\n.balign 16,0x90\n"
	".Ltwo: push %rbp\nmov %rsp,%rbp\n.balign 16,0x90\n"
	".Lthree: .skip 16,0x90\n.Lfour: .skip 16,0x90\n.Lend: ret\n"
	".section .gopclntab,\"a\"\n.Ltab: .long 0xfffffff1\n.byte 0,0,1,8\n"
	".quad 4, 0, .Lone, .Lnames - .Ltab, 0, 0, .Lpcs - .Ltab, .Lfuncs - .Ltab\n"
	".Lnames: .byte 0\n.Lname: .asciz \"main.f\"\n"
	".Lpcs: .byte 0, 2,4, 48,12, 0\n.Lpcs_two: .byte 2,1, 16,13, 15,2, 0\n.p2align 2\n"
	".Lfuncs:\n" GO_ENTRY("one") GO_ENTRY("two") GO_ENTRY("three")
		GO_ENTRY("four") ".long .Lend - .Lone\n" GO_RECORD("one", "1", "4")
			GO_RECORD("two", ".Lpcs_two - .Lpcs", "0") GO_RECORD("three", "1", "1")
				GO_RECORD("four", "1", "2");

static void gos_own_table(void **state)
{
	const struct {
		unsigned int from, to;
		uint32_t rule;
	} expected[] = {
		{0, 3, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 1, 0)},
		{4, 8, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 4, 0)},
		{9, 15, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 4, 2)},
		{16, 16, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 1, 0)},
		{17, 29, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 2, 2)},
		{30, 31, WIRE_UNWIND_RULE(WIRE_UNWIND_RSP, 1, 0)},
		{32, 47, WIRE_UNWIND_RULE(WIRE_UNWIND_END, 0, 0)},
		{48, 64, WIRE_UNWIND_NONE},
	};
	struct unwind_rows rows;
	struct elf_image *img;
	int fd;

	compile("go", "go.s", go, "-nostdlib -static -no-pie");
	img = open_path("go", &fd);
	assert_int_equal(unwind_rows__load(img, &rows), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_int_equal(rule_at(&rows, rows.base + expected[i].from), expected[i].rule);
		assert_int_equal(rule_at(&rows, rows.base + expected[i].to), expected[i].rule);
	}
	unwind_rows__free(&rows);
	close_image(img, fd);
}

static void files_without_tables(void **state)
{
	struct unwind_rows rows;
	struct elf_image *img;
	int fd;

	compile("bare.so", "bare.s", ".text\n.globl f\nf: ret\n", "-shared -nostdlib");
	img = open_path("bare.so", &fd);
	assert_int_not_equal(unwind_rows__load(img, &rows), 0);
	assert_int_equal(rule_at(&rows, 0x1000), WIRE_UNWIND_NONE);
	unwind_rows__free(&rows);
	close_image(img, fd);
}

/* Whatever comes of a damaged file, rows are in order. */
static void use_damaged(struct elf_image *img)
{
	struct unwind_rows rows;

	if (unwind_rows__load(img, &rows))
		return;
	for (size_t i = 1; i < rows.cnt; i++)
		assert_true(rows.rows[i].start > rows.rows[i - 1].start);
	assert_int_equal(rows.rows[rows.cnt - 1].rule, WIRE_UNWIND_NONE | WIRE_UNWIND_BEGINS);
	unwind_rows__free(&rows);
}

static void damage_is_survived(void **state)
{
	compile("shapes.so", "shapes.s", shapes, "-shared -nostdlib");
	for_each_mutant("shapes.so", 20000, use_damaged);
	for_each_cut("shapes.so", 16, use_damaged);
	compile("go", "go.s", go, "-nostdlib -static -no-pie");
	for_each_mutant("go", 20000, use_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_rows_are_libdws), cmocka_unit_test(shapes_are_told),
		cmocka_unit_test(gos_own_table),	cmocka_unit_test(files_without_tables),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests_name("unwind rows", tests, fixture_make, fixture_clean);
}
