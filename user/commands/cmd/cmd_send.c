// SPDX-License-Identifier: GPL-2.0-or-later
/* send: gives recordings to what keeps the profiles of many machines. */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/options.h"
#include "fleet/receiver.h"
#include "report/find_sessions.h"
#include "security/privilege.h"
#include "util/log.h"

#define TRIES	 4
#define WAIT_MAX 60 /* seconds that a receiver may ask for */

static int find(const void *o, const struct profile *p, struct sessions **out)
{
	return find_sessions(o, p, out);
}

/* Sends a recording, and again if the receiver says that it has no time now. */
static enum receiver_result send_one(struct receiver *r, const char *path,
				     const struct recording_labels *labels)
{
	enum receiver_result result = receiver__send(r, path, labels);

	for (uint32_t tries = 1; result == RECEIVER_LATER && tries < TRIES; tries++) {
		uint32_t wait_s = receiver__retry_s(r);

		if (wait_s > WAIT_MAX)
			break;
		wait_s = wait_s > 1u << (tries - 1) ? wait_s : 1u << (tries - 1);
		log_info("%s, again in %" PRIu32 " s", receiver__error(r), wait_s);
		sleep(wait_s);
		result = receiver__send(r, path, labels);
	}
	return result;
}

int cmd_send(const struct options *o)
{
	const struct receiver_options opts = {
		.secret = getenv("PROFTRACE_SECRET"),
		.ca_file = o->ca_file,
	};
	const struct recording_labels labels = {
		.service = o->service,
		.version = o->version,
		.host = o->host,
		.find_sessions = o->sessions_cnt ? find : NULL,
		.sessions_ctx = o,
		.span_min_ns = o->min_time_ns,
	};
	struct receiver *r = NULL;
	size_t sent = 0;
	int err;

	privilege__drop_for_report();
	err = receiver__open(o->to, &opts, &r);
	if (!err && o->sessions_cnt && !receiver__takes_sessions(r)) {
		log_error("--session: %s has no place for sessions: otlp+http:// takes them",
			  receiver__name(r));
		err = -EINVAL;
	}
	for (size_t i = 0; !err && i < o->inputs_cnt; i++) {
		uint64_t before = receiver__bytes(r);

		if (send_one(r, o->inputs[i], &labels) != RECEIVER_SENT) {
			log_error("%s was not sent: %s", o->inputs[i], receiver__error(r));
			continue;
		}
		sent++;
		if (*receiver__note(r))
			log_warn("%s: %s", o->inputs[i], receiver__note(r));
		log_debug("%s: %" PRIu64 " bytes sent", o->inputs[i], receiver__bytes(r) - before);
	}
	if (sent)
		log_info("%zu recording%s sent to %s", sent, sent == 1 ? "" : "s",
			 receiver__name(r));
	receiver__free(r);
	log_unexplained(err);
	return err || sent < o->inputs_cnt;
}
