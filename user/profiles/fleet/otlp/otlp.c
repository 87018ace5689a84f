// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receivers of OTLP by HTTP: an OpenTelemetry Collector, and engines that speak it themselves. A
 * recording is up to three requests, as there are three signals: profiles, traces (of sessions) and
 * metrics. Nobody can be asked what he has already; so of a recording that is to be sent again we
 * remember which of its signals were taken. Many receivers know some signals only: what one does
 * not know is left out, as long as it takes another.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/http.h"
#include "fleet/kind.h"
#include "fleet/otlp/answer.h"
#include "fleet/otlp/message.h"
#include "fleet/receiver.h"
#include "fleet/url.h"
#include "util/proto.h"

static const struct signal {
	const char *path, *what, *left_out;
	int (*make)(const struct shipment *s, struct otlp_request *r);
} signals[] = {
	{"/v1development/profiles", "profiles", "paths", otlp_profiles},
	{"/v1/traces", "spans", "sessions", otlp_traces},
	{"/v1/metrics", "data points", NULL, otlp_metrics},
};
#define SIGNALS (sizeof(signals) / sizeof(*signals))

struct otlp {
	char *prefix;	       /* of all paths: "", or "/otlp" */
	uint64_t id;	       /* of the recording that was tried last */
	bool taken[SIGNALS];   /* of that one */
	bool unknown[SIGNALS]; /* the receiver has no such path: told, and not asked again */
};

static int open_otlp(const struct url *u, void **own)
{
	struct otlp *o = calloc(1, sizeof(*o));

	if (o)
		o->prefix = strdup(strcmp(u->path, "/") ? u->path : "");
	if (!o || !o->prefix) {
		free(o);
		return -ENOMEM;
	}
	*own = o;
	return 0;
}

static void free_otlp(void *own)
{
	struct otlp *o = own;

	free(o->prefix);
	free(o);
}

/* Logs a receiver's remark on a request that it has taken, or a part of it. */
static enum receiver_result hear(struct receiver *r, const struct signal *g, uint64_t cnt)
{
	char said[OTLP_SAID];
	int64_t rejected;
	size_t len;
	const char *body = http__answer(receiver__http(r), &len);

	if (!otlp_answer__accepted(body, len, &rejected, said))
		return receiver__fail(r, RECEIVER_LATER,
				      "%s answers, but not as a receiver of OTLP does",
				      receiver__name(r));
	if ((uint64_t)rejected >= cnt && rejected)
		return receiver__fail(r, RECEIVER_REFUSED, "%s: all %" PRIu64 " %s rejected: %s",
				      receiver__name(r), cnt, g->what, said);
	if (rejected)
		receiver__add_note(r, "%" PRId64 " of %" PRIu64 " %s rejected: %s", rejected, cnt,
				   g->what, said);
	else if (*said)
		receiver__add_note(r, "of %s the receiver says: %s", g->what, said);
	return RECEIVER_SENT;
}

static enum receiver_result judge(struct receiver *r, int status)
{
	enum receiver_result result = receiver__judge(r, status);
	char said[OTLP_SAID];
	size_t len;
	const char *body = http__answer(receiver__http(r), &len);

	if (status > 0 && result != RECEIVER_SENT && otlp_answer__status(body, len, said))
		receiver__fail(r, result, "%s: status %d: %s", receiver__name(r), status, said);
	return result;
}

/* The outcome of sending a signal. */
struct outcome {
	enum receiver_result result;
	bool taken;   /* something was sent, and taken */
	bool unknown; /* the receiver has no such path */
};

static struct outcome post(struct receiver *r, const struct otlp *o, const struct signal *g,
			   const struct otlp_request *request)
{
	char *target = NULL;
	struct http_request http = {
		.content_type = "application/x-protobuf",
		.body = request->body.data,
		.len = request->body.len,
		.gzip = true,
	};
	struct outcome out = {RECEIVER_LATER, false, false};
	int status;

	if (asprintf(&target, "%s%s", o->prefix, g->path) < 0) {
		receiver__fail(r, out.result, "out of memory");
		return out;
	}
	http.target = target;
	status = http__ask(receiver__http(r), &http);
	out.result = status == 200 ? hear(r, g, request->cnt) : judge(r, status);
	out.taken = out.result == RECEIVER_SENT;
	out.unknown = status == 404 || status == 405 || status == 501;
	free(target);
	return out;
}

static struct outcome send_signal(struct receiver *r, struct otlp *o, const struct shipment *s,
				  const struct signal *g)
{
	struct outcome out = {RECEIVER_SENT, false, false};
	struct otlp_request request = {0};

	if (g->make(s, &request))
		out.result = receiver__fail(r, RECEIVER_LATER, "out of memory");
	else if (request.cnt)
		out = post(r, o, g, &request);
	if (out.taken && request.left_out && g->left_out)
		receiver__add_note(r, "%" PRIu64 " %s had no room in one request of %s",
				   request.left_out, g->left_out, g->path);
	proto_free(&request.body);
	return out;
}

/* Leaves out signals that the receiver does not know, from then on; but only once it has taken one:
 * at a wrong port none is known. */
static enum receiver_result leave_out(struct receiver *r, struct otlp *o,
				      const bool unknown[SIGNALS], bool any_taken)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		if (!unknown[i])
			continue;
		if (!any_taken)
			return RECEIVER_LATER; /* its error has been told */
		o->unknown[i] = true;
		receiver__add_note(r, "it does not take %s (%s%s), which are left out",
				   signals[i].what, o->prefix, signals[i].path);
	}
	return RECEIVER_SENT;
}

static enum receiver_result send_recording(struct receiver *r, void *own, const struct shipment *s)
{
	struct otlp *o = own;
	bool unknown[SIGNALS] = {false}, any_taken = false;
	enum receiver_result refused = RECEIVER_SENT;

	if (o->id != s->id)
		memset(o->taken, 0, sizeof(o->taken));
	o->id = s->id;
	for (size_t i = 0; i < SIGNALS; i++) {
		struct outcome out;

		any_taken |= o->taken[i];
		if (o->taken[i] || o->unknown[i])
			continue;
		out = send_signal(r, o, s, &signals[i]);
		unknown[i] = out.unknown;
		if (out.result == RECEIVER_LATER && !out.unknown)
			return out.result;
		if (out.result == RECEIVER_REFUSED)
			refused = out.result;
		o->taken[i] = out.taken;
		any_taken |= out.taken;
	}
	if (leave_out(r, o, unknown, any_taken) != RECEIVER_SENT)
		return RECEIVER_LATER;
	return refused;
}

const struct receiver_kind receiver_otlp = {
	.scheme = "otlp+http",
	.tls_scheme = "otlp+https",
	.port = 4318,
	.tls_port = 4318,
	.open = open_otlp,
	.free = free_otlp,
	.send = send_recording,
	.shows_sessions = true,
};
