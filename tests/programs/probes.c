// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Static probes as other programs have them: pairs by their names, marks, and counts of those who
 * look (semaphores). Does what it is told by lines on stdin and answers each with "done": a number
 * is so many rounds, "look" prints "LOOKERS probe N" of each.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "target.h"

#define SEMAPHORE(name) \
	__extension__ unsigned short shop_##name##_semaphore __attribute__((section(".probes")))

SEMAPHORE(order__start);
SEMAPHORE(order__done);
SEMAPHORE(order__abort);
SEMAPHORE(item_sold);
SEMAPHORE(door_entry);
SEMAPHORE(count);
SEMAPHORE(counted);

static unsigned long orders, items, doors, counts;

/* Work that only the probe needs is done only while somebody looks, as in real programs. */
#define PROBE(name)                                        \
	do {                                               \
		if (shop_##name##_semaphore)               \
			DTRACE_PROBE1(shop, name, orders); \
	} while (0)

TRACED void sell(int fails)
{
	orders += shop_order__start_semaphore != 0;
	PROBE(order__start);
	for (int i = 0; i < 3; i++) {
		items += shop_item_sold_semaphore != 0;
		PROBE(item_sold);
	}
	if (fails)
		PROBE(order__abort);
	else
		PROBE(order__done);
}

TRACED void enter(void)
{
	doors += shop_door_entry_semaphore != 0;
	PROBE(door_entry); /* there is no exit */
	counts += shop_count_semaphore != 0;
	PROBE(count);
	PROBE(counted);
}

int main(int argc, char **argv)
{
	char line[64];

	target_begin(&argc, &argv);
	while (target_read_line(line, sizeof(line))) {
		for (long i = strtol(line, NULL, 0); i > 0; i--) {
			sell(i % 3 == 0);
			enter();
		}
		if (!strcmp(line, "look")) {
			printf("LOOKERS order__start %d\n", shop_order__start_semaphore);
			printf("LOOKERS order__abort %d\n", shop_order__abort_semaphore);
			printf("LOOKERS item_sold %d\n", shop_item_sold_semaphore);
			printf("LOOKERS count %d\n", shop_count_semaphore);
		}
		target_say("done");
	}
	target_count("shop:order", orders);
	target_count("shop:item_sold", items);
	target_count("shop:door_entry", doors);
	target_count("shop:count", counts);
	return 0;
}
