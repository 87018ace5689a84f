// SPDX-License-Identifier: GPL-2.0-or-later
/* send: gives recordings to what keeps the profiles of many machines. */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/options.h"
#include "fleet/receiver.h"
#include "security/privilege.h"
#include "util/log.h"

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
	};
	struct receiver *r = NULL;
	size_t sent = 0;
	int err;

	privilege__drop_for_report();
	err = receiver__open(o->to, &opts, &r);
	for (size_t i = 0; !err && i < o->inputs_cnt; i++) {
		uint64_t before = receiver__bytes(r);

		if (receiver__send(r, o->inputs[i], &labels) != RECEIVER_SENT) {
			log_error("%s was not sent: %s", o->inputs[i], receiver__error(r));
			continue;
		}
		sent++;
		log_debug("%s: %" PRIu64 " bytes sent", o->inputs[i], receiver__bytes(r) - before);
	}
	if (sent)
		log_info("%zu recording%s sent to %s", sent, sent == 1 ? "" : "s",
			 receiver__name(r));
	receiver__free(r);
	log_no_memory(err);
	return err || sent < o->inputs_cnt;
}
