// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The version stands in .go.buildinfo (src/debug/buildinfo): behind 32 bytes of header as a string
 * with a varint length since 1.18, before that behind a pointer to a string's header. It tells the
 * layout of struct g (src/runtime/runtime2.go).
 *
 * The pointer to g is a thread-local variable, runtime.tlsg: the only one there is, right below the
 * thread pointer, unless C code that was linked in has its own.
 */
#include "symbol/go.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/elf_reloc.h"
#include "elf/sym_table.h"

#define INFO_HEADER	 32
#define INFO_FLAGS	 15
#define INFO_POINTER	 16
#define FLAG_BIG_ENDIAN	 1
#define FLAG_INLINE	 2
#define MAX_VERSION	 64
#define TLSG_SIZE	 8
#define TLSG_ONLY_OFFSET (-TLSG_SIZE)

/* Offsets of goid in struct g, and of curg in struct m, from this minor version on. 1.10 dropped a
 * field before goid, 1.23 added one (syscallbp), 1.25 dropped one before both (gobuf.ret). */
static const struct {
	int minor;
	uint32_t goid, curg;
} offsets[] = {{25, 152, 184}, {23, 160, 192}, {10, 152, 192}};

int go_minor_version(const char *text)
{
	const char *at = strstr(text, "go1.");
	long minor = 0;
	int digits = 0;

	if (!at)
		return -1;
	for (at += 4; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
		minor = minor * 10 + (*at - '0');
	return digits ? minor : -1;
}

/* The string whose header lies at `vaddr`. */
static bool read_pointed(const struct elf_image *img, uint64_t vaddr, char *text)
{
	uint64_t header[2], len;

	if (!elf_image__read_vaddr(img, vaddr, header, sizeof(header)))
		return false;
	elf_reloc__apply(img, vaddr, header, sizeof(header));
	len = header[1] < MAX_VERSION ? header[1] : MAX_VERSION;
	text[len] = '\0';
	return len && elf_image__read_vaddr(img, header[0], text, len);
}

/* The string behind the header: no version is so long that its length took two bytes. */
static bool read_inline(const struct elf_image *img, const struct elf_section *sec, char *text)
{
	uint8_t len;

	if (sec->size <= INFO_HEADER + 1 ||
	    elf_image__read(img, sec->offset + INFO_HEADER, &len, 1) != 1 || !len ||
	    len > MAX_VERSION || sec->size - INFO_HEADER - 1 < len)
		return false;
	text[len] = '\0';
	return elf_image__read(img, sec->offset + INFO_HEADER + 1, text, len) == len;
}

/* Fills in text[MAX_VERSION + 1]; whether there is a version. */
static bool read_version(const struct elf_image *img, char *text)
{
	static const uint8_t magic[] = "\xff Go buildinf:";
	const struct elf_section *sec = elf_section__by_name(img, ".go.buildinfo");
	uint8_t header[INFO_HEADER];
	uint64_t pointer;

	if (!sec || sec->type == SHT_NOBITS || sec->size < sizeof(header) ||
	    elf_image__read(img, sec->offset, header, sizeof(header)) != sizeof(header) ||
	    memcmp(header, magic, sizeof(magic) - 1))
		return false;
	if (header[INFO_FLAGS] & FLAG_INLINE)
		return read_inline(img, sec, text);
	if (header[INFO_FLAGS] & FLAG_BIG_ENDIAN)
		return false;
	elf_reloc__apply(img, sec->addr, header, sizeof(header));
	memcpy(&pointer, header + INFO_POINTER, sizeof(pointer));
	return read_pointed(img, pointer, text);
}

static bool find_offsets(const struct elf_image *img, struct go_layout *layout)
{
	char version[MAX_VERSION + 1];
	int minor;

	if (!read_version(img, version))
		return false;
	minor = go_minor_version(version);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		if (minor >= offsets[i].minor) {
			layout->goid_offset = offsets[i].goid;
			layout->curg_offset = offsets[i].curg;
			return true;
		}
	}
	return false;
}

/* The segment of the object's thread-local variables (PT_TLS), and whether it is a program: only
 * then is their place known. */
static const Elf64_Phdr *find_tls(const struct elf_image *img, bool *is_program)
{
	const Elf64_Phdr *tls = NULL, *phdrs;
	size_t cnt;

	*is_program = elf_image__is_static(img);
	phdrs = elf_image__phdrs(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (phdrs[i].p_type == PT_TLS)
			tls = &phdrs[i];
		*is_program |= phdrs[i].p_type == PT_INTERP;
	}
	return tls;
}

static bool find_tlsg(const struct elf_image *img, uint64_t *value)
{
	struct sym_table tab;
	bool found = false;
	const char *name;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(img, SHT_SYMTAB, &tab))
		return false;
	while (!found && sym_table__next(&tab, &sym)) {
		if (ELF64_ST_TYPE(sym.st_info) != STT_TLS || sym.st_shndx == SHN_UNDEF)
			continue;
		name = sym_table__name(&tab, &sym, &len);
		found = name && !strcmp(name, "runtime.tlsg");
	}
	sym_table__close(&tab);
	*value = sym.st_value;
	return found;
}

static bool g_tls_offset(const struct elf_image *img, int64_t *offset)
{
	const Elf64_Phdr *tls;
	uint64_t value, align;
	bool is_program;

	tls = find_tls(img, &is_program);
	if (!is_program)
		return false;
	*offset = TLSG_ONLY_OFFSET;
	if (!tls || tls->p_memsz == TLSG_SIZE)
		return true;
	/* The program's block ends at the thread pointer, rounded up to its alignment. */
	align = tls->p_align ? tls->p_align : 1;
	if (tls->p_memsz < TLSG_SIZE || tls->p_memsz > INT32_MAX || align > INT32_MAX ||
	    (align & (align - 1)) || !find_tlsg(img, &value) || value > tls->p_memsz - TLSG_SIZE)
		return false;
	*offset = (int64_t)value - (int64_t)((tls->p_memsz + align - 1) & -align);
	return true;
}

int go_layout__of(const struct elf_image *img, struct go_layout *layout)
{
	if (!find_offsets(img, layout) || !g_tls_offset(img, &layout->g_tls_offset))
		return -ENOENT;
	return 0;
}

/* Begins of names behind "runtime.", of Go 1.17 to 1.25: src/runtime/m*.go but for maps. */
static const char *const memory_names[] = {
	"(*activeSweep)",
	"(*bucket)",
	"(*fixalloc)",
	"(*gc",
	"(*lfstack)",
	"(*limiterEvent)",
	"(*mcache)",
	"(*mcentral)",
	"(*mheap)",
	"(*mspan)",
	"(*pageAlloc)",
	"(*pageBits)",
	"(*pageCache)",
	"(*palloc",
	"(*scav",
	"(*spanInlineMarkBits)",
	"(*spanSet",
	"(*stackScanState)",
	"(*sweep",
	"(*wbBuf)",
	"(*workbuf)",
	"bgscavenge",
	"bgsweep",
	"bulkBarrier",
	"findObject",
	"finishsweep_m",
	"freeSomeWbufs",
	"freeSpecial",
	"gc",
	"getempty",
	"greyobject",
	"lfnodeValidate",
	"mProf",
	"mark",
	"mergeSummaries",
	"newMarkBits",
	"nextMarkBit",
	"prepareFreeWorkbufs",
	"putempty",
	"putfull",
	"scan",
	"sweep",
	"sysHugePage",
	"sysUnused",
	"sysUsed",
	"trygetfull",
	"wbBufFlush",
};

bool go_manages_memory(const char *symbol)
{
	static const char package[] = "runtime.";

	if (strncmp(symbol, package, sizeof(package) - 1))
		return false;
	symbol += sizeof(package) - 1;
	for (size_t i = 0; i < sizeof(memory_names) / sizeof(*memory_names); i++) {
		if (!strncmp(symbol, memory_names[i], strlen(memory_names[i])))
			return true;
	}
	return false;
}
