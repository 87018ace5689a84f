// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/checked.h"

#include <stdlib.h>

#include "record/format/decode.h"
#include "record/format/encode.h"
#include "record/reader.h"

int recorded__check(const struct profile *p, struct recorded *out)
{
	struct bytes bytes = {0};
	int err = encode__profile(p, &bytes);

	if (!err)
		err = decode__profile(bytes.data, bytes.len, &out->memory, &out->profile);
	free(bytes.data);
	return err;
}
