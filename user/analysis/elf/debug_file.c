// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GDB's rules (info "(gdb) Separate Debug Files"): /usr/lib/debug/.build-id/xx/yyyy.debug; then the
 * name in .gnu_debuglink beside the object, in .debug/ there, and below /usr/lib/debug. A candidate
 * counts only if it proves that it belongs to the object.
 */
#include "elf/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/debug_fetch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "security/opener.h"
#include "util/log.h"

#define DEBUG_DIR     "/usr/lib/debug"
#define MAX_LINK_SIZE 4096
#define MAX_CRC_SIZE  (2ull << 30)
/* Checksums cost what they are worth: a file that is mostly holes is no debug file, and a thousand
 * libraries may name the same large one. */
#define HOLES_SIZE   (64ull << 20) /* bytes that any file may have */
#define HOLES_FACTOR 16		   /* bytes that a file may have for each that it has on disk */
#define MAX_CRC_SUM  (8ull << 30)  /* of all files of a plan: some 6 s of CPU time */

static _Atomic uint64_t crc_sum; /* several threads plan */

struct search {
	const struct elf_image *img;
	const char *root;
	uint8_t id[64];
	size_t id_len;
	char link[NAME_MAX + 1]; /* .gnu_debuglink's file name, "" without one */
	uint32_t link_crc;
};

/* Whether the file may be read for its checksum. */
static bool may_sum(const struct elf_image *dbg)
{
	const uint64_t size = elf_image__size(dbg);
	uint64_t before;

	if (size > MAX_CRC_SIZE || size > HOLES_SIZE + HOLES_FACTOR * elf_image__stored(dbg))
		return false;
	before = atomic_fetch_add(&crc_sum, size);
	if (before <= MAX_CRC_SUM && before + size > MAX_CRC_SUM)
		log_warn("separate debug files that are told by a checksum alone (.gnu_debuglink, "
			 "without a build id) are larger than %llu GB: further ones are not used",
			 MAX_CRC_SUM >> 30);
	return before + size <= MAX_CRC_SUM;
}

void debug_file__renew(void)
{
	crc_sum = 0;
}

static bool crc_matches(const struct elf_image *dbg, uint32_t want)
{
	static const size_t step = 256 * 1024;
	uint64_t off, size = elf_image__size(dbg);
	uint32_t crc = crc32(0, NULL, 0);
	unsigned char *buf;
	int64_t got = 0;

	if (!may_sum(dbg))
		return false;
	buf = malloc(step);
	if (!buf)
		return false;
	for (off = 0; off < size; off += got) {
		got = elf_image__read(dbg, off, buf, step);
		if (got <= 0)
			break;
		crc = crc32(crc, buf, got);
	}
	free(buf);
	return off >= size && crc == want;
}

/* Whether the file has what objects are stripped of. "eu-strip -g" leaves the symbols in the
 * object, and a .symtab without bytes in the debug file. */
static bool is_of_use(const struct elf_image *dbg)
{
	const struct elf_section *info = elf_section__by_name(dbg, ".debug_info");

	return elf_section__by_type(dbg, SHT_SYMTAB) || (info && info->type != SHT_NOBITS);
}

static bool belongs(const struct search *s, const struct elf_image *dbg)
{
	uint8_t id[64];

	/* Otherwise it may be the object itself. */
	if (!is_of_use(dbg))
		return false;
	if (!s->id_len)
		return crc_matches(dbg, s->link_crc);
	return elf_image__build_id(dbg, id) == s->id_len && !memcmp(id, s->id, s->id_len);
}

/* Opens the candidate behind `fd`, which it takes over. */
static int try_fd(const struct search *s, int fd, const char *label, struct elf_image **out)
{
	struct elf_image *dbg;

	if (elf_image__open_debug(fd, label, &dbg)) {
		close(fd);
		return -ENOENT;
	}
	if (!belongs(s, dbg)) {
		log_debug("elf: '%s' does not belong to '%s'", label, elf_image__label(s->img));
		elf_image__free(dbg);
		return -ENOENT;
	}
	*out = dbg;
	return 0;
}

static int try_path(const struct search *s, const char *root, const char *path,
		    struct elf_image **out)
{
	char label[PATH_MAX];
	int fd;

	if (snprintf(label, sizeof(label), "%s%s", root, path) >= (int)sizeof(label))
		return -ENOENT;
	/* Whoever owns the directory may have put a FIFO, a terminal or another device there, some
	 * of which do something when they are opened. */
	fd = opener__open_below(root, path);
	return fd < 0 ? -ENOENT : try_fd(s, fd, label, out);
}

/* In the container, then on this machine. */
static int try_both(const struct search *s, const char *path, struct elf_image **out)
{
	int err = -ENOENT;

	if (*s->root && *path == '/')
		err = try_path(s, s->root, path, out);
	return err ? try_path(s, "", path, out) : 0;
}

static int by_build_id(const struct search *s, struct elf_image **out)
{
	char path[sizeof(DEBUG_DIR) + 256];
	size_t len, i;

	if (s->id_len < 2)
		return -ENOENT;
	len = sprintf(path, DEBUG_DIR "/.build-id/%02x/", s->id[0]);
	for (i = 1; i < s->id_len; i++)
		len += sprintf(path + len, "%02x", s->id[i]);
	strcpy(path + len, ".debug");
	return try_both(s, path, out);
}

/* The directory of the object as its own machine sees it. */
static int object_dir(const struct search *s, char *dir, size_t size)
{
	const char *label = elf_image__label(s->img);
	size_t root_len = strlen(s->root);
	const char *slash;

	if (root_len && !strncmp(label, s->root, root_len) && label[root_len] == '/')
		label += root_len;
	slash = strrchr(label, '/');
	if (!slash)
		return snprintf(dir, size, ".");
	return snprintf(dir, size, "%.*s", (int)(slash - label), label);
}

static int by_link(const struct search *s, struct elf_image **out)
{
	static const char *const patterns[][2] = {
		{"", ""},
		{"", "/.debug"},
		{DEBUG_DIR, ""},
	};
	char dir[PATH_MAX], path[PATH_MAX];
	size_t i;

	if (!*s->link || object_dir(s, dir, sizeof(dir)) >= (int)sizeof(dir))
		return -ENOENT;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (*patterns[i][0] && *dir && *dir != '/')
			continue;
		if (snprintf(path, sizeof(path), "%s%s%s/%s", patterns[i][0], dir, patterns[i][1],
			     s->link) < (int)sizeof(path) &&
		    !try_both(s, path, out))
			return 0;
	}
	return -ENOENT;
}

/* A file name, NUL, padding to four bytes, CRC-32. */
static void read_link(struct search *s)
{
	const struct elf_section *sec = elf_section__by_name(s->img, ".gnu_debuglink");
	size_t len, crc_at;
	void *block;

	if (!sec || elf_section__read(s->img, sec, MAX_LINK_SIZE, &block))
		return;
	len = strlen(block);
	crc_at = (len + 1 + 3) & ~3ul;
	if (len && len <= NAME_MAX && crc_at + 4 <= sec->size && !strchr(block, '/') &&
	    strcmp(block, ".") && strcmp(block, "..")) {
		memcpy(s->link, block, len + 1);
		memcpy(&s->link_crc, (char *)block + crc_at, 4);
	}
	free(block);
}

int debug_file__find(const struct elf_image *img, const char *root, struct elf_image **out)
{
	struct search s = {.img = img, .root = root};

	s.id_len = elf_image__build_id(img, s.id);
	read_link(&s);
	return by_build_id(&s, out) ? by_link(&s, out) : 0;
}

int debug_file__open(const struct elf_image *img, const char *root, struct elf_image **out)
{
	struct search s = {.img = img, .root = root};
	int err = debug_file__find(img, root, out), fd;

	if (!err)
		return 0;
	s.id_len = elf_image__build_id(img, s.id);
	fd = s.id_len ? debug_fetch__get(s.id, s.id_len, elf_image__label(img)) : -ENOENT;
	if (fd < 0)
		return err;
	err = try_fd(&s, fd, "debuginfod", out);
	if (err == -ENOENT) {
		log_warn("debuginfod: what was fetched for '%s' does not belong to it",
			 elf_image__label(img));
		debug_fetch__reject(s.id, s.id_len);
	}
	return err;
}
