// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rethrow [TIMES]: what else exceptions do: nested ones, throw in a handler and during cleanup, an
 * exception carried to another thread, catch by base class and by catch(...), noexcept(false)
 * destructors, and longjmp's neighbour, uncaught_exceptions().
 */
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include "target.h"

static unsigned long thrower_cnt, middle_cnt, nested_cnt, cleanup_cnt, carried_cnt, outer_cnt;

TRACED void thrower(int n)
{
	thrower_cnt++;
	if (n % 2)
		throw std::out_of_range("odd");
	throw n;
}

TRACED void middle(int n)
{
	middle_cnt++;
	try {
		thrower(n);
	} catch (int i) {
		throw std::to_string(i);
	} catch (...) {
		throw;
	}
}

/* Throws and catches while another exception is on its way. */
struct Cleanup {
	~Cleanup()
	{
		cleanup();
	}
	TRACED void cleanup()
	{
		cleanup_cnt++;
		try {
			thrower(std::uncaught_exceptions());
		} catch (...) {
		}
	}
};

TRACED void nested(int n)
{
	Cleanup cleanup;

	nested_cnt++;
	try {
		middle(n);
	} catch (const std::exception &) {
		std::throw_with_nested(std::runtime_error("nested"));
	}
}

/* Thrown in one thread, caught in another. */
TRACED void carried(int n)
{
	std::promise<void> promise;

	carried_cnt++;
	std::thread thread([&] {
		try {
			nested(n);
		} catch (...) {
			promise.set_exception(std::current_exception());
		}
	});
	thread.join();
	promise.get_future().get();
}

TRACED std::string outer(int n)
{
	outer_cnt++;
	try {
		carried(n);
	} catch (const std::logic_error &error) {
		return std::string("logic ") + error.what();
	} catch (const std::exception &error) {
		try {
			std::rethrow_if_nested(error);
		} catch (const std::exception &inner) {
			return std::string(error.what()) + " " + inner.what();
		}
	} catch (...) {
		return "other";
	}
	return "none";
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	for (unsigned long i = 0; i < times; i++) {
		std::string what = outer(i);

		if (i < 2)
			puts(what.c_str());
	}
	target_count("thrower(int)", thrower_cnt);
	target_count("middle(int)", middle_cnt);
	target_count("nested(int)", nested_cnt);
	target_count("Cleanup::cleanup()", cleanup_cnt);
	target_count("carried(int)", carried_cnt);
	return 0;
}
