// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutations that know what an ELF file is made of. Flipped bytes mostly hit what nobody reads, or
 * break the header, behind which nothing is looked at. These hit one field of a header, a symbol, a
 * note, a dynamic entry, or change the content of one section and leave the rest whole.
 */
#include <elf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))
#define MAX_UNPACKED  (256u << 10)
#define MAX_UNPACKING (16u << 20)

/* libFuzzer's own mutations. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

struct input {
	uint8_t *data;
	size_t size, max_size;
	unsigned int seed;
};

static uint32_t pick(struct input *in, uint32_t below)
{
	return below ? (uint32_t)rand_r(&in->seed) % below : 0;
}

/* A table in the file, cut to what is there. */
struct table {
	uint64_t off;
	uint32_t cnt;
};

static struct table table_at(const struct input *in, uint64_t off, uint64_t cnt, size_t each)
{
	uint64_t room = off < in->size ? (in->size - off) / each : 0;

	return (struct table){off, cnt < room ? cnt : room};
}

static void header(const struct input *in, Elf64_Ehdr *eh)
{
	memcpy(eh, in->data, sizeof(*eh));
}

static struct table sections(const struct input *in)
{
	Elf64_Ehdr eh;

	header(in, &eh);
	return table_at(in, eh.e_shoff, eh.e_shnum, sizeof(Elf64_Shdr));
}

static struct table segments(const struct input *in)
{
	Elf64_Ehdr eh;

	header(in, &eh);
	return table_at(in, eh.e_phoff, eh.e_phnum, sizeof(Elf64_Phdr));
}

static void section_read(const struct input *in, uint32_t index, Elf64_Shdr *sh)
{
	memcpy(sh, in->data + sections(in).off + index * sizeof(*sh), sizeof(*sh));
}

/* A random section among those of one of two types, with its content inside the file. */
static bool section_of(struct input *in, uint32_t type, uint32_t or_type, Elf64_Shdr *sh)
{
	struct table t = sections(in);
	uint32_t first = pick(in, t.cnt);

	for (uint32_t i = 0; i < t.cnt; i++) {
		section_read(in, (first + i) % t.cnt, sh);
		if ((sh->sh_type == type || sh->sh_type == or_type) && sh->sh_size &&
		    sh->sh_offset < in->size && sh->sh_size <= in->size - sh->sh_offset)
			return true;
	}
	return false;
}

/* Numbers that parsers trip over, many of them relative to the file or to what stands there. */
static uint64_t number(struct input *in, uint64_t old)
{
	static const uint64_t edges[] = {
		0,	     1,		 2,	     7,		 8,	     0x18,
		0x1000,	     0xffff,	 0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 1ull << 40, INT64_MAX,  1ull << 63, UINT64_MAX, UINT64_MAX - 7,
		0xfffffff0,  0xfffffff1, 0xfffffffa, 0xfffffffb, /* Go's function tables */
	};
	uint64_t random;

	switch (pick(in, 8)) {
	case 0:
		return in->size - pick(in, 64);
	case 1:
		return old + pick(in, 64);
	case 2:
		return old - pick(in, 64);
	case 3:
		return old ^ 1ull << pick(in, 64);
	case 4:
		return pick(in, in->size + 1);
	case 5:
		memcpy(&random, in->data + pick(in, in->size - sizeof(random) + 1), sizeof(random));
		return random;
	default:
		return edges[pick(in, COUNT(edges))];
	}
}

/* Changes one field of `width` bytes at `off`. */
static void change_field(struct input *in, uint64_t off, size_t width)
{
	uint64_t value = 0;

	if (off > in->size || in->size - off < width)
		return;
	memcpy(&value, in->data + off, width);
	value = number(in, value);
	memcpy(in->data + off, &value, width);
}

struct field {
	uint8_t off, width;
};

#define FIELD(type, name)                                       \
	{                                                       \
		offsetof(type, name), sizeof(((type *)0)->name) \
	}

static void change_one_of(struct input *in, uint64_t off, const struct field *fields, size_t cnt)
{
	const struct field *f = &fields[pick(in, cnt)];

	change_field(in, off + f->off, f->width);
}

static void change_header(struct input *in)
{
	static const struct field fields[] = {
		FIELD(Elf64_Ehdr, e_type),	FIELD(Elf64_Ehdr, e_entry),
		FIELD(Elf64_Ehdr, e_phoff),	FIELD(Elf64_Ehdr, e_shoff),
		FIELD(Elf64_Ehdr, e_phnum),	FIELD(Elf64_Ehdr, e_shnum),
		FIELD(Elf64_Ehdr, e_flags),	FIELD(Elf64_Ehdr, e_shstrndx),
		FIELD(Elf64_Ehdr, e_phentsize), FIELD(Elf64_Ehdr, e_shentsize),
	};

	change_one_of(in, 0, fields, COUNT(fields));
}

static void change_segment(struct input *in)
{
	static const struct field fields[] = {
		FIELD(Elf64_Phdr, p_type),   FIELD(Elf64_Phdr, p_flags),
		FIELD(Elf64_Phdr, p_offset), FIELD(Elf64_Phdr, p_vaddr),
		FIELD(Elf64_Phdr, p_filesz), FIELD(Elf64_Phdr, p_memsz),
		FIELD(Elf64_Phdr, p_align),
	};
	struct table t = segments(in);

	if (t.cnt)
		change_one_of(in, t.off + pick(in, t.cnt) * sizeof(Elf64_Phdr), fields,
			      COUNT(fields));
}

static void change_section(struct input *in)
{
	static const struct field fields[] = {
		FIELD(Elf64_Shdr, sh_name),   FIELD(Elf64_Shdr, sh_type),
		FIELD(Elf64_Shdr, sh_flags),  FIELD(Elf64_Shdr, sh_addr),
		FIELD(Elf64_Shdr, sh_offset), FIELD(Elf64_Shdr, sh_size),
		FIELD(Elf64_Shdr, sh_link),   FIELD(Elf64_Shdr, sh_entsize),
	};
	struct table t = sections(in);

	if (t.cnt)
		change_one_of(in, t.off + pick(in, t.cnt) * sizeof(Elf64_Shdr), fields,
			      COUNT(fields));
}

static void change_symbol(struct input *in)
{
	static const struct field fields[] = {
		FIELD(Elf64_Sym, st_name),  FIELD(Elf64_Sym, st_info), FIELD(Elf64_Sym, st_shndx),
		FIELD(Elf64_Sym, st_value), FIELD(Elf64_Sym, st_size),
	};
	Elf64_Shdr sh;

	if (section_of(in, SHT_SYMTAB, SHT_DYNSYM, &sh))
		change_one_of(in,
			      sh.sh_offset +
				      pick(in, sh.sh_size / sizeof(Elf64_Sym)) * sizeof(Elf64_Sym),
			      fields, COUNT(fields));
}

/* One symbol becomes like another: the same address, or the same name. */
static void copy_symbol(struct input *in)
{
	Elf64_Shdr sh;
	uint8_t *from, *to;
	uint32_t cnt;

	if (!section_of(in, SHT_SYMTAB, SHT_DYNSYM, &sh))
		return;
	cnt = sh.sh_size / sizeof(Elf64_Sym);
	from = in->data + sh.sh_offset + pick(in, cnt) * sizeof(Elf64_Sym);
	to = in->data + sh.sh_offset + pick(in, cnt) * sizeof(Elf64_Sym);
	if (cnt && pick(in, 2))
		memmove(to + offsetof(Elf64_Sym, st_info), from + offsetof(Elf64_Sym, st_info),
			sizeof(Elf64_Sym) - offsetof(Elf64_Sym, st_info));
	else if (cnt)
		memmove(to, from, sizeof(((Elf64_Sym *)0)->st_name));
}

static void change_dynamic(struct input *in)
{
	Elf64_Shdr sh;

	if (section_of(in, SHT_DYNAMIC, SHT_DYNAMIC, &sh))
		change_field(in, sh.sh_offset + pick(in, sh.sh_size / 8) * 8, 8);
}

static void change_note(struct input *in)
{
	Elf64_Shdr sh;

	if (section_of(in, SHT_NOTE, SHT_GNU_HASH, &sh))
		change_field(in, sh.sh_offset + pick(in, sh.sh_size / 4) * 4, 4);
}

/* Words that mean something to whoever reads names. */
static void change_string(struct input *in)
{
	static const char *const words[] = {
		".cold",
		".cold.1",
		".part.0",
		"@",
		"@@V1",
		"_Z",
		"_ZN",
		"_R",
		"\x1b[2J",
		"\xff\xfe",
		"__cxa_throw",
		"swapcontext",
		"_start",
		".gnu_debugdata",
		".gopclntab",
		".eh_frame",
		".gcc_except_table",
		"go:func.*",
	};
	const char *word = words[pick(in, COUNT(words))];
	Elf64_Shdr sh;
	uint64_t at;
	size_t len = strlen(word);

	if (!section_of(in, SHT_STRTAB, SHT_STRTAB, &sh) || sh.sh_size < len)
		return;
	at = sh.sh_offset + pick(in, sh.sh_size - len + 1);
	memcpy(in->data + at, word, len);
}

/* libFuzzer's mutations, or one number, inside one section. */
static void change_content(struct input *in)
{
	struct table t = sections(in);
	Elf64_Shdr sh;

	if (!t.cnt)
		return;
	section_read(in, pick(in, t.cnt), &sh);
	if (sh.sh_type == SHT_NOBITS || !sh.sh_size || sh.sh_offset >= in->size ||
	    sh.sh_size > in->size - sh.sh_offset)
		return;
	if (pick(in, 2))
		LLVMFuzzerMutate(in->data + sh.sh_offset, sh.sh_size, sh.sh_size);
	else
		change_field(in, sh.sh_offset + pick(in, sh.sh_size), 1u << pick(in, 4));
}

static void mutate_elf(struct input *in);

/* Unpacks the mini debug info, mutates that, and packs it again at the end of the file. */
static void change_packed(struct input *in)
{
	uint64_t memory = MAX_UNPACKING;
	size_t in_pos = 0, len = 0, room, packed = 0;
	struct input inner;
	Elf64_Shdr sh;
	uint32_t i;

	for (i = 0; i < sections(in).cnt; i++) {
		section_read(in, i, &sh);
		if (sh.sh_offset < in->size && sh.sh_size > 6 &&
		    sh.sh_size <= in->size - sh.sh_offset &&
		    !memcmp(in->data + sh.sh_offset,
			    "\xfd"
			    "7zXZ",
			    6))
			break;
	}
	if (i == sections(in).cnt)
		return;
	inner = (struct input){malloc(MAX_UNPACKED), 0, MAX_UNPACKED, in->seed};
	if (inner.data && lzma_stream_buffer_decode(&memory, LZMA_IGNORE_CHECK, NULL,
						    in->data + sh.sh_offset, &in_pos, sh.sh_size,
						    inner.data, &len, MAX_UNPACKED) == LZMA_OK) {
		inner.size = len;
		mutate_elf(&inner);
		room = in->max_size - sh.sh_offset;
		/* At the old place if it is the last one, else behind everything. */
		if (lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, inner.data, inner.size,
					    in->data + sh.sh_offset, &packed,
					    room < sh.sh_size ? room : sh.sh_size) != LZMA_OK) {
			room = in->max_size - in->size;
			sh.sh_offset = in->size;
			packed = 0;
			if (lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, inner.data,
						    inner.size, in->data + in->size, &packed,
						    room) == LZMA_OK)
				in->size += packed;
		}
		if (packed) {
			sh.sh_size = packed;
			memcpy(in->data + sections(in).off + i * sizeof(sh), &sh, sizeof(sh));
		}
	}
	free(inner.data);
}

static void mutate_elf(struct input *in)
{
	static void (*const mutations[])(struct input *) = {
		change_header,	change_segment, change_section, change_symbol, change_symbol,
		copy_symbol,	change_dynamic, change_note,	change_string, change_content,
		change_content, change_content, change_packed,
	};
	uint32_t times = 1 + pick(in, 4);

	if (in->size < sizeof(Elf64_Ehdr) || memcmp(in->data, ELFMAG, SELFMAG)) {
		in->size = LLVMFuzzerMutate(in->data, in->size, in->max_size);
		return;
	}
	while (times--)
		mutations[pick(in, COUNT(mutations))](in);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct input in = {data, size, max_size, seed};

	if (pick(&in, 8) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	mutate_elf(&in);
	return in.size;
}
