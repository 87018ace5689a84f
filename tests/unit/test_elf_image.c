// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_fixture.h"

#include <elf.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "elf/elf_window.h"

static const char program[] = "int f(int x) { return x + 1; }\nint main(void) { return f(-1); }\n";

static int make(void **state)
{
	if (fixture_make(state))
		return -1;
	compile("prog", "prog.c", program, "-O1 -Wl,--build-id=0x00112233445566778899");
	return 0;
}

static const struct elf_segment *exec_segment(const struct elf_image *img)
{
	size_t cnt, i;
	const struct elf_segment *segments = elf_image__segments(img, &cnt);

	for (i = 0; i < cnt; i++) {
		if (segments[i].exec)
			return &segments[i];
	}
	fail_msg("no executable segment");
	return NULL;
}

static void test_program(void **state)
{
	const struct elf_segment *seg;
	struct elf_image *img;
	uint64_t off = 1;
	int fd;

	img = open_path("prog", &fd);
	seg = exec_segment(img);
	assert_string_equal(elf_image__label(img), "prog");
	assert_non_null(elf_image__elf(img));
	assert_false(elf_image__is_static(img));
	assert_true(elf_image__exec_offset(img, elf_image__entry(img), 1, &off));
	assert_int_equal(off, elf_image__entry(img) - seg->vaddr + seg->offset);
	close_image(img, fd);
}

static void test_exec_offset_bounds(void **state)
{
	const struct elf_segment *seg;
	struct elf_image *img;
	uint64_t off;
	int fd;

	img = open_path("prog", &fd);
	seg = exec_segment(img);
	assert_true(elf_image__exec_offset(img, seg->vaddr, seg->filesz, &off));
	assert_int_equal(off, seg->offset);
	assert_false(elf_image__exec_offset(img, seg->vaddr, seg->filesz + 1, &off));
	assert_false(elf_image__exec_offset(img, seg->vaddr + 1, seg->filesz, &off));
	assert_false(elf_image__exec_offset(img, seg->vaddr + 1, UINT64_MAX, &off));
	assert_false(elf_image__exec_offset(img, seg->vaddr - 1, 1, &off));
	assert_false(elf_image__exec_offset(img, seg->vaddr + seg->filesz, 0, &off));
	assert_false(elf_image__exec_offset(img, UINT64_MAX, 2, &off));
	assert_false(elf_image__exec_offset(img, 0, 1, &off)); /* the ELF header is not code */
	close_image(img, fd);
}

static void test_static(void **state)
{
	static const char *const flags[] = {"-static", "-static-pie"};
	struct elf_image *img;
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		compile("static", "static.c", program, flags[i]);
		img = open_path("static", &fd);
		assert_true(elf_image__is_static(img));
		close_image(img, fd);
	}
}

static void test_descriptor_is_borrowed(void **state)
{
	struct elf_image *img;
	int fd;

	fd = open("prog", O_RDONLY);
	assert_int_equal(lseek(fd, 7, SEEK_SET), 7);
	assert_int_equal(elf_image__open(fd, "prog", &img), 0);
	elf_image__free(img);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 7);
	assert_int_equal(close(fd), 0);
}

static void test_read(void **state)
{
	struct elf_image *img;
	char buf[64];
	size_t len;
	int fd;

	free(read_bytes("prog", &len));
	img = open_path("prog", &fd);
	assert_int_equal(elf_image__read(img, 0, buf, 4), 4);
	assert_memory_equal(buf, ELFMAG, 4);
	assert_int_equal(elf_image__read(img, len - 3, buf, sizeof(buf)), 3);
	assert_int_equal(elf_image__read(img, len, buf, sizeof(buf)), 0);
	assert_int_equal(elf_image__read(img, UINT64_MAX, buf, sizeof(buf)), 0);
	close_image(img, fd);
}

/* Pieces in order, backwards, and larger than what is read at once; what the file has not. */
static void test_window(void **state)
{
	const size_t large = 300000;
	struct elf_window w = {0};
	const uint8_t *piece;
	struct elf_image *img;
	uint8_t *all;
	size_t len;
	int fd;

	sh("cp prog padded && head -c 900000 /dev/urandom >>padded");
	all = read_bytes("padded", &len);
	img = open_path("padded", &fd);
	for (size_t at = 0; at + 1000 <= len; at += 997) {
		assert_int_equal(elf_window__at(&w, img, at, 1000, &piece), 0);
		assert_memory_equal(piece, all + at, 1000);
	}
	for (size_t at = len - 4; at >= 4096; at -= 4096) {
		assert_int_equal(elf_window__at(&w, img, at, 4, &piece), 0);
		assert_memory_equal(piece, all + at, 4);
	}
	assert_int_equal(elf_window__at(&w, img, 10, large, &piece), 0);
	assert_memory_equal(piece, all + 10, large);
	assert_int_equal(elf_window__at(&w, img, len - 3, 4, &piece), -ENOEXEC);
	assert_int_equal(elf_window__at(&w, img, UINT64_MAX, 1, &piece), -ENOEXEC);
	assert_int_equal(truncate("padded", len - 8), 0);
	elf_window__clear(&w);
	assert_int_equal(elf_window__at(&w, img, len - 6, 4, &piece), -ENOEXEC);
	elf_window__clear(&w);
	close_image(img, fd);
	free(all);
}

/* Pieces in order, backwards, and across pages; by address; what the file has not, or has no more.
 */
static void test_pages(void **state)
{
	struct elf_image *img;
	struct elf_pages *pages;
	uint8_t *all, piece[10000], other[16];
	size_t len;
	int fd;

	sh("cp prog padded && head -c 2000000 /dev/urandom >>padded");
	all = read_bytes("padded", &len);
	img = open_path("padded", &fd);
	pages = elf_pages__new(img);
	assert_non_null(pages);
	for (size_t at = 0; at + sizeof(piece) <= len; at += 997) {
		assert_true(elf_pages__read(pages, at, piece, sizeof(piece)));
		assert_memory_equal(piece, all + at, sizeof(piece));
	}
	for (size_t at = len - 4; at >= 4096; at -= 4093) {
		assert_true(elf_pages__read(pages, at, piece, 4));
		assert_memory_equal(piece, all + at, 4);
	}
	assert_false(elf_pages__read(pages, len - 3, piece, 4));
	assert_false(elf_pages__read(pages, UINT64_MAX, piece, 1));
	assert_true(elf_image__read_vaddr(img, elf_image__entry(img), other, sizeof(other)));
	assert_true(elf_pages__read_vaddr(pages, elf_image__entry(img), piece, sizeof(other)));
	assert_memory_equal(piece, other, sizeof(other));
	assert_false(elf_pages__read_vaddr(pages, UINT64_MAX - 3, piece, 4));
	elf_pages__free(pages);
	pages = elf_pages__new(img);
	assert_int_equal(truncate("padded", len - 8), 0);
	assert_false(elf_pages__read(pages, len - 10, piece, 4));
	assert_true(elf_pages__read(pages, len - 12, piece, 4));
	assert_memory_equal(piece, all + len - 12, 4);
	elf_pages__free(pages);
	close_image(img, fd);
	free(all);
}

static void test_build_id(void **state)
{
	static const uint8_t want[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99};
	struct elf_image *img;
	uint8_t id[64], *bytes;
	size_t len;
	int fd;

	img = open_path("prog", &fd);
	assert_int_equal(elf_image__build_id(img, id), sizeof(want));
	assert_memory_equal(id, want, sizeof(want));
	close_image(img, fd);

	/* By the segment, without section headers. */
	bytes = read_bytes("prog", &len);
	((Elf64_Ehdr *)bytes)->e_shoff = ((Elf64_Ehdr *)bytes)->e_shnum = 0;
	write_bytes("bare", bytes, len);
	free(bytes);
	img = open_path("bare", &fd);
	memset(id, 0, sizeof(id));
	assert_int_equal(elf_image__build_id(img, id), sizeof(want));
	assert_memory_equal(id, want, sizeof(want));
	close_image(img, fd);

	compile("noid", "noid.c", program, "-Wl,--build-id=none");
	img = open_path("noid", &fd);
	assert_int_equal(elf_image__build_id(img, id), 0);
	close_image(img, fd);
}

static int try_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK), saved = hush(), err;
	struct elf_image *img = NULL;

	err = elf_image__open(fd, path, &img);
	unhush(saved);
	assert_null(img);
	close(fd);
	return err;
}

static void test_refuses_other_files(void **state)
{
	sh("mkfifo fifo; mkdir dir; : >empty; gcc -c -o object.o prog.c");
	write_text("script", "#!/bin/sh\n");
	write_text("text", "hello, world: longer than an ELF header is, as it happens, by a bit\n");
	write_text("short", "\177ELF\2\1\1");
	assert_int_equal(try_open("dir"), -ENOEXEC);
	assert_int_equal(try_open("fifo"), -ENOEXEC);
	assert_int_equal(try_open("/dev/null"), -ENOEXEC);
	assert_int_equal(try_open("empty"), -ENOEXEC);
	assert_int_equal(try_open("script"), -ENOEXEC);
	assert_int_equal(try_open("text"), -ENOEXEC);
	assert_int_equal(try_open("short"), -ENOEXEC);
	assert_int_equal(try_open("object.o"), -ENOTSUP);
}

/* Opens the program with one header field changed. */
static int try_header(void (*change)(Elf64_Ehdr *eh))
{
	size_t len;
	uint8_t *bytes = read_bytes("prog", &len);

	change((Elf64_Ehdr *)bytes);
	write_bytes("changed", bytes, len);
	free(bytes);
	return try_open("changed");
}

static void be_32bit(Elf64_Ehdr *eh)
{
	eh->e_ident[EI_CLASS] = ELFCLASS32;
}

static void be_riscv(Elf64_Ehdr *eh)
{
	eh->e_machine = EM_RISCV;
}

static void be_core(Elf64_Ehdr *eh)
{
	eh->e_type = ET_CORE;
}

static void have_no_segments(Elf64_Ehdr *eh)
{
	eh->e_phnum = 0;
}

static void have_far_segments(Elf64_Ehdr *eh)
{
	eh->e_phoff = 1ull << 40;
}

static void have_many_segments(Elf64_Ehdr *eh)
{
	eh->e_phnum = 0xfffe;
}

static void have_odd_segments(Elf64_Ehdr *eh)
{
	eh->e_phentsize = 32;
}

static void test_refuses_headers(void **state)
{
	assert_int_equal(try_header(be_32bit), -ENOTSUP);
	assert_int_equal(try_header(be_riscv), -ENOTSUP);
	assert_int_equal(try_header(be_core), -ENOTSUP);
	assert_int_equal(try_header(have_no_segments), -ENOEXEC);
	assert_int_equal(try_header(have_far_segments), -ENOEXEC);
	assert_int_equal(try_header(have_many_segments), -ENOEXEC);
	assert_int_equal(try_header(have_odd_segments), -ENOEXEC);
}

static uint64_t segments_end;

static void use_cut(struct elf_image *img)
{
	char last;

	/* An image that opens has all of its segments. */
	assert_int_equal(elf_image__read(img, segments_end - 1, &last, 1), 1);
}

static void test_truncated(void **state)
{
	const struct elf_segment *segments;
	struct elf_image *img;
	size_t cnt, i;
	int fd;

	img = open_path("prog", &fd);
	segments = elf_image__segments(img, &cnt);
	for (i = 0; i < cnt; i++) {
		if (segments[i].offset + segments[i].filesz > segments_end)
			segments_end = segments[i].offset + segments[i].filesz;
	}
	close_image(img, fd);
	for_each_cut("prog", 13, use_cut);
}

static void use_mutant(struct elf_image *img)
{
	size_t cnt, i, len;
	const struct elf_segment *segments = elf_image__segments(img, &cnt);
	uint64_t off;
	uint8_t id[64];
	char byte;

	for (i = 0; i < cnt; i++) {
		const struct elf_segment *seg = &segments[i];

		if (seg->exec && seg->filesz &&
		    elf_image__exec_offset(img, seg->vaddr + seg->filesz - 1, 1, &off))
			assert_int_equal(elf_image__read(img, off, &byte, 1), 1);
	}
	len = elf_image__build_id(img, id);
	assert_true(len <= sizeof(id));
}

/* 60,000 tables of names that are all the same 16 MB: to search each takes minutes. */
static void test_tables_overlap(void **state)
{
	enum { CNT = 60000, NAMES = 16 << 20 };
	const Elf64_Shdr table = {.sh_type = SHT_STRTAB, .sh_offset = 4096, .sh_size = NAMES};
	const struct rlimit cpu = {20, 20};
	const size_t size = 4096 + NAMES + CNT * sizeof(table);
	char *bytes = calloc(1, size);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
	size_t len;
	uint8_t *good = read_bytes("prog", &len);
	struct elf_image *img;
	int fd, status;
	pid_t pid;

	assert_non_null(bytes);
	memcpy(bytes, good, 4096);
	strcpy(bytes + 4096, "gcov_init");
	eh->e_phnum = 1;
	*(Elf64_Phdr *)(bytes + eh->e_phoff) = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = 4096};
	eh->e_shoff = 4096 + NAMES;
	eh->e_shnum = CNT;
	eh->e_shstrndx = 0;
	for (size_t i = 0; i < CNT; i++)
		memcpy(bytes + eh->e_shoff + i * sizeof(table), &table, sizeof(table));
	write_bytes("many", bytes, size);
	free(good);
	free(bytes);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CPU, &cpu);
		img = open_path("many", &fd);
		_exit(elf_image__mentions(img, "gcov_init") &&
				      !elf_image__mentions(img, "proftrace_begin_")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x", status);
}

static void test_mutants(void **state)
{
	for_each_mutant("prog", 4000, use_mutant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_exec_offset_bounds),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_descriptor_is_borrowed),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_refuses_other_files),
		cmocka_unit_test(test_refuses_headers),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_tables_overlap),
		cmocka_unit_test(test_mutants),
	};

	return cmocka_run_group_tests_name("elf_image", tests, make, fixture_clean);
}
