// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/value_json.h"

#include <math.h>
#include <stdint.h>

#include "calls/values.h"
#include "util/json.h"

#define SAFE_MAX (1ll << 53) /* greater integers lose digits in JavaScript */

bool value_json__number(struct json *j, const struct call_value *v, bool hex)
{
	if (v->kind == VALUE_INT && v->i < SAFE_MAX && v->i > -SAFE_MAX)
		json_i64(j, v->i);
	else if (v->kind == VALUE_UINT && v->u < SAFE_MAX && !hex)
		json_u64(j, v->u);
	else if (v->kind == VALUE_FLOAT && isfinite(v->f))
		json_double(j, v->f);
	else
		return false;
	return true;
}
