// SPDX-License-Identifier: GPL-2.0-or-later
// inline_data: prints what the functions in inline_data.S return. It throws, so that their exits are
// probed one by one.
#include <cstdio>
#include <stdexcept>

extern "C" int sum_table();
extern "C" int add_c4(int);
extern "C" int call_over();
extern "C" int overlap(int);

int main()
{
	try {
		throw std::runtime_error("thrown");
	} catch (const std::exception &e) {
		puts(e.what());
	}
	printf("%d %d %d\n", sum_table(), add_c4(1), add_c4(2));
	printf("%d %x %x\n", call_over(), overlap(0), overlap(1));
}
