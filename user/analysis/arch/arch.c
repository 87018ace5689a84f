// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/arch.h"

static const struct arch *const all[] = {
	&arch_x86_64,
	&arch_arm64,
};

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "no folder for this architecture"
#endif

#define CNT (sizeof(all) / sizeof(*all))

const struct arch *arch__of_machine(uint16_t machine)
{
	for (size_t i = 0; i < CNT; i++) {
		if (all[i]->machine == machine)
			return all[i];
	}
	return NULL;
}

const struct arch *arch__host(void)
{
	size_t i = 0;

	while (!all[i]->is_host)
		i++;
	return all[i];
}
