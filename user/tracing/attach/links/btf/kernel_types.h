/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of the kernel that our programs read, as BTF of their own: some 300 of more than
 * 100,000. libbpf goes through all of the BTF that it is given for each type that programs name,
 * and, where the kernel lacks one, through that of all of its modules.
 */
#ifndef PROFTRACE_ATTACH_LINKS_BTF_KERNEL_TYPES_H
#define PROFTRACE_ATTACH_LINKS_BTF_KERNEL_TYPES_H

struct btf;
struct btf_view;

/*
 * Structures, unions and enumerations of the kernel by the names that the programs' types have,
 * with all that lies in them. What their pointers lead to is left out unless it is named as well:
 * programs get at it by its own type. Returns NULL with errno set.
 */
struct btf *kernel_types__of(const struct btf *programs, const struct btf_view *kernel);

#endif
