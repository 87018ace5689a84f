// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/accounting.h"

#include <string.h>

#include "calls/profile.h"

/* A member of struct profile_accounting, called the same. */
#define ACCOUNT(member, text, what, shown)                                           \
	{                                                                            \
		.name = #member, .label = text,                                      \
		.offset = offsetof(struct profile_accounting, member), .unit = what, \
		.when = shown,                                                       \
	}

/* A new one goes to the end, as it does in the columns of sink/data/sqlite_schema.h. */
const struct account accounts[ACCOUNTS] = {
	ACCOUNT(entered, "calls entered", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(returned, "returned", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(unwound, "unwound", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(open, "open", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(lost, "lost", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(deep, "nested too deeply", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(dropped, "dropped", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(probe_ns, "probes' cost", ACCOUNT_NS, ACCOUNT_ALWAYS),
	ACCOUNT(cpu_ns, "CPU time", ACCOUNT_NS, ACCOUNT_ALWAYS),
	ACCOUNT(undistributed, "not in the distributions", ACCOUNT_CALLS, ACCOUNT_ALWAYS),
	ACCOUNT(untriggered, "not below a trigger", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(line_misses, "lines hit in no call", ACCOUNT_CALLS, ACCOUNT_WITH_LINES),
	ACCOUNT(timeline_calls, "single calls kept", ACCOUNT_CALLS, ACCOUNT_WITH_CALLS),
	ACCOUNT(timeline_lost, "single calls lost", ACCOUNT_CALLS, ACCOUNT_WITH_CALLS),
	ACCOUNT(callers_whole, "with all callers", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(callers_no_rule, "callers: no unwind rule", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(callers_unreadable, "callers: stack unreadable", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(callers_astray, "callers: no return address", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(callers_deep, "callers: stack too deep", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(callers_lost, "callers: no room", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_taken, "samples", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_probing, "samples of probes", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_lost, "samples: no room", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_whole, "samples: whole stacks", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_no_rule, "samples: no unwind rule", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_unreadable, "samples: stack unreadable", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_astray, "samples: no return address", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_deep, "samples: stack too deep", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(samples_unknown, "samples: mappings unknown", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(bursts, "bursts", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(burst_ns, "time of bursts", ACCOUNT_NS, ACCOUNT_IF_ANY),
	ACCOUNT(sample_ns, "samples' cost", ACCOUNT_NS, ACCOUNT_IF_ANY),
	ACCOUNT(waits, "waits", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(waits_lost, "waits: place unknown", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(waits_estimated, "waits: estimated", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(waits_short, "waits: short", ACCOUNT_CALLS, ACCOUNT_IF_ANY),
	ACCOUNT(waits_short_ns, "time of short waits", ACCOUNT_NS, ACCOUNT_IF_ANY),
	ACCOUNT(held_ns, "CPU time of threads held for the plan", ACCOUNT_NS, ACCOUNT_IF_ANY),
};

_Static_assert(sizeof(struct profile_accounting) == ACCOUNTS * sizeof(int64_t),
	       "an account has no row");

static int64_t member_of(const struct account *account, const struct profile_accounting *a)
{
	int64_t v;

	memcpy(&v, (const char *)a + account->offset, sizeof(v));
	return v;
}

int64_t account__of(const struct account *account, const struct profile_accounting *a)
{
	return account->offset == offsetof(struct profile_accounting, cpu_ns)
		       ? (int64_t)accounting__own_ns(a)
		       : member_of(account, a);
}

bool account__is_signed(const struct account *account)
{
	return account->offset == offsetof(struct profile_accounting, open);
}

void accounting__subtract(struct profile_accounting *a, const struct profile_accounting *before)
{
	for (size_t i = 0; i < ACCOUNTS; i++) {
		int64_t v = member_of(&accounts[i], a) - member_of(&accounts[i], before);

		if (v < 0 && !account__is_signed(&accounts[i]))
			v = 0;
		memcpy((char *)a + accounts[i].offset, &v, sizeof(v));
	}
}

bool account__matters(const struct account *account, const struct profile *p)
{
	switch (account->when) {
	case ACCOUNT_IF_ANY:
		return account__of(account, &p->accounting);
	case ACCOUNT_WITH_LINES:
		return p->lines_cnt;
	case ACCOUNT_WITH_CALLS:
		return p->accounting.timeline_calls || p->accounting.timeline_lost;
	default:
		return true;
	}
}
