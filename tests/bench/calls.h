/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions whose calls are timed. They are called by pointer and so are all of one type. */
#ifndef CALLS_H
#define CALLS_H

struct list {
	struct list *next;
	long count;
};

/* Something to call, which nobody traces. */
void untraced(struct list *l);

/* By what they begin with. functions.c: as the compiler makes them. */
long push_first(struct list *l);
long endbr64_first(struct list *l);
long mov_first(struct list *l);
/* first.S */
long nop5_first(struct list *l);
long lea_only(struct list *l);
long push_leaf(struct list *l);

#endif
