/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts by which shells complete command lines, made of the table of options. Inside cli/ only.
 */
#ifndef PROFTRACE_CLI_COMPLETION_H
#define PROFTRACE_CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* Prints that of bash, zsh or fish; false: it is none of them. */
bool completion__print(const char *shell, FILE *out);

#endif
