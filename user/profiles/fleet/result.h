/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_FLEET_RESULT_H
#define PROFTRACE_FLEET_RESULT_H

/* What has become of a recording that was sent. */
enum receiver_result {
	RECEIVER_SENT,	  /* it is kept there now, or has been before */
	RECEIVER_LATER,	  /* not now: receiver away, busy or broken; the same again may do */
	RECEIVER_REFUSED, /* this recording never: it is no whole one, or is not accepted */
};

#endif
