// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_image_data.h"
#include "elf/elf_inside.h"

#define PAGE_SIZE 4096
#define PAGES	  128 /* that are kept */

/* By the low bits of their numbers. Memory of pages that are never needed is never touched. */
struct elf_pages {
	const struct elf_image *img;
	uint64_t numbers[PAGES]; /* its file offset / PAGE_SIZE, + 1; 0: none has been read */
	uint32_t lens[PAGES];	 /* what the file has of it */
	uint8_t (*bytes)[PAGE_SIZE];
};

bool elf_image__has_bytes(const struct elf_image *img, uint64_t off, uint64_t size)
{
	return off <= img->size && size <= img->size - off;
}

int64_t elf_image__read(const struct elf_image *img, uint64_t off, void *buf, size_t len)
{
	size_t done = 0;

	if (off > INT64_MAX || len > INT64_MAX - off)
		return off > INT64_MAX ? 0 : -EINVAL;
	while (done < len) {
		ssize_t got = pread(img->fd, (char *)buf + done, len - done, off + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += got;
	}
	return done;
}

int elf_image__read_block(const struct elf_image *img, uint64_t off, uint64_t size, uint64_t max,
			  void **out)
{
	int64_t got;
	char *block;

	if (!elf_image__has_bytes(img, off, size) || size > max)
		return -ENOEXEC;
	block = malloc(size + 1);
	if (!block)
		return -ENOMEM;
	got = elf_image__read(img, off, block, size);
	if (got < 0 || (uint64_t)got != size) {
		free(block);
		return got < 0 ? -EIO : -ENOEXEC; /* short: truncated since it was opened */
	}
	block[size] = '\0';
	*out = block;
	return 0;
}

bool elf_image__read_vaddr(const struct elf_image *img, uint64_t vaddr, void *buf, size_t len)
{
	for (size_t i = 0; i < img->segments_cnt; i++) {
		const struct elf_segment *seg = &img->segments[i];

		if (vaddr >= seg->vaddr && len <= seg->filesz &&
		    vaddr - seg->vaddr <= seg->filesz - len)
			return elf_image__read(img, seg->offset + (vaddr - seg->vaddr), buf, len) ==
			       (int64_t)len;
	}
	return false;
}

static bool find_offset(const struct elf_image *img, uint64_t vaddr, uint64_t size, bool exec,
			uint64_t *offset)
{
	size_t i;

	for (i = 0; i < img->segments_cnt; i++) {
		const struct elf_segment *seg = &img->segments[i];

		/* Below the segment the difference wraps, and no segment is that long. */
		if ((exec && !seg->exec) || vaddr - seg->vaddr >= seg->filesz ||
		    size > seg->filesz - (vaddr - seg->vaddr))
			continue;
		*offset = seg->offset + (vaddr - seg->vaddr);
		return true;
	}
	return false;
}

bool elf_image__exec_offset(const struct elf_image *img, uint64_t vaddr, uint64_t size,
			    uint64_t *offset)
{
	return find_offset(img, vaddr, size, true, offset);
}

bool elf_image__offset(const struct elf_image *img, uint64_t vaddr, uint64_t *offset)
{
	return find_offset(img, vaddr, 1, false, offset);
}

struct elf_pages *elf_pages__new(const struct elf_image *img)
{
	struct elf_pages *p = calloc(1, sizeof(*p));

	if (p)
		p->bytes = malloc(PAGES * sizeof(*p->bytes));
	if (!p || !p->bytes) {
		free(p);
		return NULL;
	}
	p->img = img;
	return p;
}

void elf_pages__free(struct elf_pages *p)
{
	if (!p)
		return;
	free(p->bytes);
	free(p);
}

/* The index of the page that holds the byte at `offset`; reads the page if need be. */
static size_t page_at(struct elf_pages *p, uint64_t offset)
{
	uint64_t number = offset / PAGE_SIZE + 1;
	size_t at = number % PAGES;
	int64_t got;

	if (p->numbers[at] != number) {
		got = elf_image__read(p->img, offset - offset % PAGE_SIZE, p->bytes[at], PAGE_SIZE);
		p->numbers[at] = number;
		p->lens[at] = got > 0 ? got : 0;
	}
	return at;
}

bool elf_pages__read(struct elf_pages *p, uint64_t offset, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		size_t page = page_at(p, offset), from = offset % PAGE_SIZE;
		size_t part = len < PAGE_SIZE - from ? len : PAGE_SIZE - from;

		if (from + part > p->lens[page])
			return false;
		memcpy(to, p->bytes[page] + from, part);
		to += part;
		offset += part;
		len -= part;
	}
	return true;
}

bool elf_pages__read_vaddr(struct elf_pages *p, uint64_t vaddr, void *buf, size_t len)
{
	uint64_t offset;

	return find_offset(p->img, vaddr, len, false, &offset) &&
	       elf_pages__read(p, offset, buf, len);
}

bool elf_image__exec_vaddr(const struct elf_image *img, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *segments;
	size_t cnt;

	segments = elf_image__segments(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct elf_segment *s = &segments[i];

		if (s->exec && offset >= s->offset && offset - s->offset < s->filesz) {
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

const struct elf_segment *elf_image__segments(const struct elf_image *img, size_t *cnt)
{
	*cnt = img->segments_cnt;
	return img->segments;
}

const Elf64_Phdr *elf_image__phdrs(const struct elf_image *img, size_t *cnt)
{
	*cnt = img->phdrs_cnt;
	return img->phdrs;
}

const struct elf_section *elf_image__sections(const struct elf_image *img, size_t *cnt)
{
	*cnt = img->sections_cnt;
	return img->sections;
}

struct Elf *elf_image__elf(const struct elf_image *img)
{
	return img->elf;
}

uint64_t elf_image__size(const struct elf_image *img)
{
	return img->size;
}

uint64_t elf_image__stored(const struct elf_image *img)
{
	return img->stored;
}
