// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_suits.h"

#include "cli/option_table.h"

static bool is_of_fleets(int key)
{
	return key >= OPT_TO && key <= OPT_CA_FILE;
}

static bool suits_fleet(enum verb verb, int key)
{
	bool reads = verb == VERB_REPORT || verb == VERB_DIFF;

	if (key == OPT_FROM || key == OPT_WHERE)
		return reads;
	if (key == OPT_CA_FILE)
		return reads || verb == VERB_SEND;
	return verb == VERB_SEND && (is_of_fleets(key) || option_suits__sessions(key) ||
				     key == OPT_MIN_TIME || key == 'q' || key == 'v');
}

static bool is_of_records(int key)
{
	return key == OPT_APPEND || key == OPT_MAX_SIZE || key == OPT_SLO ||
	       key == OPT_SLO_WINDOW || key == OPT_ON_SLOW;
}

static bool suits_page(enum verb verb, int key)
{
	return (key != OPT_SERVE && key != OPT_NO_TOKEN) || verb == VERB_TRACE ||
	       verb == VERB_RECORD;
}

bool option_suits__verb(enum verb verb, int key)
{
	bool reads = verb == VERB_REPORT || verb == VERB_DIFF;

	if (verb == VERB_DOCTOR)
		return key == 'f' || key == 'q' || key == 'v';
	if (verb == VERB_AGENT)
		return key == OPT_CHECK || key == 'q' || key == 'v';
	if (is_of_fleets(key) || verb == VERB_SEND)
		return suits_fleet(verb, key);
	if (is_of_records(key))
		return verb == VERB_RECORD;
	if (option_suits__sessions(key))
		return verb == VERB_TRACE || verb == VERB_REPORT ||
		       (verb == VERB_TOP && key == OPT_SESSION);
	switch (key) {
	case OPT_CHECK:
		return false;
	case 'o':
		return verb != VERB_TOP;
	case 'F':
	case 'N':
	case 'D':
	case 'q':
	case 'v':
		return true;
	case OPT_ASSERT:
		return verb == VERB_CHECK;
	case OPT_RUN:
		return reads || verb == VERB_CHECK;
	case OPT_THREAD:
	case OPT_RANGE:
		return reads;
	case OPT_PER_CALL:
		return verb == VERB_DIFF;
	case 'l':
		return verb == VERB_TRACE;
	case 'i':
		return verb == VERB_TRACE || verb == VERB_TOP || verb == VERB_RECORD;
	case 'A':
	case OPT_CALLS:
	case OPT_BUFFER_SIZE:
	case OPT_LINES:
		return !reads && verb != VERB_TOP;
	case 'f':
	case 'w':
	case OPT_MIN_TIME:
	case OPT_COLOR:
	case OPT_NO_PAGER:
		return verb != VERB_RECORD && verb != VERB_CHECK && verb != VERB_TOP;
	case OPT_BY:
	case OPT_REVERSE:
	case OPT_HIST:
	case OPT_PROCESS_FRAMES:
	case OPT_THREAD_FRAMES:
		return verb == VERB_TRACE || verb == VERB_REPORT;
	default:
		return suits_page(verb, key) && !reads;
	}
}

bool option_suits__sessions(int key)
{
	return key >= OPT_SESSION && key <= OPT_TRACE_ID;
}
