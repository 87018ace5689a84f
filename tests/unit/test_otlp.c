// SPDX-License-Identifier: GPL-2.0-or-later
/* OTLP: ids, the W3C's trace contexts, and answers, which may be anything. */
#include "fixture.h"

#include <string.h>

#include "cli/session_id.h"
#include "fleet/otlp/answer.h"
#include "fleet/otlp/message.h"
#include "sessions/trace_context.h"

#define ACCEPTED(bytes) otlp_answer__accepted(bytes, sizeof(bytes) - 1, &rejected, said)

static void test_accepted(void **state)
{
	char said[OTLP_SAID];
	int64_t rejected;

	assert_true(ACCEPTED(""));
	assert_int_equal(rejected, 0);
	assert_string_equal(said, "");
	/* Of two fields with one number the later counts; unknown fields are passed over. */
	assert_true(ACCEPTED("\x0a\x06\x08\x05\x12\x02no\x18\x07\x21"
			     "12345678\x2d"
			     "1234\x32\x01x"));
	assert_int_equal(rejected, 5);
	assert_string_equal(said, "no");
	assert_true(ACCEPTED("\x0a\x03\x12\x01\x07"));
	assert_string_equal(said, "\\x07");
	/* Fewer than none. */
	assert_true(ACCEPTED("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	assert_int_equal(rejected, 0);
}

static void test_no_answers(void **state)
{
	char said[OTLP_SAID];
	int64_t rejected;

	assert_false(ACCEPTED("<html>"));
	assert_false(ACCEPTED("\x0a"));
	assert_false(ACCEPTED("\x0a\x02\x08"));
	assert_false(ACCEPTED("\x0a\x01\x08"));
	assert_false(ACCEPTED("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	assert_false(ACCEPTED("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	assert_false(ACCEPTED("\x02\x01x")); /* field 0 */
	assert_false(ACCEPTED("\x0b"));	     /* a group */
	assert_false(ACCEPTED("\x09"
			      "1234567"));
}

static void test_status(void **state)
{
	char said[OTLP_SAID];

	assert_true(otlp_answer__status("\x08\x03\x12\x05 late", 9, said));
	assert_string_equal(said, " late");
	assert_false(otlp_answer__status("", 0, said));
	assert_false(otlp_answer__status("not found", 9, said));
}

static void test_ids(void **state)
{
	static const uint8_t zero[OTLP_TRACE_ID];
	uint8_t a[OTLP_TRACE_ID], b[OTLP_TRACE_ID];

	otlp_trace_id(a, 1, 2);
	otlp_trace_id(b, 1, 2);
	assert_memory_equal(a, b, sizeof(a));
	for (uint64_t i = 0; i < 1000; i++) {
		otlp_trace_id(b, 1, i);
		assert_memory_not_equal(b, zero, sizeof(b));
		if (i != 2)
			assert_memory_not_equal(a, b, sizeof(a));
	}
	otlp_span_id(a, 1, 2, 3);
	otlp_span_id(b, 1, 3, 2);
	assert_memory_not_equal(a, b, OTLP_SPAN_ID);
	otlp_span_id(b, 2, 2, 3);
	assert_memory_not_equal(a, b, OTLP_SPAN_ID);
}

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"

static void test_trace_context(void **state)
{
	static const char *const wrong[] = {
		"",
		"00",
		"4bf92f3577b34da6a3ce929d0e0e473",
		TRACE "0",
		"00000000000000000000000000000000",
		"00-" TRACE,
		"00-" TRACE "-00f067aa0ba902b7",
		"00-" TRACE "-00f067aa0ba902b7-01-more",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"ff-" TRACE "-00f067aa0ba902b7-01",
		"00-" TRACE "-00f067aa0ba902bx-01",
		"4711",
		"-",
	};
	struct trace_context c;

	assert_true(trace_context__parse(&c, "00-" TRACE "-00f067aa0ba902b7-01"));
	assert_memory_equal(c.trace,
			    "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36",
			    TRACE_ID_SIZE);
	assert_memory_equal(c.parent, "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", SPAN_ID_SIZE);
	assert_int_equal(c.flags, 1);
	assert_true(trace_context__parse(&c, "01-" TRACE "-00f067aa0ba902b7-00-what"));
	assert_true(trace_context__parse(&c, "4BF92F3577B34DA6A3CE929D0E0E4736"));
	assert_int_equal(c.trace[1], 0xf9);
	assert_int_equal(c.parent[1], 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (trace_context__parse(&c, wrong[i]))
			fail_msg("'%s' is taken for a trace", wrong[i]);
	}
}

static void test_where_ids_lie(void **state)
{
	struct session_id_option id = {0};
	char **arguments = NULL;
	size_t cnt = 0;

	assert_true(session_id__parse(&id, "req->id"));
	assert_string_equal(id.value, "req->id");
	assert_null(id.rest);
	assert_false(id.is_context);
	assert_true(session_id__parse(&id, "otel"));
	assert_true(id.is_context);
	assert_string_equal(id.value, "otel_thread_ctx_v1");
	assert_false(session_id__parse(&id, "arg1, arg2"));
	assert_false(session_id__parse(&id, ""));
	assert_false(session_id__parse_bytes(&id, "req->id"));
	assert_false(session_id__parse_bytes(&id, "arg0"));
	assert_false(session_id__parse_bytes(&id, "arg1+"));
	assert_false(session_id__parse_bytes(&id, "arg1+8:x"));
	assert_true(session_id__parse_bytes(&id, "arg1"));
	assert_string_equal(id.rest, "arg1+8:x");
	assert_true(session_id__parse_bytes(&id, "arg2+16"));
	assert_string_equal(id.value, "arg2+16:x");
	assert_string_equal(id.rest, "arg2+24:x");
	assert_true(session_id__want(&id, "handle", &arguments, &cnt));
	assert_true(session_id__want(&id, "handle", &arguments, &cnt));
	assert_int_equal(cnt, 1);
	assert_string_equal(arguments[0], "handle(arg2+16:x, arg2+24:x)");
	free(arguments[0]);
	free(arguments);
	session_id__clear(&id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),      cmocka_unit_test(test_no_answers),
		cmocka_unit_test(test_status),	      cmocka_unit_test(test_ids),
		cmocka_unit_test(test_trace_context), cmocka_unit_test(test_where_ids_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
