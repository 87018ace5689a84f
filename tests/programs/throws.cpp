// SPDX-License-Identifier: GPL-2.0-or-later
/* throws [FRAMES [TIMES]]: throws over FRAMES frames that have destructors, and once again. */
#include <stdexcept>
#include "target.h"

static unsigned long around_cnt, again_cnt, descend_cnt, destroyed_cnt, cleanup_cnt;

TRACED void cleanup()
{
	cleanup_cnt++;
}

struct Guard {
	~Guard()
	{
		destroyed_cnt++;
		cleanup();
	}
};

TRACED void descend(unsigned long n)
{
	Guard guard;

	descend_cnt++;
	if (n > 1)
		descend(n - 1);
	else
		throw std::runtime_error("bottom");
}

TRACED void again(unsigned long frames)
{
	again_cnt++;
	try {
		descend(frames);
	} catch (const std::exception &) {
		throw;
	}
}

TRACED void around(unsigned long frames)
{
	around_cnt++;
	try {
		again(frames);
	} catch (...) {
		cleanup();
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long frames = target_arg(argc, argv, 1, 10);
	unsigned long times = target_arg(argc, argv, 2, 10);

	for (unsigned long i = 0; i < times; i++)
		around(frames);
	printf("destroyed %lu\n", destroyed_cnt);
	target_count("around(unsigned long)", around_cnt);
	target_count("again(unsigned long)", again_cnt);
	target_count("descend(unsigned long)", descend_cnt);
	target_count("cleanup()", cleanup_cnt);
	return destroyed_cnt != descend_cnt;
}
