/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The accounts of a profile one by one, for whoever wants all of them. */
#ifndef PROFTRACE_CALLS_ACCOUNTING_H
#define PROFTRACE_CALLS_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_accounting;

struct account {
	const char *name;  /* as in the JSON contract */
	const char *label; /* in a few words */
	size_t offset;	   /* in struct profile_accounting, 64 bits wide */
	enum { ACCOUNT_CALLS, ACCOUNT_NS } unit;
	/* When the account is listed. */
	enum { ACCOUNT_ALWAYS, ACCOUNT_IF_ANY, ACCOUNT_WITH_LINES, ACCOUNT_WITH_CALLS } when;
};

#define ACCOUNTS 38
extern const struct account accounts[ACCOUNTS];

/* The account's figure as it is shown. CPU time is without the probes' cost, as all times are, so
 * it is the sum of functions' own times. For accounts without a sign: the same bits. */
int64_t account__of(const struct account *account, const struct profile_accounting *a);

/* Whether it may be below 0: the open calls of a delta are by how much their number has changed. */
bool account__is_signed(const struct account *account);

/* *a = *a - *before, member by member; what would be below 0 becomes 0. */
void accounting__subtract(struct profile_accounting *a, const struct profile_accounting *before);

/* Whether it is to be listed. */
bool account__matters(const struct account *account, const struct profile *p);

#endif
