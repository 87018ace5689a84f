// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_fixture.h"

#include <elf.h>
#include <lzma.h>
#include <sys/inotify.h>

#include "symbol/symtab.h"

#define LIBRARY	      "-shared -nostdlib -Wl,--build-id=0xabcdef0123456789"
#define BUILD_ID_PATH "usr/lib/debug/.build-id/ab/cdef0123456789.debug"

/* A function of `size` bytes of its own. */
#define FUNC(bind, name, size)                                                       \
	bind " " name "\n.type " name ",@function\n" name ":\n.skip " size ",0x90\n" \
	     ".size " name ",.-" name "\n"

static struct elf_image *img;
static struct symtab *tab;
static int fd;

static void load(const char *path, const char *root)
{
	img = open_path(path, &fd);
	assert_int_equal(symtab__load(img, root, &tab), 0);
}

static void load_hushed(const char *path, const char *root)
{
	int saved = hush();

	load(path, root);
	unhush(saved);
}

static void unload(void)
{
	symtab__free(tab);
	close_image(img, fd);
}

static const struct symbol *find(const char *name)
{
	size_t i;

	for (i = 0; i < symtab__count(tab); i++) {
		if (!strcmp(symtab__at(tab, i)->name, name))
			return symtab__at(tab, i);
	}
	return NULL;
}

static bool has_alias(const struct symbol *sym, const char *name)
{
	size_t i;

	for (i = 0; i < sym->aliases_cnt; i++) {
		if (!strcmp(sym->aliases[i], name))
			return true;
	}
	return false;
}

static void assert_piece(const char *piece, const char *whole)
{
	const struct symbol *sym = find(piece);

	assert_non_null(sym);
	assert_int_not_equal(sym->piece_of, SYMTAB_NONE);
	assert_string_equal(symtab__at(tab, sym->piece_of)->name, whole);
}

static void assert_sorted(const struct elf_image *image, const struct symtab *table)
{
	size_t i;

	for (i = 0; i < symtab__count(table); i++) {
		const struct symbol *sym = symtab__at(table, i);
		uint64_t off;

		assert_true(*sym->name);
		assert_true(!i || symtab__at(table, i - 1)->vaddr < sym->vaddr);
		assert_true(elf_image__exec_offset(image, sym->vaddr, sym->size, &off));
		assert_int_equal(off, sym->offset);
		if (sym->piece_of == SYMTAB_NONE)
			continue;
		assert_true(sym->piece_of < symtab__count(table));
		assert_int_equal(symtab__at(table, sym->piece_of)->piece_of, SYMTAB_NONE);
	}
}

static const char kinds[] = ".text\n" FUNC(".globl", "plain", "16") FUNC(
	".local", "hidden",
	"7") ".globl unsized\n.type unsized,@function\nunsized: nop\n"
	     ".globl chosen\n.type chosen,@gnu_indirect_function\nchosen:\n"
	     ".local chosen_ifunc\n.type chosen_ifunc,@function\nchosen_ifunc: ret\n"
	     ".size chosen_ifunc,1\n"
	     ".globl lone\n.type lone,@gnu_indirect_function\nlone: ret\n"
	     "label: nop\n"
	     ".Lkept_by_nothing: nop\n"
	     ".globl also_label\nfunc_at_label:\n.type func_at_label,@function\nalso_label: nop\n"
	     ".globl huge\n.type huge,@function\nhuge: nop\n.size huge,0x7fffffff\n"
	     ".globl absent\n.type absent,@function\ncall absent@PLT\n"
	     ".globl number\n.type number,@function\nnumber=0x1001\n"
	     ".data\n.globl object\n.type object,@object\nobject: .quad 0\n.size object,8\n"
	     ".globl func_in_data\n.type func_in_data,@function\nfunc_in_data: .quad 0\n";

static void test_kinds(void **state)
{
	const struct symbol *sym;
	uint64_t off;

	/* --keep-locals: or the assembler drops .L names itself. */
	compile("kinds", "kinds.s", kinds, LIBRARY " -Wa,-L");
	load("kinds", "");
	assert_sorted(img, tab);
	sym = find("plain");
	assert_int_equal(sym->size, 16);
	assert_int_equal(sym->kind, SYMBOL_FUNC);
	assert_int_equal(sym->piece_of, SYMTAB_NONE);
	assert_true(elf_image__exec_offset(img, sym->vaddr, 16, &off));
	assert_int_equal(sym->offset, off);
	assert_int_equal(find("hidden")->size, 7);
	assert_int_equal(find("unsized")->size, 0);
	sym = find("chosen_ifunc");
	assert_int_equal(sym->kind, SYMBOL_IFUNC);
	assert_true(has_alias(sym, "chosen"));
	assert_int_equal(find("lone")->kind, SYMBOL_IFUNC);
	assert_int_equal(find("label")->kind, SYMBOL_NOTYPE);
	sym = find("func_at_label");
	assert_int_equal(sym->kind, SYMBOL_FUNC);
	assert_true(has_alias(sym, "also_label"));
	sym = find("huge");
	assert_true(sym->size >= 1 && sym->size < 4096);
	assert_false(elf_image__exec_offset(img, sym->vaddr, sym->size + 1, &off));
	assert_null(find(".Lkept_by_nothing"));
	assert_null(find("absent"));
	assert_null(find("number"));
	assert_null(find("object"));
	assert_null(find("func_in_data"));
	assert_string_equal(symtab__source(tab), ".symtab + .dynsym");
	unload();
}

/* All names of the list at one address, bound as their first letter says. */
static void assert_preferred(const char *names, const char *want)
{
	char text[1024] = ".text\n", copy[256], *name, *save;
	size_t cnt = 0, len = strlen(text);

	strcpy(copy, names);
	for (name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		const char *bind = *name == 'g' ? ".globl" : *name == 'w' ? ".weak" : ".local";

		len += sprintf(text + len, "%s %s\n.type %s,@function\n%s:\n", bind, name + 1,
			       name + 1, name + 1);
		cnt++;
	}
	strcpy(text + len, "nop\n");
	compile("names", "names.s", text, LIBRARY);
	load("names", "");
	assert_int_equal(symtab__count(tab), 1);
	assert_string_equal(symtab__at(tab, 0)->name, want);
	assert_int_equal(symtab__at(tab, 0)->aliases_cnt, cnt - 1);
	unload();
}

static void test_preferred_name(void **state)
{
	assert_preferred("g__read g_read wread", "read");
	assert_preferred("lread gpread64", "pread64");
	assert_preferred("wread gpread64", "pread64");
	assert_preferred("lread wpread64", "pread64");
	assert_preferred("gcollate gcoll", "coll");
	assert_preferred("gbb gaa gcc", "aa");
	/* Not a piece but what follows an empty one. */
	assert_preferred("la.cold g__b", "__b");
}

static void test_pieces(void **state)
{
	static const char text[] = ".text\n.file \"a.c\"\n" FUNC(".globl", "foo", "4") FUNC(
		".local", "bar", "4") FUNC(".local", "foo.part.0", "4") FUNC(".local", "foo.isra.0",
									     "4")
		FUNC(".local", "foo.cold",
		     "4") ".size foo.__part.1,4\nfoo.__part.1: .fill 4,1,0x90\n" FUNC(".local",
										      "foo.__part",
										      "4")
			FUNC(".local", "bar.cold.1", "4") FUNC(".local", "foo.part.0.cold", "4")
				FUNC(".local", "lost.cold", "4") FUNC(".local", "_ZN1AC2Ev.cold",
								      "4")
					FUNC(".local", ".cold",
					     "4") ".globl _ZN1AC1Ev\n.type "
						  "_ZN1AC1Ev,@function\n_ZN1AC1Ev:"
						  "\n" FUNC(".globl", "_ZN1AC2Ev",
							    "4") ".local baz.cold\n.type "
								 "baz.cold,@function\n."
								 "size "
								 "baz.cold,0\nbaz.cold:"
								 "\n" FUNC(".globl", "__quux", "4")
									 FUNC(".globl", "baz", "4");
	const struct symbol *sym;

	compile("pieces", "pieces.s", text, LIBRARY);
	load("pieces", "");
	assert_sorted(img, tab);
	assert_piece("foo.cold", "foo");
	assert_piece("bar.cold.1", "bar");
	assert_piece("foo.part.0.cold", "foo.part.0");
	assert_piece("foo.__part.1", "foo"); /* a label by its type */
	assert_int_equal(find("foo.__part")->piece_of, SYMTAB_NONE);
	assert_piece("_ZN1AC2Ev.cold", "_ZN1AC1Ev");
	assert_int_equal(find("foo.part.0")->piece_of, SYMTAB_NONE);
	assert_int_equal(find("foo.isra.0")->piece_of, SYMTAB_NONE);
	assert_int_equal(find(".cold")->piece_of, SYMTAB_NONE);
	/* Entered by a jump from who knows where. */
	sym = find("lost.cold");
	assert_int_equal(sym->piece_of, SYMTAB_NONE);
	assert_int_equal(sym->kind, SYMBOL_NOTYPE);
	sym = find("__quux");
	assert_int_equal(sym->piece_of, SYMTAB_NONE);
	assert_true(has_alias(sym, "baz.cold"));
	unload();
}

/* Static functions of one name in several files: the addresses mislead, the order does not. */
static void test_pieces_of_namesakes(void **state)
{
	size_t i;

	for (i = 0; i < 3; i++) {
		char text[1024], path[16];

		snprintf(text, sizeof(text),
			 ".file \"%zu.c\"\n.section .text.%c,\"ax\"\n" FUNC(
				 ".local", "init",
				 "%zu") ".section .text.%c,\"ax\"\n" FUNC(".local", "init.cold",
									  "%zu"),
			 i, (char)('a' + i), 16 + i, (char)('z' - i), 4 + i);
		snprintf(path, sizeof(path), "%zu.s", i);
		write_text(path, text);
	}
	sh("gcc -o namesakes 0.s 1.s 2.s " LIBRARY);
	load("namesakes", "");
	for (i = 0; i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);

		if (strcmp(sym->name, "init.cold"))
			continue;
		assert_int_not_equal(sym->piece_of, SYMTAB_NONE);
		assert_int_equal(symtab__at(tab, sym->piece_of)->size - 16, sym->size - 4);
	}
	assert_int_equal(symtab__count(tab), 6);
	unload();
}

static void test_versions(void **state)
{
	static const char text[] = ".text\n" FUNC(".globl", "new_impl", "4")
		FUNC(".globl", "old_impl",
		     "8") ".symver new_impl,copy@@V_2,remove\n.symver old_impl,copy@V_1,remove\n";
	size_t i;

	write_text("map", "V_1 { global: copy; local: *; };\nV_2 { global: copy; } V_1;\n");
	compile("versions", "versions.s", text, LIBRARY " -Wl,--version-script=map");
	load("versions", "");
	assert_int_equal(symtab__count(tab), 2);
	for (i = 0; i < 2; i++) {
		assert_string_equal(symtab__at(tab, i)->name, "copy");
		assert_int_equal(symtab__at(tab, i)->aliases_cnt, 0);
	}
	unload();
}

/* "lib" with .symtab, "bare" stripped of it, "lib.debug" with what was taken away. */
static void make_stripped(const char *flags)
{
	compile("lib", "lib.s", ".text\n" FUNC(".globl", "shown", "4") FUNC(".local", "gone", "4"),
		flags);
	sh("objcopy --only-keep-debug lib lib.debug; strip -o bare lib");
}

static void expect_symbols(const char *path, const char *root, bool gone, const char *source)
{
	load_hushed(path, root);
	assert_non_null(find("shown"));
	if (gone)
		assert_non_null(find("gone"));
	else
		assert_null(find("gone"));
	assert_string_equal(symtab__source(tab), source);
	assert_sorted(img, tab);
	unload();
}

static void test_stripped(void **state)
{
	make_stripped(LIBRARY);
	expect_symbols("bare", "", false, ".dynsym");
	sh("gcc -shared -nostdlib -x c -o nothing /dev/null -s");
	load("nothing", "");
	assert_int_equal(symtab__count(tab), 0);
	assert_string_equal(symtab__source(tab), "");
	unload();
}

static void test_debug_file_by_build_id(void **state)
{
	char root[128], source[256];

	snprintf(root, sizeof(root), "%s/root", fixture_dir);
	snprintf(source, sizeof(source), "%s/" BUILD_ID_PATH " + .dynsym", root);
	make_stripped(LIBRARY);
	sh("mkdir -p root/usr/lib/debug/.build-id/ab");
	sh("cp lib.debug root/" BUILD_ID_PATH);
	expect_symbols("bare", root, true, source);
	expect_symbols("bare", "", false, ".dynsym");
	expect_symbols("lib", root, true, ".symtab + .dynsym");
	/* An absolute link is one within the root. */
	sh("mv root/" BUILD_ID_PATH " root/real; ln -s /real root/" BUILD_ID_PATH);
	expect_symbols("bare", root, true, source);
	sh("rm root/real; ln -s %s/lib.debug root/real", fixture_dir);
	expect_symbols("bare", root, false, ".dynsym");
	/* A wrong one, none at all, a pipe, a directory. */
	sh("rm root/" BUILD_ID_PATH "; gcc -o other lib.s -shared -nostdlib -Wl,--build-id=0xabcd;"
	   "objcopy --only-keep-debug other root/" BUILD_ID_PATH);
	expect_symbols("bare", root, false, ".dynsym");
	sh("cp bare root/" BUILD_ID_PATH);
	expect_symbols("bare", root, false, ".dynsym");
	sh("head -c 700 lib.debug > root/" BUILD_ID_PATH);
	expect_symbols("bare", root, false, ".dynsym");
	sh("rm root/" BUILD_ID_PATH "; mkfifo root/" BUILD_ID_PATH);
	expect_symbols("bare", root, false, ".dynsym");
	sh("rm root/" BUILD_ID_PATH "; mkdir root/" BUILD_ID_PATH);
	expect_symbols("bare", root, false, ".dynsym");
	expect_symbols("bare", "/nonexistent", false, ".dynsym");
	sh("rm -r root");
}

static void test_debug_file_by_link(void **state)
{
	char path[128], root[128], source[256];

	make_stripped("-shared -nostdlib -Wl,--build-id=none");
	sh("objcopy --add-gnu-debuglink=lib.debug bare");
	expect_symbols("./bare", "", true, "./lib.debug + .dynsym");
	sh("mkdir .debug; mv lib.debug .debug");
	expect_symbols("bare", "", true, "./.debug/lib.debug + .dynsym");
	/* The checksum. */
	sh("echo >>.debug/lib.debug");
	expect_symbols("bare", "", false, ".dynsym");
	sh("rm -r .debug; objcopy --only-keep-debug lib lib.debug");

	/* Below the debug directory of a root that the path already begins with, or does not. */
	snprintf(path, sizeof(path), "%s/root/opt/bare", fixture_dir);
	snprintf(root, sizeof(root), "%s/root", fixture_dir);
	snprintf(source, sizeof(source), "%s/usr/lib/debug/opt/lib.debug + .dynsym", root);
	sh("mkdir -p root/opt root/usr/lib/debug/opt; cp bare root/opt");
	sh("mv lib.debug root/usr/lib/debug/opt");
	expect_symbols(path, root, true, source);
	sh("rm -r root");
}

static void test_debug_link_is_a_file_name(void **state)
{
	static const char *const names[] = {"../lib.debug", "/etc/passwd", "..", "",
					    "sub/lib.debug"};
	size_t i;

	make_stripped("-shared -nostdlib -Wl,--build-id=none");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char link[64] = {0};

		strcpy(link, names[i]);
		write_bytes("link", link, ((strlen(link) + 4) & ~3ul) + 4);
		sh("objcopy --add-section .gnu_debuglink=link bare linked");
		expect_symbols("linked", "", false, ".dynsym");
	}
	/* No NUL, and no room for the checksum. */
	write_text("link", "lib.debug");
	sh("objcopy --add-section .gnu_debuglink=link bare linked");
	expect_symbols("linked", "", false, ".dynsym");
}

/* Opening a FIFO lets its writer go on; opening a device may do more than that. */
static void test_debug_link_to_a_fifo(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;

	make_stripped("-shared -nostdlib -Wl,--build-id=none");
	sh("objcopy --add-gnu-debuglink=lib.debug bare && rm lib.debug && mkfifo lib.debug");
	assert_true(watch >= 0 && inotify_add_watch(watch, "lib.debug", IN_OPEN) >= 0);
	expect_symbols("./bare", "", false, ".dynsym");
	assert_int_equal(read(watch, &event, sizeof(event)), -1);
	sh(": <>lib.debug"); /* the watch sees what is opened */
	assert_int_equal(read(watch, &event, sizeof(event)), sizeof(event));
	close(watch);
	sh("rm lib.debug");
}

static void add_mini_debug(const uint8_t *bytes, size_t len)
{
	size_t cap = lzma_stream_buffer_bound(len), packed_len = 0;
	uint8_t *packed = malloc(cap);

	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, len, packed,
						 &packed_len, cap),
			 LZMA_OK);
	write_bytes("packed", packed, packed_len);
	free(packed);
	sh("objcopy --add-section .gnu_debugdata=packed bare mini");
}

static void test_mini_debug(void **state)
{
	uint8_t *bytes;
	size_t len;

	make_stripped(LIBRARY);
	bytes = read_bytes("lib.debug", &len);
	add_mini_debug(bytes, len);
	free(bytes);
	expect_symbols("mini", "", true, ".gnu_debugdata + .dynsym");
	/* Cut, no xz at all, no ELF in it, far too much of it. */
	sh("head -c 100 packed >cut; objcopy --add-section .gnu_debugdata=cut bare mini");
	expect_symbols("mini", "", false, ".dynsym");
	sh("objcopy --add-section .gnu_debugdata=lib.s bare mini");
	expect_symbols("mini", "", false, ".dynsym");
	add_mini_debug((const uint8_t *)"hello", 5);
	expect_symbols("mini", "", false, ".dynsym");
	bytes = calloc(1, 80 << 20);
	add_mini_debug(bytes, 80 << 20);
	free(bytes);
	expect_symbols("mini", "", false, ".dynsym");
}

static void test_without_sections(void **state)
{
	static const char *const styles[] = {"gnu", "sysv", "both"};
	char flags[128];
	size_t i, len;

	for (i = 0; i < 3; i++) {
		uint8_t *bytes;
		Elf64_Ehdr *eh;

		snprintf(flags, sizeof(flags), LIBRARY " -Wl,--hash-style=%s", styles[i]);
		make_stripped(flags);
		bytes = read_bytes("bare", &len);
		eh = (Elf64_Ehdr *)bytes;
		len = eh->e_shoff;
		eh->e_shoff = eh->e_shnum = eh->e_shstrndx = 0;
		write_bytes("sstripped", bytes, len);
		free(bytes);
		expect_symbols("sstripped", "", false, ".dynsym");
	}
}

static Elf64_Shdr *section(uint8_t *bytes, uint32_t type)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + eh->e_shoff);

	while (sh->sh_type != type)
		sh++;
	return sh;
}

static void damage_link(uint8_t *bytes, size_t len)
{
	section(bytes, SHT_SYMTAB)->sh_link = 0x10000;
}

static void damage_size(uint8_t *bytes, size_t len)
{
	section(bytes, SHT_SYMTAB)->sh_size = UINT64_MAX / 24 * 24;
}

static void damage_offset(uint8_t *bytes, size_t len)
{
	section(bytes, SHT_SYMTAB)->sh_offset = UINT64_MAX - 8;
}

static void damage_entsize(uint8_t *bytes, size_t len)
{
	section(bytes, SHT_SYMTAB)->sh_entsize = 0;
}

static void damage_names(uint8_t *bytes, size_t len)
{
	Elf64_Shdr *sh = section(bytes, SHT_SYMTAB);
	Elf64_Sym *sym = (Elf64_Sym *)(bytes + sh->sh_offset);
	size_t i;

	for (i = 0; i < sh->sh_size / sizeof(*sym); i++)
		sym[i].st_name = UINT32_MAX - i;
}

static void test_damaged_symtab(void **state)
{
	static void (*const damages[])(uint8_t *, size_t) = {
		damage_link, damage_size, damage_offset, damage_entsize, damage_names,
	};
	size_t i, len;

	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		uint8_t *bytes;

		make_stripped(LIBRARY);
		bytes = read_bytes("lib", &len);
		damages[i](bytes, len);
		write_bytes("damaged", bytes, len);
		free(bytes);
		expect_symbols("damaged", "", false, ".dynsym");
	}
}

static void use(struct elf_image *image)
{
	struct symtab *table;

	if (symtab__load(image, "", &table))
		return;
	assert_sorted(image, table);
	symtab__free(table);
}

static void test_mutants(void **state)
{
	compile("victim", "kinds.s", kinds, LIBRARY);
	for_each_mutant("victim", 3000, use);
	for_each_cut("victim", 37, use);
	make_stripped(LIBRARY);
	for_each_mutant("bare", 2000, use);
}

/* Symbol tables of a debug file and of mini debug info come from as far as the program. */
static void test_mutants_of_mini_debug(void **state)
{
	uint8_t *bytes;
	size_t len;

	make_stripped(LIBRARY);
	bytes = read_bytes("lib.debug", &len);
	add_mini_debug(bytes, len);
	free(bytes);
	for_each_mutant("mini", 1000, use);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_preferred_name),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_pieces_of_namesakes),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_debug_file_by_build_id),
		cmocka_unit_test(test_debug_file_by_link),
		cmocka_unit_test(test_debug_link_is_a_file_name),
		cmocka_unit_test(test_debug_link_to_a_fifo),
		cmocka_unit_test(test_mini_debug),
		cmocka_unit_test(test_without_sections),
		cmocka_unit_test(test_damaged_symtab),
		cmocka_unit_test(test_mutants),
		cmocka_unit_test(test_mutants_of_mini_debug),
	};

	return cmocka_run_group_tests_name("symtab", tests, fixture_make, fixture_clean);
}
