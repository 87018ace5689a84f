// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: what a receiver of OTLP answers, and what a target's string says of its trace. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/otlp/answer.h"
#include "sessions/trace_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char said[OTLP_SAID], *text = strndup((const char *)data, len);
	struct trace_context c;
	int64_t rejected;

	if (otlp_answer__accepted(data, len, &rejected, said) && rejected < 0)
		abort();
	if (strnlen(said, sizeof(said)) == sizeof(said))
		abort();
	if (otlp_answer__status(data, len, said) && !*said)
		abort();
	if (text && trace_context__parse(&c, text) && len < 32)
		abort();
	free(text);
	return 0;
}
