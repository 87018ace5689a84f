/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the command line. */
#ifndef PROFTRACE_CLI_COMMAND_LINE_H
#define PROFTRACE_CLI_COMMAND_LINE_H

struct options;

/*
 * Parses the command line. Returns 0, or the exit status to leave with + 1 (1: help or version was
 * printed; 3: a usage error was reported). Strings are borrowed from argv.
 */
int options__parse(struct options *o, int argc, char **argv);
void options__clear(struct options *o);

#endif
