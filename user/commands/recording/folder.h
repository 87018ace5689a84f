/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder that gets a recording of each interval (record -i). Whoever reads there finds whole
 * recordings alone: each is written under a hidden name, is on the disk, and then gets its own,
 * "NUMBER-TIME.data". Numbers grow by one, whatever the clock does, and go on after the last one
 * that is there.
 */
#ifndef PROFTRACE_RECORDING_FOLDER_H
#define PROFTRACE_RECORDING_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct folder;
struct options;
struct profile;

/* All return 0, or -errno with one line logged. */

/* Opens the folder o->output, or makes it. Removes what killed runs have left half done. */
int folder__open(const struct options *o, struct folder **out);
void folder__free(struct folder *f); /* accepts NULL */

/* Puts a recording of `p` there. If that fails, nothing of it is left. */
int folder__put(struct folder *f, const struct profile *p);

/* The path, with a hidden name, at which to make a recording for folder__adopt(). */
const char *folder__part(const struct folder *f);
/* The path of a file for the run's own use, which is removed with the folder. */
const char *folder__own(const struct folder *f);

/* Gives what was made at folder__part() its name, that of a recording that begins then (seconds
 * since 1970). *name = its path, which the caller frees. If that fails nothing of it is left. */
int folder__adopt(struct folder *f, double start_time, char **name);

/* Removes the oldest recordings of the folder until there are `cnt` at most. */
void folder__keep(struct folder *f, size_t cnt);

#endif
