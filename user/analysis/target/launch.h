/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting a command as the user who called sudo, and holding it until probes are in: it stops once
 * the dynamic linker has mapped its libraries, before any of their or its own functions has run.
 */
#ifndef PROFTRACE_TARGET_LAUNCH_H
#define PROFTRACE_TARGET_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch;

/* Starts argv. Returns 0, or -errno with one line logged. */
int launch__fork(char *const argv[], struct launch **out);

/* Returns once it is held. `name`: its first word. Returns 0, or -errno with one line logged
 * (command not found, not executable, ended before it could be held). A command that did run and
 * has ended leaves its status, as a shell tells it, in *status. */
int launch__start(struct launch *l, const char *name, int *status);

pid_t launch__pid(const struct launch *l);

/* Whether the held command, which was started by `name`, is a script ("#!/bin/sh"): then the
 * program that runs is its interpreter. */
bool launch__is_script(const struct launch *l, const char *name);

/* Lets the command run, untraced by us. */
int launch__release(struct launch *l);

/* The command may ask to be traced by its parent, which we are: then it stops at each signal. Has
 * such ones go on, untraced, with their signal. To be called now and then. */
void launch__let_go(void);

/* The command's exit status as a shell tells it (128+N if signal N killed it) in *status. With
 * `block` waits for its end. Returns whether it has ended. */
bool launch__ended(struct launch *l, bool block, int *status);

/* Kills the command if it was never released. Accepts NULL. */
void launch__free(struct launch *l);

#endif
