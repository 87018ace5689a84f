// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions as compilers make them. This file is compiled twice, the second time with ENDBR64
 * defined and -fcf-protection=branch, which puts endbr64 first, as Ubuntu's and Fedora's compilers
 * do. scripts/bench checks what they begin with.
 */
#include "calls.h"

#ifdef ENDBR64
long endbr64_first(struct list *l)
#else
long push_first(struct list *l)
#endif
{
	untraced(l);
	return l->count;
}

#ifndef ENDBR64
/* The compiler loads first and saves a register after. */
long mov_first(struct list *l)
{
	l->next->count = l->count;
	untraced(l);
	return l->count;
}
#endif
