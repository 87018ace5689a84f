// SPDX-License-Identifier: GPL-2.0-or-later
/* Debug information that is made to cost whoever reads it: limits that the kernel enforces would
 * end the reader. */
#include "elf_fixture.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "dwarf/dwarf_budget.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/function_traits.h"
#include "dwarf/line_table.h"
#include "dwarf/parameters.h"
#include "dwarf/variables.h"
#include "elf/elf_inside.h"

#define MEGABYTE 1048576ull

/* A function, and a unit that describes it. What is put in: attributes of the function, what is in
 * it, and the program of its line table. */
#define DEBUG_INFO(forms, attributes, inside, lines)                                            \
	".text\n.globl work\n.type work,@function\nwork: ret\n.size work,.-work\n"              \
	".section .debug_abbrev,\"\",@progbits\n"                                               \
	".byte 1,0x11,1, 0x10,0x17, 0x11,1, 0x12,7, 0x1b,8, 0x13,0x0b, 0,0\n" /* a unit */      \
	".byte 2,0x2e,1, 0x11,1, 0x12,7" forms ", 0,0\n"		      /* a function */  \
	".byte 3,0x0b,1, 0,0\n"						      /* a block */     \
	".byte 4,0x39,1, 0,0, 0\n"					      /* a namespace */ \
	".section .debug_info,\"\",@progbits\n"                                                 \
	".long 8f - 7f\n7: .short 4\n.long 0\n.byte 8\n"                                        \
	".byte 1\n.long 0\n.quad work\n.quad 1\n.asciz \"/\"\n.byte 4\n"                        \
	".byte 2\n.quad work\n.quad 1\n" attributes inside "8:\n"                               \
	".section .debug_line,\"\",@progbits\n"                                                 \
	".long 6f - 1f\n1: .short 4\n.long 3f - 2f\n"                                           \
	"2: .byte 1,1,1,-5,14,13, 0,1,1,1,1,0,0,0,1,0,0,1, 0\n.asciz \"a.c\"\n"                 \
	".byte 0,0,0,0\n3: .byte 0,9,2\n.quad work\n" lines ".byte 0,1,1\n6:\n"

#define END	   ".byte 0,0\n" /* of the function, of the unit */
#define DECLARED   ", 0x3a,0x0b, 0x3b,0x0b"
#define DECLARED_1 ".byte 1,1\n"

static void assemble(const char *text, const char *flags)
{
	char options[256];

	snprintf(options, sizeof(options), "-shared -nostdlib %s", flags);
	compile("hostile", "hostile.s", text, options);
}

/* Runs use() in a child that may have so much: it must not come to an end by that. */
static void within(unsigned int seconds, uint64_t bytes, void (*use)(struct elf_image *))
{
	int fd, status, saved = hush();
	struct elf_image *img;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		const struct rlimit cpu = {seconds, seconds}, space = {bytes, bytes};

		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_AS, &space);
		img = open_path("hostile", &fd);
		use(img);
		close_image(img, fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unhush(saved);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x", status);
}

static uint64_t vaddr_of_work(const struct elf_image *img)
{
	size_t cnt;
	const struct elf_segment *seg = elf_image__segments(img, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		if (seg[i].exec)
			return seg[i].vaddr;
	}
	fail_msg("no code");
	return 0;
}

/* Looks up functions' source as the end of every run does. */
static void find_source(struct elf_image *img)
{
	struct line_table *table = NULL;
	struct line_row place;

	if (!line_table__open(img, "", &table))
		assert_int_equal(line_table__place(table, vaddr_of_work(img), &place), 0);
	line_table__free(table);
}

/* Looks up many functions' lines as --lines does. */
static void find_lines(struct elf_image *img)
{
	uint64_t vaddr = vaddr_of_work(img);
	struct line_table *table = NULL;

	if (!line_table__open(img, "", &table)) {
		for (int i = 0; i < 1000; i++) {
			struct line_row *rows = NULL;
			struct line_inlined at[LINE_INLINED_MAX];
			struct line_inlines inlines = {0};
			struct function_traits traits;
			uint32_t inlined = 0;
			struct line_piece piece = {vaddr, 1, &inlined};
			size_t cnt = 0, cap = 0;

			assert_int_equal(
				line_table__rows(table, vaddr, vaddr + 1, &rows, &cnt, &cap), 0);
			assert_int_equal(line_table__inlined(table, &piece, 1, &inlines), 0);
			assert_int_equal(line_table__inlined_at(table, vaddr, at, &cnt), 0);
			assert_int_equal(line_table__traits(table, vaddr, &traits), 0);
			free(rows);
			free(inlines.items);
			free(inlines.labels);
		}
	}
	line_table__free(table);
}

static void find_parameter(struct elf_image *img)
{
	const struct parameter_path none = {"none", NULL};
	struct parameters *p = NULL;
	struct parameter at;
	char why[128];

	if (parameters__open(img, "", &p))
		return;
	for (int i = 0; i < 100; i++)
		assert_false(parameters__find(p, vaddr_of_work(img), &none, &at, why, sizeof(why)));
	parameters__free(p);
}

static void find_variable(struct elf_image *img)
{
	struct variables *v = NULL;
	char path[VARIABLE_PATH], word[VARIABLE_WORD];

	if (variables__open(img, "", &v))
		return;
	for (int i = 0; i < 100; i++)
		assert_false(variables__member(v, vaddr_of_work(img), i, path, word));
	variables__free(v);
}

/* `work` is in the first line of /a.c. */
static void assert_work_has_its_place(const struct elf_image *img)
{
	struct line_table *table;
	struct line_row place;

	assert_int_equal(line_table__open(img, "", &table), 0);
	assert_int_equal(line_table__place(table, vaddr_of_work(img), &place), 0);
	assert_string_equal(place.file, "/a.c");
	assert_int_equal(place.line, 1);
	line_table__free(table);
}

/* A bad one would show in all that follow. */
static void test_of_good_will(void **state)
{
	struct elf_image *img;
	int fd;

	assemble(DEBUG_INFO(DECLARED, DECLARED_1, END, ".byte 0x4b\n"), "");
	img = open_path("hostile", &fd);
	assert_work_has_its_place(img);
	close_image(img, fd);
}

#define BLOCKS ".fill 1000,1,3\n.fill 1000,1,0\n" /* so many that packing them is worth it */

/* zstd's packing is understood, whichever libelf there is; also of an image that is opened twice.
 */
static void test_packed_by_zstd(void **state)
{
	const struct elf_section *info;
	struct elf_image *img;
	Elf64_Chdr header;
	int fd;

	assemble(DEBUG_INFO(DECLARED, DECLARED_1, BLOCKS END, ".byte 0x4b\n"),
		 "-Wl,--compress-debug-sections=zstd");
	img = open_path("hostile", &fd);
	info = elf_section__by_name(img, ".debug_info");
	assert_non_null(info);
	assert_true(info->flags & SHF_COMPRESSED);
	assert_int_equal(elf_image__read(img, info->offset, &header, sizeof(header)),
			 sizeof(header));
	assert_int_equal(header.ch_type, 2);
	for (int i = 0; i < 2; i++)
		assert_work_has_its_place(img);
	close_image(img, fd);
}

/* A size that is not that of what comes out, and damage in what is packed: then there is nothing.
 */
static void test_badly_packed(void **state)
{
	const struct elf_section *info;
	uint64_t at[2], size, bad;
	struct line_table *table = NULL;
	struct elf_image *img;
	uint8_t *good;
	size_t len;
	int fd;

	img = open_path("hostile", &fd);
	info = elf_section__by_name(img, ".debug_info");
	at[0] = info->offset + offsetof(Elf64_Chdr, ch_size);
	at[1] = info->offset + sizeof(Elf64_Chdr);
	close_image(img, fd);
	for (int i = 0; i < 4; i++) {
		good = read_bytes("hostile", &len);
		memcpy(&size, good + at[0], sizeof(size));
		bad = (const uint64_t[]){UINT64_MAX / 2, UINT64_MAX / 2, 1, size + 1}[i];
		memcpy(good + at[i == 1], &bad, sizeof(bad));
		write_bytes("bad", good, len);
		free(good);
		img = open_path("bad", &fd);
		assert_int_not_equal(line_table__open(img, "", &table), 0);
		assert_null(table);
		close_image(img, fd);
	}
}

/* 64 MB of one opcode are 64 kB when they are compressed, and 6 GB as libdw's rows. */
static void test_rows(void **state)
{
	assemble(DEBUG_INFO("", "", END, ".fill 64 << 20,1,0x4b\n"),
		 "-Wl,--compress-debug-sections=zlib");
	within(20, 600 * MEGABYTE, find_source);
	within(20, 600 * MEGABYTE, find_lines);
	assemble(DEBUG_INFO("", "", END, ".fill 64 << 20,1,0x4b\n"),
		 "-Wl,--compress-debug-sections=zstd");
	within(20, 600 * MEGABYTE, find_lines);
	assemble(DEBUG_INFO("", "", END, ".fill 24 << 20,1,0x4b\n"), "");
	within(20, 3000 * MEGABYTE, find_lines);
}

/* Walks over walks: a step to the next sibling has to go through all that is below. */
static void test_nested(void **state)
{
	assemble(DEBUG_INFO("", "", ".fill 6 << 20,1,3\n.fill 6 << 20,1,0\n" END, ".byte 0x4b\n"),
		 "");
	within(30, 600 * MEGABYTE, find_source);
	within(30, 600 * MEGABYTE, find_lines);
	within(30, 600 * MEGABYTE, find_parameter);
	within(30, 600 * MEGABYTE, find_variable);
}

/* Eleven bytes are a unit, of which libdw makes 1.4 kB. */
static void test_units(void **state)
{
	assemble(DEBUG_INFO("", "", END,
			    ".byte 0x4b\n") ".section .debug_info\n.rept 1 << 20\n.long 8\n.short "
					    "4\n.long 0\n.byte 8,0\n.endr\n",
		 "");
	within(20, 600 * MEGABYTE, find_source);
	within(20, 600 * MEGABYTE, find_lines);
	within(20, 600 * MEGABYTE, find_variable);
}

/* The section's type as libdw sees it: SHT_PROGBITS, or SHT_NOBITS if it passes it over. */
static unsigned int section_type(const struct dwarf_file *f, const char *name)
{
	Elf *elf = dwarf_getelf(f->dwarf);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		assert_non_null(gelf_getshdr(scn, &header));
		if (!strcmp(elf_strptr(elf, names, header.sh_name), name))
			return header.sh_type;
	}
	fail_msg("no section %s", name);
	return SHT_NULL;
}

/* Sections that nobody reads cost nothing, however large they are. */
static void test_unread(void **state)
{
	struct dwarf_file f;
	struct elf_image *img;
	int fd;

	assemble(DEBUG_INFO("", "", END,
			    ".byte 0x4b\n") ".section .debug_loclists,\"\",@progbits\n.fill 80 << "
					    "20,1,0\n",
		 "-Wl,--compress-debug-sections=zlib");
	img = open_path("hostile", &fd);
	assert_int_equal(dwarf_file__open(&f, img, ""), 0);
	assert_int_equal(section_type(&f, ".debug_loclists"), SHT_NOBITS);
	assert_int_equal(section_type(&f, ".debug_info"), SHT_PROGBITS);
	dwarf_file__close(&f);
	assert_in_range(dwarf_file__sizes(img, "").plain, 1, 1000);
	assert_int_equal(dwarf_file__sizes(img, "").packed, 0);
	close_image(img, fd);
	within(20, 600 * MEGABYTE, find_source);
}

/* Whatever reads to the end of a text finds one, though the file ends before. */
static void test_texts_end(void **state)
{
	static const char *const names[] = {".debug_info", ".debug_line"};
	struct dwarf_file f;
	struct elf_image *img;
	size_t shown = 0, cnt;
	int fd;

	assemble(DEBUG_INFO(", 3,8", ".ascii \"name\"\n", "", ".byte 0x4b\n"), "");
	img = open_path("hostile", &fd);
	for (int i = 0; i < 2; i++) { /* once more, of the same image */
		Elf_Scn *scn = NULL;

		assert_int_equal(dwarf_file__open(&f, img, ""), 0);
		while ((scn = elf_nextscn(elf_image__elf(img), scn))) {
			const struct elf_section *sec =
				elf_image__sections(img, &cnt) + elf_ndxscn(scn);
			const Elf_Data *data = elf_getdata(scn, NULL),
				       *raw = elf_rawdata(scn, NULL);

			for (size_t k = 0; k < 2; k++) {
				if (strcmp(sec->name, names[k]))
					continue;
				assert_int_equal(((char *)data->d_buf)[data->d_size], 0);
				assert_ptr_equal(raw->d_buf, data->d_buf);
				shown++;
			}
		}
		dwarf_file__close(&f);
	}
	assert_int_equal(shown, 4);
	find_lines(img);
	find_parameter(img);
	close_image(img, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_good_will), cmocka_unit_test(test_packed_by_zstd),
		cmocka_unit_test(test_badly_packed), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_nested),	     cmocka_unit_test(test_units),
		cmocka_unit_test(test_texts_end),    cmocka_unit_test(test_unread),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
