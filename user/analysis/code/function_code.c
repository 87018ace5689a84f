// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/function_code.h"

#include <stdlib.h>

unsigned code_site__rank(const struct code_site *site)
{
	enum { CALLS, CHEAP, STORES, EMULATED, STEPS };
	static const uint8_t ranks[SITE_CLASSES] = {
		[SITE_NOP5] = CALLS,  [SITE_NOP10] = CALLS, [SITE_NOP] = CHEAP,
		[SITE_PUSH] = STORES, [SITE_JMP] = CHEAP,   [SITE_JCC] = CHEAP,
		[SITE_CALL] = STORES, [SITE_STEP] = STEPS,  [SITE_EMUL] = EMULATED,
	};

	return ranks[site->site];
}

void code_clear(struct code *code)
{
	free(code->exits);
	free(code->calls);
	*code = (struct code){0};
}
