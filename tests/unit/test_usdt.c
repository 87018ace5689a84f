// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes of static probes: whole, odd and damaged ones. */
#include "elf_fixture.h"

#include <elf.h>
#include <errno.h>

#include "symbol/symtab.h"
#include "symbol/usdt.h"

/* `note PC, BASE, SEMAPHORE, TEXTS`; what is damaged about it the arguments say. */
static const char code[] = ".macro note pc, base, semaphore, texts:vararg\n"
			   ".balign 4\n.long 8, 3f-2f, 3\n.asciz \"stapsdt\"\n"
			   "2: .quad \\pc, \\base, \\semaphore\n"
			   ".ifnb \\texts\n.asciz \\texts\n.endif\n3: .balign 4\n"
			   ".endm\n"
			   ".text\n.globl work\n.type work,@function\n"
			   "work: nop\n.Lone: nop\n.Ltwo: .byte 0x66, 0x90\n"
			   ".Lthree: .byte 0x0f, 0x1f, 0x44, 0, 0\n.Lfour: ret\n"
			   ".size work,.-work\n"
			   ".section .stapsdt.base,\"a\",@progbits\n_.stapsdt.base: .space 1\n"
			   ".section .probes,\"aw\"\n"
			   ".Lother: .short 0x1111\n.Lcount: .short 0x2222\n"
			   ".section .note.GNU-stack,\"\"\n"
			   ".section .note.stapsdt,\"\",@note\n";

static const char notes[] =
	"note .Lone, _.stapsdt.base, 0, \"proftrace\", \"a b\\42%{}|\\n\\377\", \"\"\n"
	/* another owner and another type */
	".long 4, 4, 3\n.asciz \"GNU\"\n.long 7\n"
	".long 8, 4, 4\n.asciz \"stapsdt\"\n.long 7\n"
	/* linked where everything lay 0x1000 lower, as before prelink */
	"note .Ltwo-0x1000, _.stapsdt.base-0x1000, .Lcount-0x1000, \"db\", \"query__start\","
	" \"8@%rdi -4@$-5\"\n"
	/* no base: addresses are what they say */
	"note .Lthree, 0, .Lother, \"db\", \"query__done\", \"4@-16(%rbp)\"\n";

static const char damaged_notes[] =
	"note .Lone, 0, 0, \"p\", \"first\", \"\"\n"
	"note work+0x100000, 0, 0, \"p\", \"no_code\", \"\"\n"
	"note -1, 0, 0, \"p\", \"nowhere\", \"\"\n"
	"note .Lfour, 0, 0, \"p\", \"no_nop\", \"\"\n"
	"note .Ltwo, 0, work, \"p\", \"count_in_code\", \"\"\n"
	"note .Ltwo, 0, -1, \"p\", \"count_nowhere\", \"\"\n"
	"note .Ltwo, 0, 0, \"\", \"no_provider\", \"\"\n"
	"note .Ltwo, 0, 0, \"p\", \"\", \"no name\"\n"
	"note .Ltwo, 0, 0, \"p\", \"no_arguments\"\n"
	"note .Ltwo, 0, 0, \"p\"\n"
	"note .Ltwo, 0, 0\n"
	/* too short for its addresses; without an end */
	".long 8, 12, 3\n.asciz \"stapsdt\"\n.quad .Lone\n.long 0\n"
	".long 8, 32, 3\n.asciz \"stapsdt\"\n.quad .Lone, 0, 0\n.asciz \"p\", \"n\"\n.ascii "
	"\"8@%r\"\n"
	/* what linkers leave of a dropped function is no damage */
	"note 0, _.stapsdt.base, 0, \"p\", \"dropped\", \"\"\n"
	"note 9, 0, 0, \"p\", \"dropped\", \"\"\n"
	"note .Lthree, 0, 0, \"p\", \"last\", \"\"\n"
	/* says that it is longer than the section */
	".long 8, 0xfffffff0, 3\n.asciz \"stapsdt\"\n.quad .Lone, 0, 0\n";

/* The addresses of real code are above those of dropped code. */
#define FLAGS "-shared -nostdlib -Wl,-Ttext-segment=0x100000"

static void make(const char *out, const char *more, const char *flags)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s%s", code, more);
	compile(out, "notes.s", text, flags);
}

static uint64_t address_of_work(const struct elf_image *img)
{
	struct symtab *tab;
	uint64_t vaddr = 0;

	assert_int_equal(symtab__load(img, "", &tab), 0);
	for (size_t i = 0; i < symtab__count(tab); i++) {
		if (!strcmp(symtab__at(tab, i)->name, "work"))
			vaddr = symtab__at(tab, i)->vaddr;
	}
	symtab__free(tab);
	return vaddr;
}

static void check_probe(const struct elf_image *img, const struct usdt_probe *probe, uint64_t vaddr,
			const char *provider, const char *name, const char *arguments)
{
	uint64_t offset;

	assert_int_equal(probe->vaddr, vaddr);
	assert_string_equal(probe->provider, provider);
	assert_string_equal(probe->name, name);
	assert_string_equal(probe->arguments, arguments);
	assert_true(elf_image__exec_offset(img, vaddr, 1, &offset) && offset == probe->offset);
}

/* Counts of ours are not 0 in the file, so that one can tell them. */
static void check_semaphore(const struct elf_image *img, const struct usdt_probe *probe,
			    uint16_t expected)
{
	uint16_t value;

	assert_int_equal(elf_image__read(img, probe->semaphore, &value, 2), 2);
	assert_int_equal(value, expected);
}

static void notes_are_read(void **state)
{
	static const char *const flags[] = {"-shared -nostdlib", "-static -nostdlib -Wl,-e,work",
					    "-static-pie -nostdlib -Wl,-e,work"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		const struct usdt_probe *probes;
		struct elf_image *img;
		struct usdt *usdt;
		uint64_t work;
		size_t cnt;
		int fd;

		make("notes.elf", notes, flags[i]);
		img = open_path("notes.elf", &fd);
		assert_int_equal(usdt__load(img, &usdt), 0);
		probes = usdt__probes(usdt, &cnt);
		work = address_of_work(img);
		assert_int_equal(cnt, 3);
		check_probe(img, &probes[0], work + 1, "proftrace", "a b\"%{}|\n\377", "");
		check_probe(img, &probes[1], work + 2, "db", "query__start", "8@%rdi -4@$-5");
		check_probe(img, &probes[2], work + 4, "db", "query__done", "4@-16(%rbp)");
		assert_int_equal(probes[0].semaphore, 0);
		check_semaphore(img, &probes[1], 0x2222);
		check_semaphore(img, &probes[2], 0x1111);
		usdt__free(usdt);
		close_image(img, fd);
	}
}

/* Has messages go to the file "log". */
static size_t load_logged(const char *path, const char *first, const char *last)
{
	const struct usdt_probe *probes;
	int saved = dup(STDERR_FILENO), log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600), fd;
	struct elf_image *img = open_path(path, &fd);
	struct usdt *usdt;
	size_t cnt;

	dup2(log, STDERR_FILENO);
	assert_int_equal(usdt__load(img, &usdt), 0);
	unhush(saved);
	close(log);
	probes = usdt__probes(usdt, &cnt);
	if (cnt) {
		assert_string_equal(probes[0].name, first);
		assert_string_equal(probes[cnt - 1].name, last);
	}
	usdt__free(usdt);
	close_image(img, fd);
	return cnt;
}

static void damaged_notes_are_counted(void **state)
{
	make("damaged.so", damaged_notes, FLAGS);
	assert_int_equal(load_logged("damaged.so", "first", "last"), 2);
	sh("test $(wc -l < log) = 1 && grep -q \"'damaged.so': damaged notes of static probes left "
	   "out: 13$\" log");
}

static void files_without_notes(void **state)
{
	make("none.so", ".text\n", "-shared -nostdlib");
	assert_int_equal(load_logged("none.so", "", ""), 0);
	sh("! test -s log");
}

/* Stripping leaves them: they are how such programs are traced. */
static void stripped_files(void **state)
{
	make("stripped.so", notes, "-shared -nostdlib -s");
	assert_int_equal(load_logged("stripped.so", "a b\"%{}|\n\377", "query__done"), 3);
	sh("! test -s log");
}

/* Section headers may all point to the same bytes: what is read of them is bounded. */
static void overlapping_sections(void **state)
{
	size_t len, first = 0, cnt = 0;
	uint8_t *bytes;
	Elf64_Ehdr *eh;
	Elf64_Shdr *sh_at;

	make("notes.so",
	     ".section .note.stapsdt,\"\",@note\n.rept 100000\n"
	     ".long 8, 29, 3\n.asciz \"stapsdt\"\n.quad .Lone, 0, 0\n.asciz \"p\", \"n\", \"\"\n"
	     ".balign 4\n.endr\n",
	     "-shared -nostdlib");
	bytes = read_bytes("notes.so", &len);
	eh = (Elf64_Ehdr *)bytes;
	sh_at = (Elf64_Shdr *)(bytes + eh->e_shoff);
	for (size_t i = 1; i < eh->e_shnum; i++) {
		if (sh_at[i].sh_type == SHT_NOTE && sh_at[i].sh_size > 1 << 20)
			first = i;
	}
	assert_true(first);
	for (size_t i = 1; i < eh->e_shnum; i++) {
		if (i != eh->e_shstrndx) {
			sh_at[i] = sh_at[first];
			cnt++;
		}
	}
	assert_true(cnt > 4);
	write_bytes("overlapping.so", bytes, len);
	free(bytes);
	/* 52 bytes each in at most 16 MiB, of which whole sections are read. */
	assert_int_equal(load_logged("overlapping.so", "n", "n"), 300000);
}

static void load_one(struct elf_image *img)
{
	struct usdt *usdt;
	size_t cnt;

	assert_int_equal(usdt__load(img, &usdt), 0);
	for (const struct usdt_probe *p = usdt__probes(usdt, &cnt); cnt; cnt--, p++) {
		uint64_t off;

		assert_true(*p->provider && *p->name && strlen(p->arguments) < 1 << 20);
		assert_true(elf_image__exec_offset(img, p->vaddr, 1, &off) && off == p->offset);
	}
	usdt__free(usdt);
}

static void damaged_files(void **state)
{
	make("good.so", notes, "-shared -nostdlib");
	for_each_mutant("good.so", 3000, load_one);
	for_each_cut("good.so", 61, load_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_are_read),	cmocka_unit_test(damaged_notes_are_counted),
		cmocka_unit_test(files_without_notes),	cmocka_unit_test(stripped_files),
		cmocka_unit_test(overlapping_sections), cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
