// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boost_fibers [FIBERS [YIELDS]]: boost.context's fibers, which hand over inside nested calls; each
 * third one ends by an exception that it catches itself. Every other call returns.
 */
#include <boost/context/fiber.hpp>
#include <vector>
#include "target.h"

using boost::context::fiber;

static unsigned long outer_cnt, inner_cnt, leaf_cnt, fail_cnt, caught_cnt;

TRACED void leaf()
{
	leaf_cnt++;
}

TRACED void inner(fiber &back)
{
	inner_cnt++;
	leaf();
	back = std::move(back).resume();
	leaf();
}

TRACED void outer(fiber &back)
{
	outer_cnt++;
	inner(back);
}

TRACED void fail(fiber &back)
{
	fail_cnt++;
	outer(back);
	throw 1;
}

int main(int argc, char **argv)
{
	std::vector<fiber> fibers;
	bool alive = true;

	target_begin(&argc, &argv);
	unsigned long count = target_arg(argc, argv, 1, 10);
	unsigned long yields = target_arg(argc, argv, 2, 20);

	for (unsigned long i = 0; i < count; i++) {
		fibers.emplace_back([=](fiber &&back) {
			for (unsigned long y = 0; y < yields; y++)
				outer(back);
			try {
				if (i % 3 == 0)
					fail(back);
			} catch (int) {
				caught_cnt++;
			}
			return std::move(back);
		});
	}
	while (alive) {
		alive = false;
		for (auto &f : fibers) {
			if (f)
				f = std::move(f).resume();
			alive |= !!f;
		}
	}
	printf("caught %lu\n", caught_cnt);
	target_count("outer(boost::context::fiber&)", outer_cnt);
	target_count("inner(boost::context::fiber&)", inner_cnt);
	target_count("leaf()", leaf_cnt);
	target_count("fail(boost::context::fiber&)", fail_cnt);
	return 0;
}
