// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "calls/tree.h"
#include "fleet/http.h"
#include "fleet/kind.h"
#include "fleet/url.h"
#include "record/reader.h"
#include "sink/names.h"
#include "util/hash.h"
#include "util/io.h"
#include "util/log.h"

#define ERROR_LINE 640

static const struct receiver_kind *const kinds[] = {
	&receiver_clickhouse,
	&receiver_otlp,
	&receiver_pyroscope,
	&receiver_parca,
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct receiver {
	const struct receiver_kind *kind;
	struct url url;
	struct http *http;
	void *own;
	char error[ERROR_LINE], note[ERROR_LINE];
};

/* *tls: it is the scheme of a connection by TLS. */
static const struct receiver_kind *find_kind(const char *scheme, bool *tls)
{
	for (size_t i = 0; i < KINDS; i++) {
		*tls = !strcmp(scheme, kinds[i]->tls_scheme);
		if (*tls || !strcmp(scheme, kinds[i]->scheme))
			return kinds[i];
	}
	log_error("%s: no kind of receiver is called so; see proftrace --help", scheme);
	return NULL;
}

static int open_parts(struct receiver *r, const char *url, const struct receiver_options *o)
{
	struct http_options http = {
		.secret = o->secret,
		.ca_file = o->ca_file,
		.timeout_s = o->timeout_s,
	};
	const char *why;
	int err = url__parse(&r->url, url, &why);

	/* The URL is not shown: it may hold a password. */
	if (err == -EINVAL)
		log_error("the URL of the receiver is none: %s", why);
	if (err)
		return err;
	r->kind = find_kind(r->url.scheme, &http.tls);
	if (!r->kind)
		return -EINVAL;
	http.port = http.tls ? r->kind->tls_port : r->kind->port;
	err = r->kind->open ? r->kind->open(&r->url, &r->own) : 0;
	return err ? err : http__open(&r->url, &http, &r->http);
}

int receiver__open(const char *url, const struct receiver_options *o, struct receiver **out)
{
	struct receiver *r = calloc(1, sizeof(*r));
	int err = r ? open_parts(r, url, o) : -ENOMEM;

	if (err) {
		receiver__free(r);
		return err;
	}
	*out = r;
	return 0;
}

void receiver__free(struct receiver *r)
{
	if (!r)
		return;
	if (r->own)
		r->kind->free(r->own);
	http__free(r->http);
	url__clear(&r->url);
	free(r);
}

const char *receiver__name(const struct receiver *r)
{
	return r->url.shown;
}

struct http *receiver__http(struct receiver *r)
{
	return r->http;
}

const char *receiver__error(const struct receiver *r)
{
	return r->error;
}

const char *receiver__note(const struct receiver *r)
{
	return r->note;
}

uint32_t receiver__retry_s(const struct receiver *r)
{
	uint32_t after_s = http__retry_after_s(r->http);
	int status = http__status(r->http);

	if (status != 429 && status != 502 && status != 503 && status != 504)
		return UINT32_MAX;
	return after_s ? after_s : 1;
}

bool receiver__takes_sessions(const struct receiver *r)
{
	return r->kind->shows_sessions;
}

uint64_t receiver__bytes(const struct receiver *r)
{
	return http__bytes(r->http);
}

enum receiver_result receiver__fail(struct receiver *r, enum receiver_result result,
				    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->error, sizeof(r->error), fmt, args);
	va_end(args);
	return result;
}

void receiver__add_note(struct receiver *r, const char *fmt, ...)
{
	size_t len = strlen(r->note);
	va_list args;

	if (len && len < sizeof(r->note))
		len += snprintf(r->note + len, sizeof(r->note) - len, "; ");
	va_start(args, fmt);
	if (len < sizeof(r->note))
		vsnprintf(r->note + len, sizeof(r->note) - len, fmt, args);
	va_end(args);
}

enum receiver_result receiver__judge(struct receiver *r, int status)
{
	/* With any other status a later try may succeed, perhaps after somebody has changed
	 * something. */
	bool never = status == 400 || status == 413 || status == 415 || status == 422;

	if (status / 100 == 2)
		return RECEIVER_SENT;
	return receiver__fail(r, never ? RECEIVER_REFUSED : RECEIVER_LATER, "%s: %s", r->url.shown,
			      http__error(r->http));
}

/* Returns 0 or -errno. */
static int hash_file(int fd, uint64_t *hash)
{
	char data[1 << 14];
	ssize_t len;

	*hash = HASH_BEGIN;
	while ((len = io__read_up_to(fd, data, sizeof(data))) > 0)
		*hash = hash__add(*hash, data, len);
	return len;
}

static enum receiver_result send_run(struct receiver *r, struct recorded *run,
				     const struct recording_labels *labels, uint64_t id)
{
	char service[SERVICE_NAME];
	const char *host = labels->host ? labels->host : run->run_info.host;
	struct shipment s = {
		.run = run,
		.service = labels->service ? labels->service : service__name(run->profile, service),
		.version = labels->version ? labels->version : "",
		.host = host ? host : "",
		.kernel = run->run_info.kernel ? run->run_info.kernel : "",
		.id = id,
		.fresh = labels->fresh,
		.span_min_ns = labels->span_min_ns,
	};
	struct sessions *sessions = NULL;
	enum receiver_result result;

	if (profile__summarize(run->profile))
		return receiver__fail(r, RECEIVER_LATER, "out of memory");
	if (labels->find_sessions && r->kind->shows_sessions && run->profile->timeline &&
	    labels->find_sessions(labels->sessions_ctx, run->profile, &sessions))
		return receiver__fail(r, RECEIVER_REFUSED, "its sessions cannot be found");
	s.sessions = sessions;
	result = r->kind->send(r, r->own, &s);
	sessions__free(sessions);
	return result;
}

/* `id` is the file's; each run makes its own of it. */
static enum receiver_result send_runs(struct receiver *r, const char *path, struct reader *reader,
				      const struct recording_labels *labels, uint64_t id)
{
	enum receiver_result result = RECEIVER_SENT;
	size_t cnt = reader__runs(reader);

	if (!cnt)
		return receiver__fail(r, RECEIVER_REFUSED, "%s holds no run", path);
	for (size_t i = 0; i < cnt && result == RECEIVER_SENT; i++) {
		struct recorded run = {0};
		int err = reader__load(reader, i, &run);

		if (err)
			result = receiver__fail(
				r, err == -ENOMEM ? RECEIVER_LATER : RECEIVER_REFUSED,
				"%s: run %zu cannot be read: %s", path, i + 1, strerror(-err));
		else
			result = send_run(r, &run, labels, id + i);
		recorded__free(&run);
	}
	return result;
}

enum receiver_result receiver__send(struct receiver *r, const char *path,
				    const struct recording_labels *labels)
{
	struct reader *reader = NULL;
	uint64_t id = labels->id;
	enum receiver_result result;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	*r->error = *r->note = 0;
	if (fd < 0)
		return receiver__fail(r, errno == ENOENT ? RECEIVER_REFUSED : RECEIVER_LATER,
				      "%s: %s", path, strerror(errno));
	err = id ? 0 : hash_file(fd, &id);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		close(fd);
		return receiver__fail(r, RECEIVER_REFUSED, "%s: %s", path, strerror(-err));
	}
	err = reader__open_file(fd, path, &reader);
	if (err)
		return receiver__fail(r, err == -ENOMEM ? RECEIVER_LATER : RECEIVER_REFUSED,
				      "%s is no recording that can be read", path);
	result = send_runs(r, path, reader, labels, id);
	reader__free(reader);
	return result;
}
