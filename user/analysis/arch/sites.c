// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/sites.h"

const char *site_class__name(enum site_class c)
{
	static const char *const names[SITE_CLASSES] = {
		[SITE_NOP5] = "nop5", [SITE_NOP10] = "nop10", [SITE_NOP] = "nop",
		[SITE_PUSH] = "push", [SITE_JMP] = "jmp",     [SITE_JCC] = "jcc",
		[SITE_CALL] = "call", [SITE_STEP] = "step",   [SITE_EMUL] = "emul",
	};

	return names[c];
}
