// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/btf/kernel_btf.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/links/btf/btf_view.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static struct btf_view running;
static void *mapped = MAP_FAILED; /* what `running` looks at, where the kernel lets it be mapped */
static size_t mapped_size;
static struct btf *copied; /* the same where it does not */

/* In one piece (Linux 6.16): whoever reads the file is given 4 KB at a time. */
static int open_mapped(void)
{
	int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size <= UINT32_MAX) {
		mapped_size = st.st_size;
		mapped = mmap(NULL, mapped_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return mapped == MAP_FAILED ? -1 : btf_view__open(&running, mapped, mapped_size);
}

/* As libbpf reads it, which looks for it in files of the kernel's package as well. */
static int open_copied(void)
{
	const void *data;
	uint32_t size;

	copied = btf__load_vmlinux_btf();
	data = copied ? btf__raw_data(copied, &size) : NULL;
	return data ? btf_view__open(&running, data, size) : -1;
}

const struct btf_view *kernel_btf(void)
{
	if (running.type_cnt || !open_mapped() || !open_copied())
		return &running;
	kernel_btf__forget();
	return NULL;
}

void kernel_btf__forget(void)
{
	btf_view__close(&running);
	if (mapped != MAP_FAILED)
		munmap(mapped, mapped_size);
	mapped = MAP_FAILED;
	btf__free(copied);
	copied = NULL;
}
