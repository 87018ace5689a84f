// SPDX-License-Identifier: GPL-2.0-or-later
/* arguments [TIMES]: calls each function of arguments.S TIMES times, and prints each call with its
 * arguments and its result, as JSON. */
#include <stdint.h>

#include "target.h"

struct behind {
	long first, second;
	double real;
	float single;
};

typedef long function(long a, const char *text, int c, struct behind *behind, unsigned long e,
		      unsigned char f, long g, long h);

/* clang-format off */
#define SITES(X)                                                                                   \
	X(push) X(endbr_push) X(mov) X(changed) X(part) X(implied) X(stack) X(memory) X(moved) X(step) \
	X(nop) X(nop5) X(jmp) X(jcc) X(call) X(tail) X(tail_end)

#define DECLARE(name) function site_##name;
#define ROW(name)     { "site_" #name, site_##name },

SITES(DECLARE)
function locked;

static const struct {
	const char *name;
	function *call;
} rows[] = { SITES(ROW) { "locked", locked } };
/* clang-format on */

#define LONG "a text of more than sixty-three bytes, of which the rest is not kept by anybody"

static void say(const char *name, const char *text, long a, int c, const struct behind *b,
		unsigned long e, unsigned char f, long g, long h)
{
	printf("CALL {\"name\": \"%s\", \"a\": %ld, \"c\": %d, \"second\": %ld, \"real\": %.17g, "
	       "\"single\": %.17g, \"first\": %ld, \"e\": %lu, \"f\": %u, \"g\": %ld, \"h\": %ld, ",
	       name, a, c, b->second, b->real, (double)b->single, b->first, e, f, g, h);
	if ((uintptr_t)text > 4096)
		printf("\"text\": \"%s\", ", text);
	else
		printf("\"text\": null, ");
}

int main(int argc, char **argv)
{
	static const char *const texts[] = {"plain", "", LONG, NULL, "\xc3\xbcmlaut", (char *)8};
	const size_t texts_cnt = sizeof(texts) / sizeof(texts[0]);

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 12);

	for (unsigned long i = 0; i < times; i++) {
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
			struct behind b = {i, 3 * i - 7, i / 3.0, i / 7.0f};
			long a = i * 0x123456789 - 5, g = ~i << 40, h = 1 - (long)i, result;
			unsigned long e = i * 0x9e3779b97f4a7c15;
			const char *text = texts[i % texts_cnt];
			int tail = !strcmp(rows[r].name, "site_tail");

			say(rows[r].name, text, a, -(int)i, &b, e, i + 250, g, h);
			result = rows[r].call(a, text, -(int)i, &b, e, i + 250, g, h);
			if (tail) {
				printf("\"result\": null}\n");
				say("site_tail_end", text, a + 1, -(int)i, &b, e, i + 250, g, h);
			}
			printf("\"result\": %ld}\n", result);
		}
	}
	return 0;
}
