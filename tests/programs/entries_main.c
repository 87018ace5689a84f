// SPDX-License-Identifier: GPL-2.0-or-later
/* entries [TIMES]: calls each function of entries.S TIMES times. */
#include "target.h"

/* clang-format off */
#define ENTRIES(X)                                                                                 \
	X(push) X(self_tail) X(endbr_push) X(mov) X(sub) X(lea) X(nop5) X(endbr_nop5) X(nop) X(jmp) X(jcc)      \
	X(call) X(lock) X(segment) X(loop) X(loop_push) X(ret) X(repz_ret) X(tail)

#define DECLARE(name) long entry_##name(long n);
#define ROW(name)     { "entry_" #name, entry_##name, 0 },

ENTRIES(DECLARE)
extern unsigned long entry_lock_cnt;

static struct {
	const char *name;
	long (*function)(long n);
	unsigned long calls;
} entries[] = { ENTRIES(ROW) };
/* clang-format on */

#define ENTRIES_CNT (sizeof(entries) / sizeof(entries[0]))

/* The loops count in a register that they leave at zero. */
static TRACED long call(long (*function)(long), long n)
{
	long result;

	__asm__ volatile("call *%[function]"
			 : "=a"(result), "+D"(n)
			 : [function] "r"(function), "c"(0)
			 : "rsi", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	for (unsigned long i = 0; i < times; i++) {
		for (size_t e = 0; e < ENTRIES_CNT; e++) {
			long result = call(entries[e].function, i);

			entries[e].calls++;
			if (!strstr(entries[e].name, "ret") && result != (long)i + 1) {
				printf("%s(%lu) is %ld\n", entries[e].name, i, result);
				return 1;
			}
		}
		entries[0].calls += 1 + (i % 2 == 0); /* by entry_call, and by entry_tail */
		entries[1].calls++;		      /* by itself */
	}
	if (entry_lock_cnt != times)
		return 1;
	for (size_t e = 0; e < ENTRIES_CNT; e++)
		target_count(entries[e].name, entries[e].calls);
	return 0;
}
