// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config_errors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config_data.h"
#include "util/text.h"

/* Errors are in the order of lines. */
static int add_error(struct config *c, unsigned int line, const char *fmt, va_list args)
{
	struct config_error *grown = reallocarray(c->errors, c->errors_cnt + 1, sizeof(*c->errors));
	char text[1024], safe[1024], *copy;
	size_t at = c->errors_cnt;

	if (!grown)
		return -ENOMEM;
	c->errors = grown;
	vsnprintf(text, sizeof(text), fmt, args);
	copy = strdup(text_escape(text, safe, sizeof(safe)));
	if (!copy)
		return -ENOMEM;
	for (; at && grown[at - 1].line > line; at--)
		grown[at] = grown[at - 1];
	grown[at] = (struct config_error){line, copy};
	c->errors_cnt++;
	return 0;
}

void config__complain(struct config *c, unsigned int line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	c->no_memory |= add_error(c, line, fmt, args) != 0;
	va_end(args);
}
