// SPDX-License-Identifier: GPL-2.0-or-later
/* Files with the sections of Go programs, of each version's layout, assembled by hand. */
#include "elf_fixture.h"

#include <errno.h>

#include "symbol/go.h"
#include "unwind/go_pclntab.h"
#include "symbol/symtab.h"

#define PROGRAM "-nostdlib -static -no-pie"
#define LIBRARY "-shared -nostdlib" /* pointers are relocations */

/* Three functions of 16 bytes, which no symbol names; `before` is text that is not Go's. */
#define TEXT                                                                   \
	".text\n.globl _start\n.hidden _start\n_start: ret\n.p2align 4\n"      \
	".Lone: .skip 16,0x90\n.Ltwo: .skip 16,0x90\n.Lthree: .skip 16,0x90\n" \
	".Lend: ret\n"
#define NAMES                                   \
	".Lnone: .asciz \"main.cold\"\n"        \
	".Lntwo: .asciz \"main.(*T).Method\"\n" \
	".Lnthree: .asciz \"main.Map[...].func1\"\n"
#define TABLE(name)   ".section " name ",\"aw\"\n.Ltab:\n"
#define HEADER(magic) ".long " magic "\n.byte 0,0,1,8\n.quad 3\n"
/* Function table and records: addresses of `unit` bytes from `text`, names from `names`. */
#define FUNCS(unit, text, records, names)                                                          \
	unit " .Lone" text ", .Lrone-" records ", .Ltwo" text ", .Lrtwo-" records ", .Lthree" text \
	     ", .Lrthree-" records ", .Lend" text "\n"                                             \
	     ".Lrone: " unit " .Lone" text "\n.long .Lnone-" names "\n"                            \
	     ".Lrtwo: " unit " .Ltwo" text "\n.long .Lntwo-" names "\n"                            \
	     ".Lrthree: " unit " .Lthree" text "\n.long .Lnthree-" names "\n"

#define GO_1_2 \
	TEXT TABLE(".gopclntab") HEADER("0xfffffffb") FUNCS(".quad", "", ".Ltab", ".Ltab") NAMES
#define GO_1_16(before)                                                                      \
	TEXT ".section .go.buildinfo,\"aw\"\n.quad 0\n.section .data.rel.ro,\"aw\"\n" before \
	     ".Ltab: " HEADER("0xfffffffa") ".quad 0, .Lnames-.Ltab, 0, 0, 0, "              \
					    ".Lfuncs-.Ltab\n.Lnames:\n" NAMES                \
					    ".Lfuncs:\n" FUNCS(".quad", "", ".Lfuncs", ".Lnames")
#define GO_1_18_LIKE(magic, text)                                                         \
	TEXT TABLE(".gopclntab")                                                          \
		HEADER(magic) ".quad 0, " text                                            \
			      ", .Lnames-.Ltab, 0, 0, 0, .Lfuncs-.Ltab\n.Lnames:\n" NAMES \
			      ".Lfuncs:\n" FUNCS(".long", "-.Lone", ".Lfuncs", ".Lnames")
#define GO_1_18 GO_1_18_LIKE("0xfffffff0", ".Lone")
#define GO_1_20 GO_1_18_LIKE("0xfffffff1", ".Lone")
/* The start of the text is in another section. */
#define GO_1_26 \
	GO_1_18_LIKE("0xfffffff1", "0") ".section .go.module,\"aw\"\n.skip 176\n.quad .Lone\n"

static const char *const names[] = {"main.cold", "main.(*T).Method", "main.Map[...].func1"};

static void expect_functions(const char *source, const char *flags)
{
	struct elf_image *img;
	struct symtab *tab;
	int fd;

	compile("go", "go.s", source, flags);
	sh("strip go");
	img = open_path("go", &fd);
	assert_int_equal(symtab__load(img, "", &tab), 0);
	assert_string_equal(symtab__source(tab), ".gopclntab");
	assert_int_equal(symtab__count(tab), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct symbol *sym = symtab__at(tab, i);

		assert_string_equal(sym->name, names[i]);
		assert_int_equal(sym->size, 16);
		assert_int_equal(sym->kind, SYMBOL_FUNC);
		assert_int_equal(sym->piece_of, SYMTAB_NONE);
		assert_true(sym->is_go);
		assert_int_equal(sym->vaddr, symtab__at(tab, 0)->vaddr + 16 * i);
	}
	symtab__free(tab);
	close_image(img, fd);
}

static void stripped_programs(void **state)
{
	expect_functions(GO_1_2, PROGRAM);
	expect_functions(GO_1_16(""), PROGRAM);
	expect_functions(GO_1_16(".quad .Lone\n.quad 0x8010000fffffffa\n"), PROGRAM);
	expect_functions(GO_1_18, PROGRAM);
	expect_functions(GO_1_20, PROGRAM);
	expect_functions(GO_1_26, PROGRAM);
}

static void position_independent_programs(void **state)
{
	expect_functions(GO_1_2, LIBRARY);
	expect_functions(GO_1_16(""), LIBRARY);
	expect_functions(GO_1_16(".quad .Lone\n.quad 0x8010000fffffffa\n"), LIBRARY);
	expect_functions(GO_1_18, LIBRARY);
	expect_functions(GO_1_20, LIBRARY);
	expect_functions(GO_1_26, LIBRARY);
}

#define MARK(name) ".type " name ",@function\n" name ":\n"
#define FUNC(name) ".type " name ",@function\n" name ": .skip 16,0x90\n.size " name ",16\n"

/* Symbols come first, and in Go's part of the text "main.cold" is a function. */
static void symbols_beside(void **state)
{
	static const char source[] = ".text\n.globl _start\n_start: nop\n" FUNC("main") FUNC("c")
		FUNC("c.cold") MARK("runtime.text")
			FUNC("main.cold") ".Lgo_end: nop\n"
					  ".section .gopclntab,\"a\"\n" HEADER(
						  "0xfffffffb") ".quad main.cold, 0, "
								"main.cold+4, 0, main.cold+8, 0, "
								".Lgo_end\n.skip 64\n";
	struct elf_image *img;
	struct symtab *tab;
	unsigned seen = 0;
	int fd;

	compile("beside", "beside.s", source, PROGRAM);
	img = open_path("beside", &fd);
	assert_int_equal(symtab__load(img, "", &tab), 0);
	assert_string_equal(symtab__source(tab), ".symtab");
	for (size_t i = 0; i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);
		bool is_cold = !strcmp(sym->name, "c.cold"),
		     is_go = !strcmp(sym->name, "main.cold");

		assert_int_equal(sym->piece_of != SYMTAB_NONE, is_cold);
		assert_int_equal(sym->is_go, is_go);
		seen += is_cold + 2 * is_go;
	}
	assert_int_equal(seen, 3);
	symtab__free(tab);
	close_image(img, fd);
}

/* Without a table that can be read, all that the toolchain has linked may be Go's. */
static void damaged_table(void **state)
{
	static const char *const tables[] = {
		".long 0\n",
		HEADER("0xfffffff2") ".skip 256\n",
		HEADER("0xfffffffb"),
		".long 0xfffffffb\n.byte 0,0,1,8\n.quad 0x1000000000000000\n.skip 64\n",
		".long 0xfffffffa\n.byte 0,0,1,8\n.quad 3,0,0,0,0,0,-8\n.skip 64\n",
		".long 0xfffffff1\n.byte 0,0,1,8\n.quad 3,0,1,-1,0,0,0,64\n.skip 64\n",
		".long 0xfffffffb\n.byte 0,0,1,4\n.quad 1\n.skip 64\n",
	};
	static const char text[] = ".text\n.globl _start\n" FUNC("_start");

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		char source[1024];
		struct elf_image *img;
		struct symtab *tab;
		int fd, saved = hush();

		snprintf(source, sizeof(source), "%s.section .gopclntab,\"a\"\n%s", text,
			 tables[i]);
		compile("damaged", "damaged.s", source, PROGRAM);
		img = open_path("damaged", &fd);
		assert_int_equal(symtab__load(img, "", &tab), 0);
		unhush(saved);
		assert_int_equal(symtab__count(tab), 1);
		assert_true(symtab__at(tab, 0)->is_go);
		symtab__free(tab);
		close_image(img, fd);
	}
}

static void versions(void **state)
{
	assert_int_equal(go_minor_version("go1.19.8"), 19);
	assert_int_equal(go_minor_version("go1.21rc3"), 21);
	assert_int_equal(go_minor_version("go1.4"), 4);
	assert_int_equal(go_minor_version("devel go1.25-86db2a7 Thu Jan 9"), 25);
	assert_int_equal(go_minor_version("devel +b7a85e0003 Tue Oct 1"), -1);
	assert_int_equal(go_minor_version("go1."), -1);
	assert_int_equal(go_minor_version("go1.99999999999999999999"), 9999);
	assert_int_equal(go_minor_version("unknown"), -1);
	assert_int_equal(go_minor_version(""), -1);
}

static void memory_manager(void **state)
{
	assert_true(go_manages_memory("runtime.scanobject"));
	assert_true(go_manages_memory("runtime.(*mheap).freeSpan.func1"));
	assert_true(go_manages_memory("runtime.(*pallocBits).summarize"));
	assert_true(go_manages_memory("runtime.gcBgMarkWorker"));
	assert_false(go_manages_memory("runtime.mallocgc"));
	assert_false(go_manages_memory("runtime.mapassign_faststr"));
	assert_false(go_manages_memory("runtime.gopark"));
	assert_false(go_manages_memory("main.scan"));
	assert_false(go_manages_memory("runtime."));
	assert_false(go_manages_memory("scanobject"));
}

#define INFO "\n.section .go.buildinfo,\"aw\"\n.ascii \"\\xff Go buildinf:\"\n.byte 8\n"
#define TLSG(size)                                                                              \
	".section .tbss,\"awT\",@nobits\n.globl runtime.tlsg\n.type runtime.tlsg,@tls_object\n" \
	"runtime.tlsg: .skip 8\n.size runtime.tlsg,8\n.if " size "\n.skip " size "\n.endif\n"

static int layout_of(const char *source, const char *flags, bool strip, struct go_layout *layout)
{
	struct elf_image *img;
	int fd, err;

	compile("info", "info.s", source, flags);
	if (strip)
		sh("strip info");
	img = open_path("info", &fd);
	err = go_layout__of(img, layout);
	close_image(img, fd);
	return err;
}

/* A version as it is written since 1.18. */
static int layout_of_version(const char *version, struct go_layout *layout)
{
	char source[1024];

	snprintf(source, sizeof(source),
		 TEXT "\n.section .go.buildinfo,\"aw\"\n.ascii \"\\xff Go buildinf:\"\n"
		      ".byte 8,2\n.skip 16\n.byte %zu\n.ascii \"%s\"\n.byte 0\n",
		 strlen(version), version);
	return layout_of(source, PROGRAM, true, layout);
}

static void goids(void **state)
{
	static const struct {
		const char *version;
		uint32_t goid, curg; /* 0: not known */
	} known[] = {
		{"go1.9.7", 0, 0},	{"go1.18", 152, 192},	{"go1.22.12", 152, 192},
		{"go1.23.0", 160, 192}, {"go1.24.5", 160, 192}, {"go1.25.1", 152, 184},
		{"go1.26", 152, 184},	{"unknown", 0, 0},
	};
	struct go_layout layout;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		int err = layout_of_version(known[i].version, &layout);

		assert_int_equal(err, known[i].goid ? 0 : -ENOENT);
		if (!err)
			assert_int_equal(layout.goid_offset, known[i].goid);
		if (!err)
			assert_int_equal(layout.curg_offset, known[i].curg);
		if (!err)
			assert_int_equal(layout.g_tls_offset, -8);
	}
}

/* A version behind two pointers, which are relocations in position-independent programs. */
static void old_build_info(void **state)
{
	static const char source[] = TEXT INFO
		".byte 0\n.quad .Lstring, 0\n"
		".data\n.Lstring: .quad .Ltext, 8\n.section .rodata\n.Ltext: .ascii \"go1.16.2\"\n";
	struct go_layout layout;

	assert_int_equal(layout_of(source, PROGRAM, true, &layout), 0);
	assert_int_equal(layout.goid_offset, 152);
	assert_int_equal(layout_of(source, "-nostdlib -static-pie", true, &layout), 0);
	assert_int_equal(layout.goid_offset, 152);
}

static void thread_local_storage(void **state)
{
	static const char info[] = TEXT INFO ".byte 2\n.skip 16\n.byte 6\n.ascii \"go1.19\"\n";
	char source[2048];
	struct go_layout layout;

	/* Go's variable alone */
	snprintf(source, sizeof(source), "%s" TLSG("0"), info);
	assert_int_equal(layout_of(source, PROGRAM, true, &layout), 0);
	assert_int_equal(layout.g_tls_offset, -8);
	/* with others behind it: only its symbol tells where it is */
	snprintf(source, sizeof(source), "%s" TLSG("12"), info);
	assert_int_equal(layout_of(source, PROGRAM, false, &layout), 0);
	assert_int_equal(layout.g_tls_offset, -20);
	assert_int_equal(layout_of(source, PROGRAM, true, &layout), -ENOENT);
	/* aligned */
	snprintf(source, sizeof(source), "%s" TLSG("12") ".p2align 4\n", info);
	assert_int_equal(layout_of(source, PROGRAM, false, &layout), 0);
	assert_int_equal(layout.g_tls_offset, -32);
	/* a library's is anywhere */
	snprintf(source, sizeof(source), "%s" TLSG("0"), info);
	assert_int_equal(
		layout_of(source, "-shared -nostdlib -Wl,--no-as-needed -lc", false, &layout),
		-ENOENT);
}

static void not_go(void **state)
{
	struct go_layout layout;

	assert_int_equal(layout_of(TEXT, PROGRAM, false, &layout), -ENOENT);
	/* the section and nothing in it */
	assert_int_equal(
		layout_of(TEXT ".section .go.buildinfo,\"aw\"\n.byte 1\n", PROGRAM, false, &layout),
		-ENOENT);
	/* a length that leads out of it */
	assert_int_equal(layout_of(TEXT INFO ".byte 2\n.skip 16\n.byte 60\n.ascii \"go1.19\"\n",
				   PROGRAM, false, &layout),
			 -ENOENT);
	/* a pointer to nowhere */
	assert_int_equal(layout_of(TEXT INFO ".byte 0\n.quad -16, 0\n", PROGRAM, false, &layout),
			 -ENOENT);
}

static void use(struct elf_image *img)
{
	struct go_layout layout;
	struct symtab *tab;

	go_layout__of(img, &layout);
	if (symtab__load(img, "", &tab))
		return;
	for (size_t i = 0; i < symtab__count(tab); i++) {
		uint64_t offset;

		assert_true(elf_image__exec_offset(img, symtab__at(tab, i)->vaddr,
						   symtab__at(tab, i)->size, &offset));
	}
	symtab__free(tab);
}

static void mutants(void **state)
{
	static const char *const sources[] = {GO_1_2, GO_1_16(""), GO_1_20, GO_1_26};

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		compile("victim", "victim.s", sources[i], LIBRARY);
		sh("strip victim");
		for_each_mutant("victim", 1500, use);
		for_each_cut("victim", 61, use);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stripped_programs),
		cmocka_unit_test(position_independent_programs),
		cmocka_unit_test(symbols_beside),
		cmocka_unit_test(damaged_table),
		cmocka_unit_test(versions),
		cmocka_unit_test(memory_manager),
		cmocka_unit_test(goids),
		cmocka_unit_test(old_build_info),
		cmocka_unit_test(thread_local_storage),
		cmocka_unit_test(not_go),
		cmocka_unit_test(mutants),
	};

	return cmocka_run_group_tests_name("go", tests, fixture_make, fixture_clean);
}
