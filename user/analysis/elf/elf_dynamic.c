// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_dynamic.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/elf_bytes.h"
#include "elf/elf_inside.h"

#define MAX_DYNAMIC_SIZE (1u << 20)
#define MAX_BUCKETS_SIZE (64u << 20)
#define MAX_CHAIN_LEN	 65536

int elf_dynamic__load(const struct elf_image *img, struct elf_dynamic *dyn)
{
	const Elf64_Phdr *phdrs;
	size_t phdrs_cnt, i, max;
	void *block;
	int err;

	*dyn = (struct elf_dynamic){0};
	phdrs = elf_image__phdrs(img, &phdrs_cnt);
	for (i = 0; i < phdrs_cnt && phdrs[i].p_type != PT_DYNAMIC; i++)
		;
	if (i == phdrs_cnt)
		return -ENOENT;
	err = elf_image__read_block(img, phdrs[i].p_offset, phdrs[i].p_filesz, MAX_DYNAMIC_SIZE,
				    &block);
	if (err)
		return err;
	dyn->entries = block;
	max = phdrs[i].p_filesz / sizeof(*dyn->entries);
	while (dyn->cnt < max && dyn->entries[dyn->cnt].d_tag != DT_NULL)
		dyn->cnt++;
	return 0;
}

void elf_dynamic__free(struct elf_dynamic *dyn)
{
	free(dyn->entries);
	*dyn = (struct elf_dynamic){0};
}

bool elf_dynamic__get(const struct elf_dynamic *dyn, int64_t tag, uint64_t *val)
{
	size_t i;

	for (i = 0; i < dyn->cnt; i++) {
		if (dyn->entries[i].d_tag == tag) {
			*val = dyn->entries[i].d_un.d_val;
			return true;
		}
	}
	return false;
}

char *elf_dynamic__string(const struct elf_dynamic *dyn, const struct elf_image *img, uint64_t off,
			  char *buf, size_t size)
{
	uint64_t strtab, file_off;
	int64_t got = 0;

	if (elf_dynamic__get(dyn, DT_STRTAB, &strtab) &&
	    !__builtin_add_overflow(strtab, off, &off) && elf_image__offset(img, off, &file_off))
		got = elf_image__read(img, file_off, buf, size - 1);
	buf[got < 0 ? 0 : got] = '\0';
	return buf;
}

/* DT_GNU_HASH has no count: the highest chain start, then along that chain to its end mark. */
static uint64_t gnu_hash_cnt(const struct elf_image *img, uint64_t off)
{
	struct {
		uint32_t buckets_cnt, first_symbol, bloom_words, bloom_shift;
	} head;
	uint32_t *buckets, last = 0, i, hash;
	uint64_t bloom_size;
	void *block;

	if (elf_image__read(img, off, &head, sizeof(head)) != sizeof(head))
		return 0;
	bloom_size = head.bloom_words * 8ull;
	off += sizeof(head) + bloom_size;
	if (elf_image__read_block(img, off, head.buckets_cnt * 4ull, MAX_BUCKETS_SIZE, &block))
		return 0;
	buckets = block;
	for (i = 0; i < head.buckets_cnt; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(block);
	if (last < head.first_symbol)
		return head.first_symbol;
	off += head.buckets_cnt * 4ull + (last - head.first_symbol) * 4ull;
	for (i = 0; i < MAX_CHAIN_LEN; i++) {
		if (elf_image__read(img, off + i * sizeof(hash), &hash, sizeof(hash)) !=
		    sizeof(hash))
			return 0;
		if (hash & 1)
			return last + i + 1ull;
	}
	return 0;
}

uint64_t elf_dynamic__symbols_cnt(const struct elf_dynamic *dyn, const struct elf_image *img)
{
	uint32_t head[2]; /* nbucket, nchain */
	uint64_t vaddr, off;

	if (elf_dynamic__get(dyn, DT_GNU_HASH, &vaddr) && elf_image__offset(img, vaddr, &off))
		return gnu_hash_cnt(img, off);
	if (elf_dynamic__get(dyn, DT_HASH, &vaddr) && elf_image__offset(img, vaddr, &off) &&
	    elf_image__read(img, off, head, sizeof(head)) == sizeof(head))
		return head[1];
	return 0;
}
