/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHAPES_H
#define SHAPES_H

long shape_area(long width, long height);
long shape_scale(long area, long factor);
unsigned long shape_area_cnt(void);
unsigned long shape_scale_cnt(void);
unsigned long shape_clamp_cnt(void);

#endif
