/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files for tests, built on the spot in a directory that is removed afterwards. */
#ifndef PROFTRACE_TESTS_ELF_FIXTURE_H
#define PROFTRACE_TESTS_ELF_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_image.h"

static char fixture_dir[64];

static inline int fixture_make(void **state)
{
	strcpy(fixture_dir, "/tmp/proftrace-test-XXXXXX");
	return mkdtemp(fixture_dir) && !chdir(fixture_dir) ? 0 : -1;
}

static inline int fixture_remove_one(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	return remove(path);
}

static inline int fixture_clean(void **state)
{
	if (chdir("/"))
		return -1;
	return nftw(fixture_dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs a shell command in the directory; it has to succeed. */
__attribute__((format(printf, 1, 2))) static inline void sh(const char *fmt, ...)
{
	char command[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (system(command))
		fail_msg("failed: %s", command);
}

static inline void write_bytes(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

static inline uint8_t *read_bytes(const char *path, size_t *len)
{
	struct stat st;
	uint8_t *bytes;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc(st.st_size + 1);
	assert_non_null(bytes);
	*len = fread(bytes, 1, st.st_size, f);
	fclose(f);
	return bytes;
}

/* Assembly or C by the name's ending; `flags` after the source. */
static inline void compile(const char *out, const char *source, const char *text, const char *flags)
{
	write_text(source, text);
	sh("gcc -o %s %s %s", out, source, flags);
}

static inline struct elf_image *open_path(const char *path, int *fd)
{
	struct elf_image *img;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(elf_image__open(*fd, path, &img), 0);
	return img;
}

static inline void close_image(struct elf_image *img, int fd)
{
	elf_image__free(img);
	close(fd);
}

/* Errors that a test provokes do not belong on the terminal. */
static inline int hush(void)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	close(null);
	return saved;
}

static inline void unhush(int saved)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static inline int memfd_with(const void *bytes, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, 0), len);
	return fd;
}

/* xorshift: the same mutations in each run. */
static inline uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/*
 * Calls use() with an image of each of `rounds` damaged copies that still opens: a few bytes are
 * changed, half of the time in the header tables.
 */
static inline void for_each_mutant(const char *path, int rounds, void (*use)(struct elf_image *))
{
	static const uint8_t nasty[] = {0, 1, 0x7f, 0x80, 0xff};
	uint32_t seed = 20240229;
	size_t len, tables;
	uint8_t *good = read_bytes(path, &len), *bad = malloc(len);
	int saved = hush(), round, i;
	uint64_t shoff;

	memcpy(&shoff, good + 40, sizeof(shoff));
	tables = len - shoff;
	for (round = 0; round < rounds; round++) {
		int flips = 1 + next_random(&seed) % 4;
		struct elf_image *img;
		int fd;

		memcpy(bad, good, len);
		for (i = 0; i < flips; i++) {
			uint32_t where = next_random(&seed), how = next_random(&seed);
			size_t at = where % 4 == 0   ? (where >> 2) % 1024
				    : where % 4 == 1 ? shoff + (where >> 2) % tables
						     : (where >> 2) % len;

			bad[at % len] = how & 1 ? nasty[(how >> 1) % sizeof(nasty)] : how >> 8;
		}
		fd = memfd_with(bad, len);
		if (!elf_image__open(fd, "mutant", &img)) {
			use(img);
			elf_image__free(img);
		}
		close(fd);
	}
	unhush(saved);
	free(good);
	free(bad);
}

/* Calls `use` with copies of the file that are cut at every `step` bytes. */
static inline void for_each_cut(const char *path, size_t step, void (*use)(struct elf_image *))
{
	size_t len, cut;
	uint8_t *bytes = read_bytes(path, &len);
	int saved = hush();

	for (cut = 0; cut < len; cut += step) {
		int fd = memfd_with(bytes, cut);
		struct elf_image *img;

		if (!elf_image__open(fd, "cut", &img)) {
			use(img);
			elf_image__free(img);
		}
		close(fd);
	}
	unhush(saved);
	free(bytes);
}

#endif
