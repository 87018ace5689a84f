/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of files and of other ends of connections that the kernel's side has met, as text. */
#ifndef PROFTRACE_TABLES_FILE_NAMES_H
#define PROFTRACE_TABLES_FILE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct bpf_tables;
struct wire_file;

#define FILE_NAME_LEN 288 /* room for one */

/* All zero: none so far. */
struct file_names {
	char **texts; /* by number, from 0 on; NULL: not read yet */
};

/* "/var/log/app.log", "tcp 10.0.0.1:5432", "clients at tcp port 80", "unix /run/x.sock", "pipe" in
 * `buf`, which it returns. */
char *file_name__text(const struct wire_file *f, char buf[FILE_NAME_LEN]);

/* The name of that number, from 0 on; NULL: there is none, or no memory. Stays as long as `n`. */
const char *file_names__at(struct file_names *n, const struct bpf_tables *t, uint32_t number);

/* Looks that found no room for another name. */
uint64_t file_names__missing(const struct bpf_tables *t);

void file_names__fini(struct file_names *n);

#endif
