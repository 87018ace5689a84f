// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/skeleton.h"

#include <errno.h>
#include <stdlib.h>

#include "basic.skel.h"
#include "security/privilege.h"

struct proftrace_bpf *skeleton__open(bool basic)
{
	struct proftrace_bpf *skel = calloc(1, sizeof(*skel));
	int err;

	if (!skel)
		return NULL;
	err = proftrace_bpf__create_skeleton(skel);
	/* A skeleton finds programs and maps by name, so that of the others fits. The build checks
	 * that the variables lie alike in both. */
	if (!err && basic)
		skel->skeleton->data = (void *)basic_bpf__elf_bytes(&skel->skeleton->data_sz);
	if (!err)
		err = bpf_object__open_skeleton(skel->skeleton, NULL);
	if (err) {
		proftrace_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}
	/* On such kernels the run takes it to end open calls when tracing is switched off. */
	if (basic)
		privilege__keep_bpf();
	return skel;
}
