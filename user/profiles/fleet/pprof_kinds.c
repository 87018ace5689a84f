// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pyroscope and Parca: both take pprof's format, as -f pprof writes it, with labels. Neither can be
 * asked whether it has a profile already, so one whose answer was lost comes twice.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "fleet/http.h"
#include "fleet/kind.h"
#include "record/reader.h"
#include "sink/sink.h"
#include "util/json.h"

#define LABEL	 128
#define BOUNDARY "proftrace-7d1f0c52b6e94a83"

/* Text that grows. */
struct text {
	FILE *out;
	char *data;
	size_t len;
};

static int text_open(struct text *t)
{
	t->out = open_memstream(&t->data, &t->len);
	return t->out ? 0 : -ENOMEM;
}

/* Returns `err`, or -ENOMEM. t->data is the caller's to free in any case. */
static int text_close(struct text *t, int err)
{
	if (!t->out)
		return -ENOMEM;
	if (ferror(t->out) | fclose(t->out))
		return -ENOMEM;
	return err;
}

static int make_pprof(const struct shipment *s, struct text *t)
{
	const struct sink_options opts = {.weight = WEIGHT_WALL};
	int err = text_open(t);

	if (!err)
		err = sink_pprof.write(s->run->profile, &opts, t->out);
	return text_close(t, err);
}

/* Characters that mean something in labels become underscores. */
static const char *label(const char *text, char buf[LABEL])
{
	snprintf(buf, LABEL, "%s", text);
	for (char *c = buf; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("-_./:", *c))
			*c = '_';
	}
	return buf;
}

static enum receiver_result post(struct receiver *r, const struct http_request *request, int err)
{
	if (err)
		return receiver__fail(r, RECEIVER_LATER, "out of memory");
	return receiver__judge(r, http__ask(receiver__http(r), request));
}

/* Units and aggregations, which Pyroscope does not know for these types of samples. */
static const char sample_types[] =
	"{\"calls\":{\"units\":\"objects\",\"aggregation\":\"sum\"},"
	"\"wall\":{\"units\":\"lock_nanoseconds\",\"aggregation\":\"sum\"},"
	"\"cpu\":{\"units\":\"lock_nanoseconds\",\"aggregation\":\"sum\"},"
	"\"off\":{\"units\":\"lock_nanoseconds\",\"aggregation\":\"sum\"}}";

static int make_form(const struct text *pprof, struct text *t)
{
	int err = text_open(t);

	if (err)
		return err;
	fputs("--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"profile\"; "
	      "filename=\"profile.pprof\"\r\nContent-Type: application/octet-stream\r\n\r\n",
	      t->out);
	fwrite(pprof->data, 1, pprof->len, t->out);
	fprintf(t->out,
		"\r\n--" BOUNDARY "\r\nContent-Disposition: form-data; "
		"name=\"sample_type_config\"; filename=\"sample_type_config.json\"\r\n"
		"Content-Type: application/json\r\n\r\n%s\r\n--" BOUNDARY "--\r\n",
		sample_types);
	return text_close(t, 0);
}

static char *ingest_target(const struct shipment *s)
{
	const struct profile *p = s->run->profile;
	double from = p->start_time, until = from + (double)p->duration_ns / 1e9;
	char service[LABEL], version[LABEL], host[LABEL], name[3 * LABEL + 64];
	char *encoded, *target;

	snprintf(name, sizeof(name), "%s{service_version=%s,host=%s}", label(s->service, service),
		 *s->version ? label(s->version, version) : "unknown",
		 *s->host ? label(s->host, host) : "unknown");
	encoded = http__encode(name);
	if (!encoded || asprintf(&target, "/ingest?name=%s&from=%.0f&until=%.0f&spyName=proftrace",
				 encoded, from, until > from + 1 ? until : from + 1) < 0)
		target = NULL;
	free(encoded);
	return target;
}

static enum receiver_result send_to_pyroscope(struct receiver *r, void *own,
					      const struct shipment *s)
{
	struct text pprof = {0}, form = {0};
	char *target = ingest_target(s);
	int err = target ? make_pprof(s, &pprof) : -ENOMEM;
	struct http_request request = {
		.target = target,
		.content_type = "multipart/form-data; boundary=" BOUNDARY,
	};
	enum receiver_result result;

	if (!err)
		err = make_form(&pprof, &form);
	request.body = form.data;
	request.len = form.len;
	result = post(r, &request, err);
	free(pprof.data);
	free(form.data);
	free(target);
	return result;
}

/* RFC 4648, with padding. */
static void put_base64(FILE *out, const uint8_t *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = data[i] << 16 | (i + 1 < len ? data[i + 1] << 8 : 0) |
				(i + 2 < len ? data[i + 2] : 0);

		putc(digits[bits >> 18], out);
		putc(digits[bits >> 12 & 63], out);
		putc(i + 1 < len ? digits[bits >> 6 & 63] : '=', out);
		putc(i + 2 < len ? digits[bits & 63] : '=', out);
	}
}

static void put_label(struct json *j, const char *name, const char *value)
{
	if (!*value)
		return;
	json_open(j, '{');
	json_member_string(j, "name", name);
	json_member_string(j, "value", value);
	json_close(j, '}');
}

/* A WriteRawRequest, as JSON has it. */
static int make_write(const struct shipment *s, const struct text *pprof, struct text *t)
{
	int err = text_open(t);
	struct json j = JSON_INIT(t->out);

	if (err)
		return err;
	json_open(&j, '{');
	json_member_open(&j, "series", '[');
	json_open(&j, '{');
	json_member_open(&j, "labels", '{');
	json_member_open(&j, "labels", '[');
	put_label(&j, "__name__", "proftrace");
	put_label(&j, "job", s->service);
	put_label(&j, "version", s->version);
	put_label(&j, "instance", s->host);
	json_close(&j, ']');
	json_close(&j, '}');
	json_member_open(&j, "samples", '[');
	json_open(&j, '{');
	json_key(&j, "rawProfile");
	putc('"', t->out);
	put_base64(t->out, (const uint8_t *)pprof->data, pprof->len);
	fputs("\"}]}]}", t->out);
	return text_close(t, 0);
}

static enum receiver_result send_to_parca(struct receiver *r, void *own, const struct shipment *s)
{
	struct text pprof = {0}, write = {0};
	int err = make_pprof(s, &pprof);
	struct http_request request = {
		.target = "/api/profiles/writeraw",
		.content_type = "application/json",
	};
	enum receiver_result result;

	if (!err)
		err = make_write(s, &pprof, &write);
	request.body = write.data;
	request.len = write.len;
	result = post(r, &request, err);
	free(pprof.data);
	free(write.data);
	return result;
}

const struct receiver_kind receiver_pyroscope = {
	.scheme = "pyroscope+http",
	.tls_scheme = "pyroscope+https",
	.port = 4040,
	.tls_port = 443,
	.send = send_to_pyroscope,
};

const struct receiver_kind receiver_parca = {
	.scheme = "parca+http",
	.tls_scheme = "parca+https",
	.port = 7070,
	.tls_port = 443,
	.send = send_to_parca,
};
