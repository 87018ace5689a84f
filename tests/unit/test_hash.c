// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/hash.h"

#include <stdio.h>

#include "fixture.h"

#define TEXTS 64
#define PLACE 0xfff /* of a table with 4096 places */

/* A stranger who knew the hash could choose names that all meet in one place. */
static void test_chosen_texts_do_not_meet(void **state)
{
	uint64_t places[TEXTS];
	char text[32];
	int cnt = 0, met = 0;

	for (unsigned i = 0; cnt < TEXTS; i++) {
		int len = snprintf(text, sizeof(text), "function_%u", i);

		if ((hash__text(text) & PLACE) == (hash__text("function") & PLACE))
			places[cnt++] = hash__keyed(text, len) & PLACE;
	}
	for (int i = 0; i < TEXTS; i++) {
		for (int k = 0; k < i; k++)
			met += places[i] == places[k];
	}
	assert_true(met < TEXTS / 4);
}

static void test_keyed_is_of_the_whole_text(void **state)
{
	char text[] = "a text of 25 bytes, or so", same[sizeof(text)];

	memcpy(same, text, sizeof(text));
	for (size_t len = 0; len < sizeof(text); len++) {
		assert_int_equal(hash__keyed(text, len), hash__keyed(same, len));
		assert_int_not_equal(hash__keyed(text, len), hash__keyed(text, len + 1));
		same[len] ^= 1;
		assert_int_not_equal(hash__keyed(text, len + 1), hash__keyed(same, len + 1));
		same[len] ^= 1;
	}
	/* Zero bytes count. */
	assert_int_not_equal(hash__keyed("\0\0", 1), hash__keyed("\0\0", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_texts_do_not_meet),
		cmocka_unit_test(test_keyed_is_of_the_whole_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
