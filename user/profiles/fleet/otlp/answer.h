/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads answers of OTLP receivers: messages that may be anything. Inside fleet/otlp/ only, and for
 * its tests. */
#ifndef PROFTRACE_FLEET_OTLP_ANSWER_H
#define PROFTRACE_FLEET_OTLP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_SAID 256

/* Reads an Export...ServiceResponse: how many were rejected (0 and an empty text: all is well), and
 * the receiver's remark, printable. False: the message is none. */
bool otlp_answer__accepted(const void *data, size_t len, int64_t *rejected, char said[OTLP_SAID]);

/* The text of a google.rpc.Status, which answers of other statuses than 200 hold. False: it is
 * none, or says nothing. */
bool otlp_answer__status(const void *data, size_t len, char said[OTLP_SAID]);

#endif
