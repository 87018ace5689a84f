// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening a stranger's ELF file. The header is checked by hand before libelf sees the file, so that
 * what libelf allocates is bounded; libelf then reads the header tables, and every content is read
 * by elf_image__read(), whose callers check ranges against the size the file had at open.
 */
#include "elf/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "arch/arch.h"
#include "elf/elf_bytes.h"
#include "elf/elf_dynamic.h"
#include "elf/elf_image_data.h"
#include "elf/elf_inside.h"
#include "security/trust.h"
#include "util/log.h"

/* The kernel refuses program headers over 64 KiB. */
#define MAX_PHDRS    (65536 / sizeof(Elf64_Phdr))
#define MAX_SEGMENTS 256
/* A linked file has tens of sections; this bounds what libelf allocates for them. */
#define MAX_SECTIONS (256 * 1024)

#define COMPRESSED_BY_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */

__attribute__((format(printf, 3, 4))) static int refuse(const struct elf_image *img, int err,
							const char *fmt, ...)
{
	char why[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	log_at(img->level, "elf: cannot read '%s': %s", img->label, why);
	return err;
}

static int check_file(struct elf_image *img)
{
	struct stat st;

	if (fstat(img->fd, &st))
		return refuse(img, -EIO, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(img, -ENOEXEC, "not a regular file");
	if (!st.st_size)
		return refuse(img, -ENOEXEC, "the file is empty");
	img->size = st.st_size;
	/* st_blocks counts blocks of 512 bytes; small files may have none. */
	img->stored =
		(uint64_t)st.st_blocks * 512 < img->size ? (uint64_t)st.st_blocks * 512 : img->size;
	return 0;
}

static int check_section_cnt(const struct elf_image *img, const Elf64_Ehdr *eh)
{
	Elf64_Shdr first;

	/* Over 65,279 sections the count is in the first section's header. */
	if (!eh->e_shoff || eh->e_shnum ||
	    elf_image__read(img, eh->e_shoff, &first, sizeof(first)) != sizeof(first))
		return 0;
	if (first.sh_size > MAX_SECTIONS)
		return refuse(img, -ENOEXEC, "damaged: %llu sections",
			      (unsigned long long)first.sh_size);
	return 0;
}

static int check_header(struct elf_image *img)
{
	Elf64_Ehdr eh = {0};
	int64_t len = elf_image__read(img, 0, &eh, sizeof(eh));

	if (len < 0)
		return refuse(img, -EIO, "%s", strerror(-len));
	if (len >= 2 && !memcmp(eh.e_ident, "#!", 2))
		return refuse(img, -ENOEXEC, "it is a script: profile its interpreter instead");
	if (len < EI_NIDENT || memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return refuse(img, -ENOEXEC, "not an ELF file");
	if (eh.e_ident[EI_CLASS] == ELFCLASS32)
		return refuse(img, -ENOTSUP, "a 32-bit file: only %s is supported",
			      arch__host()->name);
	if (len < (int64_t)sizeof(eh))
		return refuse(img, -ENOEXEC, "truncated: shorter than an ELF header");
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_VERSION] != EV_CURRENT)
		return refuse(img, -ENOEXEC, "damaged ELF header");
	img->arch = eh.e_ident[EI_DATA] == ELFDATA2LSB ? arch__of_machine(eh.e_machine) : NULL;
	if (!img->arch)
		return refuse(img, -ENOTSUP, "built for another machine: only %s is supported",
			      arch__host()->name);
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return refuse(img, -ENOTSUP, "%s, not a program or shared library",
			      eh.e_type == ET_REL    ? "an object file"
			      : eh.e_type == ET_CORE ? "a core dump"
						     : "an unknown kind of ELF file");
	if (eh.e_phnum && eh.e_phentsize != sizeof(Elf64_Phdr))
		return refuse(img, -ENOEXEC, "damaged ELF header");
	img->entry = eh.e_entry;
	img->is_fixed = eh.e_type == ET_EXEC;
	return check_section_cnt(img, &eh);
}

static int start_libelf(struct elf_image *img)
{
	elf_version(EV_CURRENT);
	/* ELF_C_READ reads with pread: it neither maps the file nor moves its position. */
	img->elf = elf_begin(img->fd, ELF_C_READ, NULL);
	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF)
		return refuse(img, -ENOEXEC, "damaged: %s", elf_errmsg(-1));
	return 0;
}

static int read_phdrs(struct elf_image *img)
{
	size_t cnt, i;

	if (elf_getphdrnum(img->elf, &cnt) || cnt > MAX_PHDRS)
		return refuse(img, -ENOEXEC, "damaged program headers");
	if (!cnt)
		return 0;
	img->phdrs = calloc(cnt, sizeof(*img->phdrs));
	if (!img->phdrs)
		return refuse(img, -ENOMEM, "out of memory");
	for (i = 0; i < cnt; i++) {
		if (!gelf_getphdr(img->elf, i, &img->phdrs[i]))
			return refuse(img, -ENOEXEC, "truncated or damaged program headers");
	}
	img->phdrs_cnt = cnt;
	return 0;
}

static int add_segment(struct elf_image *img, const Elf64_Phdr *ph)
{
	uint64_t end;

	if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end) ||
	    __builtin_add_overflow(ph->p_vaddr, ph->p_filesz, &end))
		return refuse(img, -ENOEXEC, "damaged: a segment wraps around");
	if (!elf_image__has_bytes(img, ph->p_offset, ph->p_filesz)) {
		/* A debug file keeps the program headers without the bytes. */
		if (img->is_debug)
			return 0;
		return refuse(img, -ENOEXEC, "truncated: a segment ends behind the file");
	}
	img->segments[img->segments_cnt++] = (struct elf_segment){
		.vaddr = ph->p_vaddr,
		.offset = ph->p_offset,
		.filesz = ph->p_filesz,
		.exec = ph->p_flags & PF_X,
		.written = ph->p_flags & PF_W,
	};
	return 0;
}

static int read_segments(struct elf_image *img)
{
	size_t i, cnt = 0;
	int err;

	for (i = 0; i < img->phdrs_cnt; i++)
		cnt += img->phdrs[i].p_type == PT_LOAD;
	if (!cnt && !img->is_debug)
		return refuse(img, -ENOEXEC, "damaged: nothing in it can be loaded");
	if (cnt > MAX_SEGMENTS)
		return refuse(img, -ENOEXEC, "damaged: %zu segments", cnt);
	img->segments = calloc(cnt + 1, sizeof(*img->segments));
	if (!img->segments)
		return refuse(img, -ENOMEM, "out of memory");
	for (i = 0; i < img->phdrs_cnt; i++) {
		if (img->phdrs[i].p_type != PT_LOAD)
			continue;
		err = add_segment(img, &img->phdrs[i]);
		if (err)
			return err;
	}
	return 0;
}

static bool has_interpreter(const struct elf_image *img)
{
	size_t i;

	for (i = 0; i < img->phdrs_cnt; i++) {
		if (img->phdrs[i].p_type == PT_INTERP)
			return true;
	}
	return false;
}

static int find_is_static(struct elf_image *img)
{
	struct elf_dynamic dyn;
	uint64_t needed;
	int err = elf_dynamic__load(img, &dyn);

	if (err == -ENOMEM)
		return refuse(img, err, "out of memory");
	img->is_static = !has_interpreter(img) && !elf_dynamic__get(&dyn, DT_NEEDED, &needed);
	elf_dynamic__free(&dyn);
	return 0;
}

static int open_image(int fd, const char *label, bool is_debug, enum log_level level,
		      struct elf_image **out)
{
	struct elf_image *img = calloc(1, sizeof(*img));
	int err = -ENOMEM;

	if (img) {
		img->label = strdup(label);
		img->texts = calloc(1, sizeof(*img->texts));
	}
	if (!img || !img->label || !img->texts) {
		log_error("elf: cannot read '%s': out of memory", label);
		goto out;
	}
	img->fd = fd;
	img->is_debug = is_debug;
	img->level = level;
	if ((err = check_file(img)) || (err = check_header(img)) || (err = start_libelf(img)) ||
	    (err = read_phdrs(img)) || (err = read_segments(img)))
		goto out;
	err = elf_section__load_all(img, &img->sections, &img->sections_cnt, &img->section_names);
	if (err) {
		refuse(img, err, "out of memory");
		goto out;
	}
	err = find_is_static(img);
out:
	if (err) {
		elf_image__free(img);
		return err;
	}
	*out = img;
	return 0;
}

int elf_image__open(int fd, const char *label, struct elf_image **out)
{
	return open_image(fd, label, false, LOG_ERROR, out);
}

int elf_image__try(int fd, const char *label, struct elf_image **out)
{
	return open_image(fd, label, false, LOG_DEBUG, out);
}

int elf_image__open_debug(int fd, const char *label, struct elf_image **out)
{
	int err = open_image(fd, label, true, LOG_DEBUG, out);

	if (!err)
		(*out)->owns_fd = true;
	return err;
}

void elf_image__free(struct elf_image *img)
{
	if (!img)
		return;
	elf_end(img->elf);
	for (size_t i = 0; img->texts && i < img->texts->cnt; i++)
		free(img->texts->items[i]);
	free(img->texts);
	if (img->owns_fd)
		close(img->fd);
	free(img->phdrs);
	free(img->segments);
	free(img->sections);
	free(img->section_names);
	free(img->label);
	free(img);
}

char *elf_image__soname(const struct elf_image *img, char *buf, size_t size)
{
	struct elf_dynamic dyn;
	uint64_t off;

	buf[0] = '\0';
	if (!elf_dynamic__load(img, &dyn) && elf_dynamic__get(&dyn, DT_SONAME, &off))
		elf_dynamic__string(&dyn, img, off, buf, size);
	elf_dynamic__free(&dyn);
	return buf;
}

const char *elf_image__label(const struct elf_image *img)
{
	return img->label;
}

bool elf_image__is_roots(const struct elf_image *img)
{
	return trust__is_roots(img->fd);
}

int elf_image__end_text(const struct elf_image *img, Elf_Data *data)
{
	struct texts *t = img->texts;
	char *text = data->d_buf;

	if (!text[data->d_size - 1])
		return 0;
	for (size_t i = 0; i < t->cnt; i++) {
		if (t->items[i] == text)
			return 0;
	}
	text = t->cnt < MAX_TEXTS ? malloc(data->d_size + 1) : NULL;
	if (!text)
		return -ENOMEM;
	memcpy(text, data->d_buf, data->d_size);
	text[data->d_size] = '\0';
	t->items[t->cnt++] = data->d_buf = text;
	return 0;
}

/* Whether the section is packed by zstd, and *size = the bytes of what it holds, then. */
static bool is_packed_by_zstd(const struct elf_image *img, const struct elf_section *sec,
			      uint64_t *size)
{
	Elf64_Chdr header;

	if (sec->size <= sizeof(header) ||
	    elf_image__read(img, sec->offset, &header, sizeof(header)) != sizeof(header))
		return false;
	*size = header.ch_size;
	return header.ch_type == COMPRESSED_BY_ZSTD;
}

/* Unpacks what is behind the header of a section that is packed by zstd, `size` bytes. Returns a
 * block with a NUL behind it, or NULL: it is damaged. */
static char *unpack_zstd(const struct elf_image *img, const struct elf_section *sec, size_t size)
{
	void *packed = NULL;
	char *plain;
	size_t len = 0;

	if (elf_image__read_block(img, sec->offset, sec->size, img->size, &packed))
		return NULL;
	plain = malloc(size + 1);
	if (plain)
		len = ZSTD_decompress(plain, size, (char *)packed + sizeof(Elf64_Chdr),
				      sec->size - sizeof(Elf64_Chdr));
	free(packed);
	if (!plain || len != size) { /* a number that is far too large is an error's */
		free(plain);
		return NULL;
	}
	plain[len] = '\0';
	return plain;
}

size_t elf_image__unpack(const struct elf_image *img, Elf_Scn *scn, uint64_t max)
{
	const struct elf_section *sec = elf_section__at(img, elf_ndxscn(scn));
	struct texts *t = img->texts;
	Elf_Data *data, *raw;
	GElf_Shdr header;
	uint64_t size = 0;
	char *plain;

	if (!sec || t->cnt == MAX_TEXTS || !gelf_getshdr(scn, &header) ||
	    !(header.sh_flags & SHF_COMPRESSED) || !is_packed_by_zstd(img, sec, &size) || !size ||
	    size > max)
		return 0;
	data = elf_getdata(scn, NULL);
	raw = elf_rawdata(scn, NULL);
	plain = data && raw ? unpack_zstd(img, sec, size) : NULL;
	if (!plain)
		return 0;
	t->items[t->cnt++] = data->d_buf = raw->d_buf = plain;
	data->d_size = raw->d_size = size;
	data->d_type = raw->d_type = ELF_T_BYTE;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED; /* in memory alone */
	header.sh_size = size;
	gelf_update_shdr(scn, &header);
	return size;
}

const struct arch *elf_image__arch(const struct elf_image *img)
{
	return img->arch;
}

uint64_t elf_image__entry(const struct elf_image *img)
{
	return img->entry;
}

bool elf_image__is_static(const struct elf_image *img)
{
	return img->is_static;
}

bool elf_image__is_program(const struct elf_image *img)
{
	char soname[2];

	return has_interpreter(img) && !*elf_image__soname(img, soname, sizeof(soname));
}

bool elf_image__is_fixed(const struct elf_image *img)
{
	return img->is_fixed;
}
