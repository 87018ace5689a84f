// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/die_attributes.h"

#include <dwarf.h>

#include "dwarf/dwarf_file.h"

/* Codes that came after DWARF 5, which headers of libdw may lack. */
#define LANG_C_plus_plus_17 0x2b
#define LANG_C17	    0x2c
#define LANG_C_plus_plus_20 0x2e

const char *die_name(const Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_file__attribute(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

uint64_t die_number(const Dwarf_Die *die, unsigned int name, uint64_t fallback)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_file__attribute(die, name, &attr) && !dwarf_formudata(&attr, &value)
		       ? value
		       : fallback;
}

bool die_flag(const Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	bool value;

	return dwarf_file__attribute(die, name, &attr) && !dwarf_formflag(&attr, &value) && value;
}

bool die_type(const Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < DWARF_CHAIN; i++) {
		Dwarf_Attribute attr;

		if (!dwarf_file__attribute(&at, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, &at))
			return false;
		switch (dwarf_tag(&at)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			continue;
		default:
			*type = at;
			return true;
		}
	}
	return false;
}

bool die_is_c(const Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu((Dwarf_Die *)die, &unit, NULL, NULL))
		return false;
	switch (die_number(&unit, DW_AT_language, 0)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANG_C17:
	case LANG_C_plus_plus_17:
	case LANG_C_plus_plus_20:
		return true;
	default:
		return false;
	}
}
