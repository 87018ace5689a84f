/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF programs, with what their generated header takes for granted. */
#ifndef PROFTRACE_ATTACH_LINKS_SKELETON_H
#define PROFTRACE_ATTACH_LINKS_SKELETON_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"
#include "proftrace.skel.h"

#endif
