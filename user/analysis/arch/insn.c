// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/insn.h"

#include <errno.h>

#include "arch/arch.h"

int insn_decoder__new(const struct arch *arch, enum call_nops call_nops, struct insn_decoder **out)
{
	struct insn_decoder *d = arch->decoder_new();

	if (!d)
		return -ENOMEM;
	d->arch = arch;
	d->call_nops = call_nops;
	*out = d;
	return 0;
}

static void forget(struct insn_decoder *d)
{
	if (d->arch->decoder_forget)
		d->arch->decoder_forget(d);
}

void insn_decoder__spare_nop5(struct insn_decoder *d)
{
	d->spares_nop5 = true;
	forget(d);
}

void insn_decoder__spare_calls(struct insn_decoder *d)
{
	d->spares_calls = true;
	forget(d);
}

void insn_decoder__free(struct insn_decoder *d)
{
	if (d)
		d->arch->decoder_free(d);
}

bool insn_decode(struct insn_decoder *d, const uint8_t *bytes, size_t len, struct insn *out)
{
	return d->arch->decode(d, bytes, len, out);
}
