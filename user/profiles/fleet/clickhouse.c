// SPDX-License-Identifier: GPL-2.0-or-later
/* ClickHouse, by its HTTP interface. */
#include <errno.h>

#include "fleet/http.h"
#include "fleet/kind.h"

static enum receiver_result send_profile(struct receiver *r, void *own, const struct shipment *s)
{
	return receiver__fail(r, RECEIVER_LATER, "sending to ClickHouse is not there yet");
}

const struct receiver_kind receiver_clickhouse = {
	.scheme = "clickhouse",
	.tls_scheme = "clickhouses",
	.port = 8123,
	.tls_port = 8443,
	.send = send_profile,
};
