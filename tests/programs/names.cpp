// SPDX-License-Identifier: GPL-2.0-or-later
/* names [TIMES]: the kinds of name that C++ has. COUNT lines give them demangled. */
#include "target.h"

namespace shapes
{
static unsigned long area_int_cnt, area_double_cnt, plus_cnt, call_cnt, created_cnt, destroyed_cnt;

TRACED int area(int side)
{
	area_int_cnt++;
	return side * side;
}

TRACED double area(double side)
{
	area_double_cnt++;
	return side * side;
}

struct Point {
	int x, y;
	TRACED Point(int x, int y);
	TRACED ~Point();
	TRACED Point operator+(const Point &other) const;
	TRACED int operator()(int factor) const;
};

Point::Point(int x, int y) : x(x), y(y)
{
	created_cnt++;
}

Point::~Point()
{
	destroyed_cnt++;
}

Point Point::operator+(const Point &other) const
{
	plus_cnt++;
	return Point(x + other.x, y + other.y);
}

int Point::operator()(int factor) const
{
	call_cnt++;
	return (x + y) * factor;
}
} // namespace shapes

static unsigned long twice_int_cnt, twice_long_cnt, hidden_cnt;

static void counted(int)
{
	twice_int_cnt++;
}

static void counted(long)
{
	twice_long_cnt++;
}

template <typename T> TRACED T twice(T value)
{
	counted(value);
	return value + value;
}

namespace
{
TRACED int hidden(int n)
{
	hidden_cnt++;
	return n + 1;
}
} // namespace

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	double sum = 0;

	for (unsigned long i = 0; i < times; i++) {
		shapes::Point one(1, 2), two(3, 4);
		sum += (one + two)(2) + shapes::area(2) + shapes::area(1.5) + shapes::area(2.5);
		sum += twice(1) + twice(2L) + twice(3L) + hidden(i);
	}
	printf("sum %.1f\n", sum);
	target_count("shapes::area(int)", shapes::area_int_cnt);
	target_count("shapes::area(double)", shapes::area_double_cnt);
	target_count("shapes::Point::Point(int, int)", shapes::created_cnt);
	target_count("shapes::Point::~Point()", shapes::destroyed_cnt);
	target_count("shapes::Point::operator+(shapes::Point const&) const", shapes::plus_cnt);
	target_count("shapes::Point::operator()(int) const", shapes::call_cnt);
	target_count("int twice<int>(int)", twice_int_cnt);
	target_count("long twice<long>(long)", twice_long_cnt);
	target_count("(anonymous namespace)::hidden(int)", hidden_cnt);
	return 0;
}
