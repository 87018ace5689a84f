/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_VALUE_JSON_H
#define PROFTRACE_SINK_VALUE_JSON_H

#include <stdbool.h>

struct call_value;
struct json;

/* Writes a value as a number if it is one that JavaScript holds exactly, and that was not asked for
 * as hexadecimal. Returns false, with nothing written, if it is not: call_value__text() has it. */
bool value_json__number(struct json *j, const struct call_value *v, bool hex);

#endif
