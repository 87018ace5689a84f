/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_FLEET_RESULT_H
#define PROFTRACE_FLEET_RESULT_H

/* The result of sending a recording. */
enum receiver_result {
	RECEIVER_SENT,	  /* it is kept there now, or has been before */
	RECEIVER_LATER,	  /* not now: receiver away, busy or broken; the same again may do */
	RECEIVER_REFUSED, /* this recording never: it is no whole one, or is not accepted */
};

#endif
