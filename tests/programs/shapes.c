// SPDX-License-Identifier: GPL-2.0-or-later
/* libshapes.so: a shared library that counts its own calls. */
#include "shapes.h"
#include "target.h"

static unsigned long area_cnt, scale_cnt, clamp_cnt;

static TRACED long shape_clamp(long n)
{
	clamp_cnt++;
	return n > 1000 ? 1000 : n;
}

TRACED long shape_area(long width, long height)
{
	area_cnt++;
	return shape_clamp(width) * shape_clamp(height);
}

TRACED long shape_scale(long area, long factor)
{
	scale_cnt++;
	return shape_clamp(area * factor);
}

unsigned long shape_area_cnt(void)
{
	return area_cnt;
}

unsigned long shape_scale_cnt(void)
{
	return scale_cnt;
}

unsigned long shape_clamp_cnt(void)
{
	return clamp_cnt;
}
