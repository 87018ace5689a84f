// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/format/layout.h"

#include "calls/profile.h"
#include "record/format/run_info.h"
#include "timeline/stream.h"

#define PLAIN(column, kind, type, member)                           \
	{                                                           \
		column, FIELD_##kind, false, offsetof(type, member) \
	}
#define CHANGE(column, kind, type, member)                         \
	{                                                          \
		column, FIELD_##kind, true, offsetof(type, member) \
	}
#define LAYOUT(tag, type, fields)                                               \
	{                                                                       \
		tag, sizeof(type), sizeof(fields) / sizeof((fields)[0]), fields \
	}

static const struct field run_info[] = {
	PLAIN(1, DOUBLE, struct run_info, start_time), PLAIN(2, STRING, struct run_info, version),
	PLAIN(3, STRING, struct run_info, host),       PLAIN(4, STRING, struct run_info, kernel),
	PLAIN(5, STRING, struct run_info, machine),    PLAIN(6, U32, struct run_info, raw),
};
const struct layout layout_run_info = LAYOUT(TABLE_RUN_INFO, struct run_info, run_info);

static const struct field strings[] = {PLAIN(1, STRING, struct string_row, string)};
const struct layout layout_args = LAYOUT(TABLE_ARGS, struct string_row, strings);
const struct layout layout_command = LAYOUT(TABLE_COMMAND, struct string_row, strings);

static const struct field ends[] = {PLAIN(1, STRING, struct run_end, reason)};
const struct layout layout_end = LAYOUT(TABLE_END, struct run_end, ends);

static const struct field summary[] = {
	PLAIN(1, DOUBLE, struct profile, start_time),
	PLAIN(2, U64, struct profile, duration_ns),
	PLAIN(3, DOUBLE, struct profile, max_overhead),
	PLAIN(4, STRING, struct profile, target.exec),
	PLAIN(5, U64, struct profile, accounting.entered),
	PLAIN(6, U64, struct profile, accounting.returned),
	PLAIN(7, U64, struct profile, accounting.unwound),
	PLAIN(8, I64, struct profile, accounting.open),
	PLAIN(9, U64, struct profile, accounting.lost),
	PLAIN(10, U64, struct profile, accounting.deep),
	PLAIN(11, U64, struct profile, accounting.dropped),
	PLAIN(12, U64, struct profile, accounting.probe_ns),
	PLAIN(13, U64, struct profile, accounting.cpu_ns),
	PLAIN(14, U64, struct profile, accounting.undistributed),
	PLAIN(15, U64, struct profile, probes.functions),
	PLAIN(16, U64, struct profile, probes.exits_return),
	PLAIN(17, U64, struct profile, probes.exits_sites),
	PLAIN(18, U64, struct profile, probes.exits_none),
	PLAIN(19, U64, struct profile, accounting.timeline_calls),
	PLAIN(20, U64, struct profile, accounting.timeline_lost),
	PLAIN(21, U64, struct profile, paused_ns),
	PLAIN(22, U64, struct profile, accounting.untriggered),
	PLAIN(23, U64, struct profile, probes.instrumented),
	PLAIN(24, U64, struct profile, accounting.line_misses),
	PLAIN(25, U32, struct profile, files_by_root),
	PLAIN(26, U64, struct profile, accounting.callers_whole),
	PLAIN(27, U64, struct profile, accounting.callers_no_rule),
	PLAIN(28, U64, struct profile, accounting.callers_unreadable),
	PLAIN(29, U64, struct profile, accounting.callers_astray),
	PLAIN(30, U64, struct profile, accounting.callers_deep),
	PLAIN(31, U64, struct profile, accounting.callers_lost),
	PLAIN(32, U64, struct profile, surveyed_ns),
	PLAIN(33, U64, struct profile, sample_period_ns),
	PLAIN(34, U64, struct profile, accounting.samples_taken),
	PLAIN(35, U64, struct profile, accounting.samples_probing),
	PLAIN(36, U64, struct profile, accounting.samples_lost),
	PLAIN(37, U64, struct profile, accounting.samples_whole),
	PLAIN(38, U64, struct profile, accounting.samples_no_rule),
	PLAIN(39, U64, struct profile, accounting.samples_unreadable),
	PLAIN(40, U64, struct profile, accounting.samples_astray),
	PLAIN(41, U64, struct profile, accounting.samples_deep),
	PLAIN(42, U64, struct profile, accounting.samples_unknown),
	PLAIN(43, U64, struct profile, accounting.bursts),
	PLAIN(44, U64, struct profile, accounting.burst_ns),
	PLAIN(45, U64, struct profile, accounting.sample_ns),
	PLAIN(46, U64, struct profile, accounting.waits),
	PLAIN(47, U64, struct profile, accounting.waits_lost),
	PLAIN(48, U64, struct profile, accounting.waits_short),
	PLAIN(49, U64, struct profile, accounting.waits_short_ns),
	PLAIN(50, U64, struct profile, accounting.held_ns),
	PLAIN(51, U64, struct profile, accounting.waits_estimated),
	PLAIN(52, U32, struct profile, cost_unknown),
};
const struct layout layout_summary = LAYOUT(TABLE_SUMMARY, struct profile, summary);

static const struct field pids[] = {CHANGE(1, I32, struct pid_row, pid)};
const struct layout layout_pids = LAYOUT(TABLE_PIDS, struct pid_row, pids);

static const struct field sites[] = {
	PLAIN(1, STRING, struct site_row, class_name),
	PLAIN(2, U64, struct site_row, count),
};
const struct layout layout_sites = LAYOUT(TABLE_SITES, struct site_row, sites);

static const struct field skipped[] = {
	PLAIN(1, STRING, struct profile_skip, name),
	PLAIN(2, STRING, struct profile_skip, module),
	PLAIN(3, STRING, struct profile_skip, reason),
};
const struct layout layout_skipped = LAYOUT(TABLE_SKIPPED, struct profile_skip, skipped);

static const struct field functions[] = {
	PLAIN(1, STRING, struct profile_function, name),
	PLAIN(2, STRING, struct profile_function, symbol),
	PLAIN(3, STRING, struct profile_function, module),
	CHANGE(4, U64, struct profile_function, offset),
	PLAIN(5, STRING, struct profile_function, file),
	PLAIN(6, U32, struct profile_function, line),
	PLAIN(7, U32, struct profile_function, sampled),
	PLAIN(8, U32, struct profile_function, kind),
	PLAIN(9, U32, struct profile_function, leaves_by_jump),
};
const struct layout layout_functions = LAYOUT(TABLE_FUNCTIONS, struct profile_function, functions);

static const struct field aliases[] = {
	CHANGE(1, U32, struct alias_row, function),
	PLAIN(2, STRING, struct alias_row, symbol),
};
const struct layout layout_aliases = LAYOUT(TABLE_ALIASES, struct alias_row, aliases);

static const struct field threads[] = {
	CHANGE(1, I32, struct profile_thread, pid),
	CHANGE(2, I32, struct profile_thread, tid),
	CHANGE(3, U64, struct profile_thread, start_ns),
	CHANGE(4, U64, struct profile_thread, goroutine),
	PLAIN(5, U64, struct profile_thread, callstack_ns),
	PLAIN(6, COMM, struct profile_thread, comm),
	PLAIN(7, U32, struct profile_thread, merged_cnt),
	PLAIN(8, U32, struct profile_thread, spans),
};
const struct layout layout_threads = LAYOUT(TABLE_THREADS, struct profile_thread, threads);

/* Inclusive figures are a node's own and its callees', always: they are not stored. */
static const struct field nodes[] = {
	CHANGE(1, U32, struct profile_node, parent),
	CHANGE(2, U32, struct profile_node, function),
	CHANGE(3, U32, struct profile_node, thread),
	PLAIN(4, U64, struct profile_node, stats.calls),
	PLAIN(5, U64, struct profile_node, stats.self_ns),
	PLAIN(6, U64, struct profile_node, stats.off_self_ns),
	PLAIN(7, U64, struct profile_node, stats.raw_self_ns),
	PLAIN(8, U64, struct profile_node, stats.self_error_ns),
	PLAIN(9, U64, struct profile_node, stats.min_ns),
	PLAIN(10, U64, struct profile_node, stats.max_ns),
	PLAIN(11, U64, struct profile_node, stats.samples),
	PLAIN(12, U64, struct profile_node, stats.sampled_ns),
	PLAIN(13, U64, struct profile_node, stats.varied_ns),
	PLAIN(14, U64, struct profile_node, stats.burst_calls),
	PLAIN(15, WHOLE, struct profile_node, stats.calls_varied),
};
const struct layout layout_nodes = LAYOUT(TABLE_NODES, struct profile_node, nodes);

static const struct field buckets[] = {
	CHANGE(1, U32, struct profile_bucket, function),
	CHANGE(2, U32, struct profile_bucket, bucket),
	PLAIN(3, U64, struct profile_bucket, calls),
};
const struct layout layout_buckets = LAYOUT(TABLE_BUCKETS, struct profile_bucket, buckets);

static const struct field drops[] = {
	PLAIN(1, U32, struct profile_drop, function),
	CHANGE(2, U64, struct profile_drop, at_ns),
	PLAIN(3, DOUBLE, struct profile_drop, calls_per_second),
	PLAIN(4, DOUBLE, struct profile_drop, cost_percent),
	PLAIN(5, U32, struct profile_drop, sampled),
	PLAIN(6, STRING, struct profile_drop, reason),
	PLAIN(7, U64, struct profile_drop, back_ns),
};
const struct layout layout_drops = LAYOUT(TABLE_DROPS, struct profile_drop, drops);

static const struct field cpu_shares[] = {
	PLAIN(1, STRING, struct profile_cpu_share, module),
	PLAIN(2, U64, struct profile_cpu_share, samples),
	PLAIN(3, U64, struct profile_cpu_share, traced),
	PLAIN(4, U32, struct profile_cpu_share, probed),
};
const struct layout layout_cpu_shares =
	LAYOUT(TABLE_CPU_SHARES, struct profile_cpu_share, cpu_shares);

static const struct field estimates[] = {
	CHANGE(1, U32, struct profile_estimate, function),
	PLAIN(2, U64, struct profile_estimate, calls),
	PLAIN(3, WHOLE, struct profile_estimate, varied),
};
const struct layout layout_estimates = LAYOUT(TABLE_ESTIMATES, struct profile_estimate, estimates);

static const struct field arguments[] = {
	CHANGE(1, U32, struct profile_argument, function),
	PLAIN(2, STRING, struct profile_argument, name),
};
const struct layout layout_arguments = LAYOUT(TABLE_ARGUMENTS, struct profile_argument, arguments);

static const struct field lines[] = {
	PLAIN(1, STRING, struct profile_line, file),
	CHANGE(2, U32, struct profile_line, line),
	CHANGE(3, U32, struct profile_line, function),
	PLAIN(4, U32, struct profile_line, inlined),
	PLAIN(5, U64, struct profile_line, hits),
	PLAIN(6, U64, struct profile_line, ns),
	PLAIN(7, STRING, struct profile_line, reason),
	PLAIN(8, U64, struct profile_line, error_ns),
	PLAIN(9, U32, struct profile_line, approximate),
	PLAIN(10, U32, struct profile_line, aside),
};
const struct layout layout_lines = LAYOUT(TABLE_LINES, struct profile_line, lines);

static const struct field inlines[] = {
	PLAIN(1, STRING, struct profile_inline, name),
	PLAIN(2, STRING, struct profile_inline, file),
	PLAIN(3, U32, struct profile_inline, line),
	PLAIN(4, U32, struct profile_inline, parent),
};
const struct layout layout_inlines = LAYOUT(TABLE_INLINES, struct profile_inline, inlines);

#define PARTY(first, member)                                                   \
	PLAIN(first, I32, struct recorded_wait, member.pid),                   \
		PLAIN(first + 1, I32, struct recorded_wait, member.tid),       \
		PLAIN(first + 2, COMM, struct recorded_wait, member.comm),     \
		PLAIN(first + 3, U32, struct recorded_wait, member.callstack), \
		PLAIN(first + 4, U32, struct recorded_wait, member.path)

static const struct field waits[] = {
	CHANGE(1, U64, struct recorded_wait, begin_ns),
	PLAIN(2, U64, struct recorded_wait, took_ns),
	PLAIN(3, U64, struct recorded_wait, ready_ns),
	PLAIN(4, U32, struct recorded_wait, reason),
	PLAIN(5, U32, struct recorded_wait, call),
	PLAIN(6, U32, struct recorded_wait, kind),
	PLAIN(7, U64, struct recorded_wait, object),
	PLAIN(8, STRING, struct recorded_wait, object_name),
	PARTY(10, at),
	PARTY(20, waker),
};
const struct layout layout_waits = LAYOUT(TABLE_WAITS, struct recorded_wait, waits);

static const struct field callstacks[] = {
	CHANGE(1, I32, struct recorded_callstack, pid),
	CHANGE(2, I32, struct recorded_callstack, tid),
	CHANGE(3, U64, struct recorded_callstack, start_ns),
	CHANGE(4, U64, struct recorded_callstack, goroutine),
	PLAIN(5, U64, struct recorded_callstack, callstack_ns),
	PLAIN(6, U32, struct recorded_callstack, spans),
};
const struct layout layout_callstacks =
	LAYOUT(TABLE_CALLSTACKS, struct recorded_callstack, callstacks);

static const struct field paths[] = {
	CHANGE(1, U32, struct recorded_path, parent),
	CHANGE(2, U32, struct recorded_path, function),
	CHANGE(3, U32, struct recorded_path, callstack),
};
const struct layout layout_paths = LAYOUT(TABLE_PATHS, struct recorded_path, paths);

static const struct field segments[] = {
	CHANGE(1, U32, struct segment_row, callstack),
	PLAIN(2, U32, struct segment_row, cnt),
};
const struct layout layout_segments = LAYOUT(TABLE_SEGMENTS, struct segment_row, segments);

/* Paths repeat in patterns, which compression finds, and more of them in their changes. */
static const struct field calls[] = {
	PLAIN(1, U64, struct call_row, gap_ns), PLAIN(2, U64, struct call_row, duration_ns),
	CHANGE(3, U32, struct call_row, path),	PLAIN(4, U64, struct call_row, off_ns),
	PLAIN(5, U32, struct call_row, open),
};
const struct layout layout_calls = LAYOUT(TABLE_CALLS, struct call_row, calls);

static const struct field values[] = {
	CHANGE(1, U32, struct value_row, call),
	PLAIN(2, U32, struct value_row, kind),
	PLAIN(3, U64, struct value_row, bits),
	PLAIN(4, STRING, struct value_row, text),
};
const struct layout layout_values = LAYOUT(TABLE_VALUES, struct value_row, values);

static const struct field call_paths[] = {{3, FIELD_U32, true, 0}};
const struct layout layout_call_paths = LAYOUT(TABLE_CALLS, uint32_t, call_paths);

static const struct field forgotten[] = {
	PLAIN(1, U64, struct recorded_gap, calls),
	PLAIN(2, U64, struct recorded_gap, until_ns),
};
const struct layout layout_forgotten = LAYOUT(TABLE_FORGOTTEN, struct recorded_gap, forgotten);
