/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rules of Go's code, by the table that its runtime walks stacks by. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_GO_ROWS_H
#define PROFTRACE_UNWIND_GO_ROWS_H

struct eh_row_visitor;
struct elf_image;

/*
 * Goes through the rules of all functions of a Go program, as eh_frame__for_each_row() does.
 * Functions that set their stack pointer have none. Returns 0, -ENOENT (there is no table, or it is
 * older than Go 1.17), -ENOEXEC (damaged), -EIO, -ENOMEM, or what a callback returned.
 */
int go_rows__for_each(const struct elf_image *img, const struct eh_row_visitor *visitor);

#endif
