// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of code without symbols: each rule on code made for it, and compilers' own. */
#include "elf_fixture.h"

#include <elf.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "symbol/symtab.h"

static struct elf_image *full_img, *bare_img;
static struct symtab *full, *bare;
static int full_fd, bare_fd;

/* A range of .eh_frame. */
#define RANGE(name, code)                                                                         \
	".type " name ",@function\n" name ": .cfi_startproc\n" code "\n.cfi_endproc\n.size " name \
	",.-" name "\n"

/* All in one: who calls, points or jumps to what decides. */
static const char rules[] = ".text\n" RANGE("called", "ret") ".p2align 4\n" RANGE("pointed", "ret")
	/* jumps into the piece and is jumped back into */
	RANGE("parted", "test %edi, %edi\n je parted.cold\n 1: ret")
		RANGE("parted.cold", "nop\n jmp 1b")
	/* the frame is set up where it begins */
	RANGE("framed", "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n test %edi, %edi\n"
			" js framed.cold\n pop %rbx\n.cfi_def_cfa_offset 8\n ret")
		RANGE("framed.cold",
		      ".cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n call called\n ud2")
	/* by a conditional jump alone, with no frame */
	RANGE("leaf", "test %edi, %edi\n js leaf.cold\n ret")
		RANGE("leaf.cold", "xor %eax, %eax\n ret")
	/* a switch leads to its piece */
	RANGE("switched", "lea table(%rip), %rdx\n movslq (%rdx,%rdi,4), %rax\n add %rdx, %rax\n"
			  " jmp *%rax\n 2: ret") RANGE("switched.cold", "xor %eax, %eax\n ret")
	/* tail calls from two, and from one but to a function's place */
	RANGE("first", "jmp shared") RANGE("second", "jmp shared") RANGE("shared", "ret")
		RANGE("third", "jmp alone") ".p2align 4\n" RANGE("alone", "ret")
	/* a tail call from one, not to a function's place, but it has a piece of its own */
	RANGE("fourth", "jmp whole") RANGE("whole", "test %edi, %edi\n je whole.cold\n 4: ret")
		RANGE("whole.cold", "nop\n jmp 4b")
	/* without a range: called, and what that calls */
	".type bare,@function\nbare: test %edi, %edi\n je 3f\n call barer\n 3: ret\n.size "
	"bare,.-bare\n"
	".type barer,@function\nbarer: ret\n.size barer,.-barer\n" RANGE("unused", "ret")
		RANGE("stub", "jmp *pointer(%rip)\n xchg %ax, %ax") ".globl _start\n" RANGE(
			"_start",
			".cfi_undefined rip\n call called\n call parted\n call framed\n "
			"call leaf\n"
			" call switched\n call first\n call second\n call third\n call "
			"fourth\n call bare\n hlt") ".data\npointer: .quad pointed\n"
						    ".section .rodata\n.p2align 2\ntable: .long "
						    "2b-table, switched.cold-table, 2b-table\n"
						    ".section .note.GNU-stack,\"\"\n";

static void load(const char *name)
{
	char path[64];

	sh("strip -o %s.bare %s", name, name);
	snprintf(path, sizeof(path), "%s.bare", name);
	full_img = open_path(name, &full_fd);
	bare_img = open_path(path, &bare_fd);
	assert_int_equal(symtab__load(full_img, "", &full), 0);
	assert_int_equal(symtab__load(bare_img, "", &bare), 0);
}

static void unload(void)
{
	symtab__free(full);
	symtab__free(bare);
	close_image(full_img, full_fd);
	close_image(bare_img, bare_fd);
}

static const struct symbol *at(const struct symtab *tab, uint64_t vaddr)
{
	for (size_t i = 0; i < symtab__count(tab); i++) {
		if (symtab__at(tab, i)->vaddr == vaddr)
			return symtab__at(tab, i);
	}
	return NULL;
}

/* The symbol in the stripped file of the function that is `name` in the other. */
static const struct symbol *found(const char *name)
{
	for (size_t i = 0; i < symtab__count(full); i++) {
		if (!strcmp(symtab__at(full, i)->name, name))
			return at(bare, symtab__at(full, i)->vaddr);
	}
	fail_msg("no %s", name);
	return NULL;
}

static bool is_function(const struct symbol *sym)
{
	return sym && sym->kind == SYMBOL_FUNC && sym->piece_of == SYMTAB_NONE;
}

static void assert_piece(const char *piece, const char *whole)
{
	const struct symbol *sym = found(piece);

	assert_non_null(sym);
	assert_int_not_equal(sym->piece_of, SYMTAB_NONE);
	assert_ptr_equal(symtab__at(bare, sym->piece_of), found(whole));
}

static void check_rules(const char *flags)
{
	static const char *const functions[] = {
		"called", "pointed", "parted", "framed", "leaf",  "switched", "first", "second",
		"shared", "third",   "alone",  "fourth", "whole", "bare",     "barer", "unused"};

	sh("gcc -nostdlib %s -o rules rules.s", flags);
	load("rules");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const struct symbol *sym = found(functions[i]);
		char name[32];

		if (!is_function(sym))
			fail_msg("%s is not found", functions[i]);
		snprintf(name, sizeof(name), "func_0x%lx", (unsigned long)sym->vaddr);
		assert_string_equal(sym->name, name);
		assert_true(sym->nameless && sym->size);
	}
	assert_piece("parted.cold", "parted");
	assert_piece("framed.cold", "framed");
	assert_piece("leaf.cold", "leaf");
	assert_piece("whole.cold", "whole");
	assert_piece("switched.cold", "switched");
	assert_null(found("stub"));
	assert_null(found("_start"));
	unload();
}

static void rules_decide(void **state)
{
	write_bytes("rules.s", rules, sizeof(rules) - 1);
	check_rules("-static -no-pie");
	check_rules("-static-pie");
	check_rules("-pie");
}

/* A function that nothing but a pointer leads to, beside a number, 0x2000, which would be an
 * address in the middle of another one: of a file that is loaded anywhere it is no address. */
static void numbers_beside_pointers_stay_numbers(void **state)
{
	static const char code[] =
		".data\n.quad 0x2000, pointed, 0x2000\n"
		".section .note.GNU-stack,\"\"\n"
		".text\n.globl _start\n" RANGE("long", ".skip 0x4000, 0x90\n ret")
			RANGE("pointed", "ret")
				RANGE("_start", ".cfi_undefined rip\n call long\n hlt");

	write_bytes("numbers.s", code, sizeof(code) - 1);
	sh("gcc -nostdlib -pie -o numbers numbers.s");
	load("numbers");
	assert_true(found("long")->vaddr < 0x2000);
	assert_true(is_function(found("pointed")));
	unload();
}

/* Names that are there stay. */
static void exported_names_stay(void **state)
{
	const struct symbol *sym;

	write_text("export.c", "__attribute__((noinline)) static int own(int a) { return a * 3; }\n"
			       "int known(int a) { return own(a) + own(a + 1); }\n");
	sh("gcc -O2 -fno-ipa-cp -shared -fPIC -nostdlib -o export export.c");
	load("export");
	sym = found("known");
	assert_non_null(sym);
	assert_string_equal(sym->name, "known");
	assert_false(sym->nameless);
	sym = found("own");
	assert_true(is_function(sym) && sym->nameless);
	assert_non_null(strstr(symtab__source(bare), ".dynsym + .eh_frame"));
	unload();
}

/* Functions that nobody calls, and that jump to the same range: that of the linker's stubs. */
static void tail_calls_of_imports_join_nothing(void **state)
{
	write_text("imports.c", "#include <stdlib.h>\n"
				"void give(void *p) { free(p); }\n"
				"void give_back(char *p) { free(p - 8); }\n"
				"void *take(void *p) { return realloc(p, 8); }\n"
				"int main(void) { return 0; }\n");
	for (int i = 0; i < 2; i++) {
		sh("%s -O2 -o imports imports.c", i ? "clang" : "gcc");
		load("imports");
		assert_true(is_function(found("give")));
		assert_true(is_function(found("give_back")));
		assert_true(is_function(found("take")));
		unload();
	}
}

/* Pieces, tables and tail calls as compilers make them: how many functions are found; none may be
 * found that is none. */
static void check_compiler(const char *command)
{
	size_t want = 0, got = 0;

	sh("%s -o made code.cpp", command);
	load("made");
	for (size_t i = 0; i < symtab__count(full); i++) {
		const struct symbol *sym = symtab__at(full, i);

		if (sym->kind != SYMBOL_FUNC || sym->piece_of != SYMTAB_NONE || !sym->size ||
		    !strcmp(sym->name, "_start"))
			continue;
		want++;
		got += is_function(at(bare, sym->vaddr));
	}
	for (size_t i = 0; i < symtab__count(bare); i++) {
		const struct symbol *sym = symtab__at(bare, i), *truth = at(full, sym->vaddr);

		if (is_function(sym) &&
		    !(truth && truth->kind == SYMBOL_FUNC && truth->piece_of == SYMTAB_NONE))
			fail_msg("%s: %s is no function", command, sym->name);
	}
	if (got * 100 < want * 98)
		fail_msg("%s: %zu of %zu functions", command, got, want);
	unload();
}

static void write_code(void)
{
	FILE *f = fopen("code.cpp", "w");

	assert_non_null(f);
	fprintf(f, "#include <cstdlib>\n#include <stdexcept>\nvolatile int v;\n"
		   "#define NI __attribute__((noinline))\n");
	for (int i = 0; i < 60; i++)
		fprintf(f,
			"NI static int part%d(int a) { if (__builtin_expect(a == v, 0)) { v = %d; "
			"if (v == 3) abort(); throw std::runtime_error(\"x\"); }\n"
			" switch (a) { case 0: return v; case 1: return v * 3; case 2: v = a; "
			"return 5;"
			" case 3: return v + %d; case 4: return v ^ a; case 9: v++; abort();\n"
			" default: return a; } }\n"
			"NI int tail%d(int a) { v = a; return part%d(a + 1); }\n",
			i, i, i, i, i);
	fprintf(f, "int main() { int s = 0; try {\n");
	for (int i = 0; i < 60; i++)
		fprintf(f, "s += tail%d(v); s += part%d(s);\n", i, i);
	fprintf(f, "} catch (std::exception &) { s++; } return s & 1; }\n");
	assert_int_equal(fclose(f), 0);
}

static void compilers_are_understood(void **state)
{
	write_code();
	check_compiler("g++ -O2");
	check_compiler("g++ -O2 -fno-pie -no-pie");
	check_compiler("g++ -O2 -fcf-protection=full");
	check_compiler("g++ -O3 -flto");
	check_compiler("clang++ -O2");
	check_compiler("clang++ -O2 -fno-pie -no-pie");
}

#define MANY 10000 /* functions, and as many cold pieces */

/*
 * Ranges that one thread reads decide on ranges that another reads: f1 is called by f5001, jumps to
 * f3334, and its cold piece c1 lies in front of all functions. Odd pieces are known by who jumps to
 * them, even ones, which two functions jump to, by where they jump to.
 */
static void write_many(void)
{
	FILE *f = fopen("many.s", "w");

	assert_non_null(f);
	fprintf(f, ".text\n");
	for (int i = 1; i < MANY; i += 2)
		fprintf(f, RANGE("c%d", "nop\n ud2"), i, i, i, i);
	for (int i = 0; i < MANY; i++)
		fprintf(f,
			RANGE("f%d", "test %%edi, %%edi\n js c%d\n jz c%d\n"
				     "b%d: sub $8, %%rsp\n.cfi_def_cfa_offset 16\n call f%d\n"
				     "add $8, %%rsp\n.cfi_def_cfa_offset 8\n jmp f%d"),
			i, i, i, i & ~1, i, (i + MANY / 2) % MANY, (i + MANY / 3) % MANY, i, i);
	for (int i = 0; i < MANY; i += 2)
		fprintf(f, RANGE("c%d", "nop\n jmp b%d"), i, i, i, i, i);
	fprintf(f, ".globl _start\n_start: call f0\n hlt\n.section .note.GNU-stack,\"\"\n");
	assert_int_equal(fclose(f), 0);
}

static void check_many(void)
{
	char name[16], piece[16];

	load("many");
	for (int i = 0; i < MANY; i += 997) {
		snprintf(name, sizeof(name), "f%d", i);
		snprintf(piece, sizeof(piece), "c%d", i);
		assert_true(is_function(found(name)));
		assert_piece(piece, name);
	}
	unload();
}

static void threads_make_no_difference(void **state)
{
	cpu_set_t all, one;

	write_many();
	sh("gcc -nostdlib -static -no-pie -o many many.s");
	check_many();
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_many();
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* A million functions, each called once, of code without unwind tables. */
static const char million[] = ".text\n.p2align 4\nfuncs: .fill 16 << 20, 1, 0xc3\n" RANGE(
	"between",
	"ret") ".type caller,@function\ncaller: .cfi_startproc\n.set at, 0\n"
	       ".rept 1000000\n call funcs + at\n .set at, at + 16\n.endr\n ret\n.cfi_endproc\n"
	       ".section .note.GNU-stack,\"\"\n";

/* In a file with as many sections as there can be: to go through all for each takes minutes. */
static void sections_are_gone_through_once(void **state)
{
	enum { CNT = 60000 };
	const Elf64_Shdr any = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_size = 1};
	const struct rlimit cpu = {30, 30};
	struct symtab *tab;
	struct elf_image *img;
	int fd, status;
	size_t len;
	uint8_t *bytes;
	Elf64_Ehdr *eh;
	pid_t pid;

	compile("libmillion.so", "million.s", million, "-shared -nostdlib -s");
	bytes = read_bytes("libmillion.so", &len);
	bytes = realloc(bytes, len + CNT * sizeof(any));
	assert_non_null(bytes);
	for (size_t i = 0; i < CNT; i++)
		memcpy(bytes + len + i * sizeof(any), &any, sizeof(any));
	eh = (Elf64_Ehdr *)bytes;
	eh->e_shoff = len;
	eh->e_shnum = CNT;
	eh->e_shstrndx = 0;
	write_bytes("libmillion.so", bytes, len + CNT * sizeof(any));
	free(bytes);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CPU, &cpu);
		img = open_path("libmillion.so", &fd);
		_exit(symtab__load(img, "", &tab) || symtab__count(tab) < 900000);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x", status);
}

static void read_all(struct elf_image *img)
{
	struct symtab *tab = NULL;

	if (!symtab__load(img, "", &tab))
		for (size_t i = 0; i < symtab__count(tab); i++)
			assert_true(symtab__at(tab, i)->kind <= SYMBOL_NOTYPE);
	symtab__free(tab);
}

static void damaged_files(void **state)
{
	write_bytes("rules.s", rules, sizeof(rules) - 1);
	sh("gcc -nostdlib -static-pie -s -o damaged rules.s");
	for_each_mutant("damaged", 3000, read_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_decide),
		cmocka_unit_test(numbers_beside_pointers_stay_numbers),
		cmocka_unit_test(exported_names_stay),
		cmocka_unit_test(tail_calls_of_imports_join_nothing),
		cmocka_unit_test(compilers_are_understood),
		cmocka_unit_test(threads_make_no_difference),
		cmocka_unit_test(sections_are_gone_through_once),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests_name("eh_functions", tests, fixture_make, fixture_clean);
}
