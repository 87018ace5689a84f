// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/function_traits.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/dwarf_file.h"

static const char *string_of(const Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *text = NULL;

	if (dwarf_file__attribute(die, name, &attr))
		text = dwarf_formstring(&attr);
	return text ? text : "";
}

static bool flag_of(const Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	bool flag = false;

	return dwarf_file__attribute(die, name, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

/* Whether a command line has it optimize: the last of -O0, -O, -O2, -Os, ... decides. */
static bool options_optimize(const char *options)
{
	bool optimize = false;

	for (const char *at = strstr(options, " -O"); at; at = strstr(at + 1, " -O"))
		optimize = at[3] != '0' || (at[4] && at[4] != ' ');
	return optimize;
}

/* gcc names its options there. clang does not, but it describes calls where it optimizes, and says
 * so of each function; of gcc's that is said where there is none to describe, too. Go optimizes
 * unless it is told not to. */
static bool is_optimized(const Dwarf_Die *function, const char *producer)
{
	if (!strncmp(producer, "Go ", 3))
		return !strstr(producer, " -N");
	if (options_optimize(producer))
		return true;
	return strncmp(producer, "GNU ", 4) && (flag_of(function, DW_AT_call_all_calls) ||
						flag_of(function, DW_AT_GNU_all_call_sites));
}

/* An instance of a function may stand in another unit than what it is an instance of. */
static const char *file_of(struct dwarf_file *f, const Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (!dwarf_file__attribute(function, DW_AT_decl_file, &attr) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    !dwarf_file__may_read_lines(f, &unit))
		return NULL;
	return dwarf_decl_file((Dwarf_Die *)function);
}

struct function_traits function_traits__of(struct dwarf_file *f, const Dwarf_Die *function,
					   Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;
	struct function_traits t = {
		.optimized = is_optimized(function, string_of(unit, DW_AT_producer)),
	};

	/* The body of a lambda is called artificial, too; but that has been written. */
	t.made_up = flag_of(function, DW_AT_artificial) &&
		    strcmp(string_of(function, DW_AT_name), "operator()");
	if (dwarf_file__attribute(function, DW_AT_decl_line, &attr) &&
	    !dwarf_formudata(&attr, &line) && line && line <= INT32_MAX)
		t.line = line;
	t.file = t.line ? file_of(f, function) : NULL;
	return t;
}
