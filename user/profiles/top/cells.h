/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside top/ only. Cells of the tables: figures, each at the right end of its column, and names.
 */
#ifndef PROFTRACE_TOP_CELLS_H
#define PROFTRACE_TOP_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/canvas.h"

/* "12.3%" in 7 columns; 0.123 is 12.3 %. Estimated ones have a "~". */
void cell__share(struct canvas *c, size_t row, size_t column, enum canvas_style style, double share,
		 bool estimated);
/* "1.23 ms" in 7 columns; 0: "-". */
void cell__duration(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		    uint64_t ns);
/* "1,234" or "3.2" in 10 columns; negative: "-", as nobody has counted. */
void cell__rate(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		double a_second, bool estimated);
/* A name that is too long for the rest of the row is shortened in its middle; `mark`: there is to
 * be room for one more character. Returns the column behind it. */
size_t cell__name(struct canvas *c, size_t row, size_t column, enum canvas_style style,
		  const char *name, bool mark);

#endif
