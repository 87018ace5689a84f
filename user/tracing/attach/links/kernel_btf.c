// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/kernel_btf.h"

#include <bpf/btf.h>
#include <stddef.h>

static struct btf *kernel;

const struct btf *kernel_btf(void)
{
	if (!kernel)
		kernel = btf__load_vmlinux_btf();
	return kernel;
}

void kernel_btf__forget(void)
{
	btf__free(kernel);
	kernel = NULL;
}
