// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * coroutine [SWITCHES]: two coroutines that hand over to each other inside nested calls, so that
 * frames are left in another order than they were entered.
 */
#include <ucontext.h>
#include "target.h"

static ucontext_t main_context, contexts[2];
static unsigned long switches_left, produce_cnt, hand_over_cnt, leaf_cnt;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void hand_over(int from)
{
	hand_over_cnt++;
	leaf();
	swapcontext(&contexts[from], switches_left ? &contexts[!from] : &main_context);
	leaf();
}

TRACED void produce(int self)
{
	produce_cnt++;
	if (switches_left)
		switches_left--;
	hand_over(self);
}

static void coroutine(int self)
{
	for (;;)
		produce(self);
}

int main(int argc, char **argv)
{
	static char stacks[2][64 * 1024];

	target_begin(&argc, &argv);
	switches_left = target_arg(argc, argv, 1, 100);
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&main_context, &contexts[0]);
	target_count("produce", produce_cnt);
	target_count("hand_over", hand_over_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
