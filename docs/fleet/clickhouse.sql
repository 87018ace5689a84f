-- The tables that proftrace sends profiles to, for ClickHouse 18.16 (Debian 12) and later.
--
--   clickhouse-client --query 'CREATE DATABASE profiles'
--   clickhouse-client --database profiles --multiquery < docs/fleet/clickhouse.sql
--   proftrace send --to clickhouse://localhost/profiles --service api proftrace.data
--   proftrace report --from clickhouse://localhost/profiles --where "service = 'api'"
--
-- A profile is a row of `profiles`, and before that one of each of the tables profile_*, each of
-- which is written as a whole or not at all. What is asked for most is added up as it comes in: the
-- engine merges rows of the same minute, whichever hosts they are from. A profile is known by
-- service, time, host and id: proftrace asks what is there before it sends it again.
--
-- Times are in ns, without what probes cost; those of paths are a path's own, without its callees'.
-- To keep a week: ALTER TABLE profiles DROP PARTITION '2026-11-01' of all tables with a time, daily;
-- or, from version 19.6 on, ALTER TABLE profiles MODIFY TTL time + INTERVAL 7 DAY.

-- What functions are called, on all hosts; kind: 0 function, 1 region, 2 known from stacks alone.
CREATE TABLE IF NOT EXISTS functions (
	function UInt64,
	name String, symbol String, module String, file String, line UInt32, kind UInt8
) ENGINE = ReplacingMergeTree ORDER BY function;

-- Call paths by their last step; parent 0: an outermost call. The thread is a kind of them, by name.
CREATE TABLE IF NOT EXISTS paths (
	path UInt64, parent UInt64, function UInt64, thread String, spans UInt8
) ENGINE = ReplacingMergeTree ORDER BY path;

CREATE TABLE IF NOT EXISTS profiles (
	id UInt64, service String, version String, host String, kernel String, time DateTime,
	period_ns UInt64, duration_ns UInt64,
	entered UInt64, returned UInt64, unwound UInt64, open Int64, lost UInt64, deep UInt64,
	dropped UInt64, undistributed UInt64, untriggered UInt64,
	cpu_ns UInt64, probe_ns UInt64, sample_ns UInt64,
	samples_taken UInt64, samples_probing UInt64, samples_lost UInt64, samples_whole UInt64,
	samples_no_rule UInt64, samples_unreadable UInt64, samples_astray UInt64,
	samples_deep UInt64, samples_unknown UInt64,
	waits UInt64, waits_lost UInt64, bursts UInt64, burst_ns UInt64
) ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, time, host, id);

-- Arrays have an element for each path, function, or bucket of the distribution of a function's
-- calls (number b, from 8 on: from (8 + b % 8) << (b / 8 - 1) ns on). They are in tables of their
-- own, as an array that is not joined would be copied for each element of one that is.
CREATE TABLE IF NOT EXISTS profile_paths (
	id UInt64, service String, version String, host String, kernel String, time DateTime,
	period_ns UInt64, p_path Array(UInt64), p_probe_ns Array(UInt64), p_error_ns Array(UInt64),
	p_calls Array(UInt64), p_self_ns Array(UInt64), p_off_ns Array(UInt64),
	p_samples Array(UInt64), p_sampled_ns Array(UInt64), p_varied_ns Array(UInt64),
	p_burst_calls Array(UInt64), p_calls_variance Array(UInt64)
) ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, time, host, id);

-- What proftrace sends of paths is a tree, which takes less than half of what their numbers would.
-- It is not kept: the view makes the numbers of it. Nodes are the kinds of threads and, below them,
-- paths, depth first; of each there is the place of its name in t_names, from 0 on, and of how many
-- nodes its subtree consists. Other arrays have an element for each path, and none for threads.
-- t_only: 1 if only `profile_paths` lacks the profile, 2 if only `path_minutes` does, 0: both do.
-- t_mark: a hash of id, service and host, by which the profile is known in `path_minutes`.
DROP TABLE IF EXISTS profile_paths_in;
DROP TABLE IF EXISTS path_minutes_in;
DROP TABLE IF EXISTS profile_trees;
CREATE TABLE profile_trees (
	id UInt64, t_only UInt8, t_mark UInt64, service String, version String, host String,
	kernel String, time DateTime,
	period_ns UInt64, t_names Array(UInt64), t_name Array(UInt32), t_size Array(UInt32),
	p_probe_ns Array(UInt64), p_error_ns Array(UInt64),
	p_calls Array(UInt64), p_self_ns Array(UInt64), p_off_ns Array(UInt64),
	p_samples Array(UInt64), p_sampled_ns Array(UInt64), p_varied_ns Array(UInt64),
	p_burst_calls Array(UInt64), p_calls_variance Array(UInt64)
) ENGINE = Null;

-- First the name of each node. Lambdas must not use arrays, which would be copied for each element:
-- so names are sorted together with the nodes that have them, and a running sum of the differences
-- between names is the name at each node. Then the sums of steps. In `walk` each node is entered
-- and left: the running sum of 1 and -1 is the depth, that of hashes, added and taken away (~x + 1 is
-- -x), the sum of a path's steps. It is a number by path_ids.c's formula; 11400714819323198485 is
-- its DEPTH_FACTOR.
CREATE MATERIALIZED VIEW profile_paths_in TO profile_paths AS
WITH
	arrayConcat(arrayMap(i -> 2 * i, arrayEnumerate(t_names)), arrayMap(i -> 2 * i + 3, t_name))
		AS by_name,
	arraySort((node, key) -> key, arrayConcat(arrayResize(emptyArrayUInt32(), length(t_names)),
		arrayEnumerate(t_name)), by_name) AS nodes_by_name,
	arrayCumSum(arraySort((x, key) -> key, arrayConcat(
		arrayMap((id, last) -> id + bitNot(last) + 1, t_names,
			arrayPopBack(arrayPushFront(t_names, toUInt64(0)))),
		arrayResize(emptyArrayUInt64(), length(t_name))), by_name)) AS names_by_name,
	arraySort((id, node) -> node, arrayFilter((id, node) -> node > 0, names_by_name, nodes_by_name),
		arrayFilter(node -> node > 0, nodes_by_name)) AS names,
	arrayConcat(arrayMap(i -> 2 * i + 1, arrayEnumerate(t_size)),
		arrayMap((i, size) -> 2 * (i + size), arrayEnumerate(t_size), t_size)) AS walk,
	arraySort((x, key) -> key, arrayConcat(arrayMap(size -> 1, t_size),
		arrayMap(size -> -1, t_size)), walk) AS enters,
	arrayFilter((depth, enter) -> enter > 0, arrayCumSum(enters), enters) AS depths,
	arrayMap((id, depth) -> intHash64(id + toUInt64(depth) * 11400714819323198485), names, depths)
		AS steps,
	arrayFilter((sum, enter) -> enter > 0, arrayCumSum(arraySort((x, key) -> key, arrayConcat(steps,
		arrayMap(x -> bitNot(x) + 1, steps)), walk)), enters) AS sums
SELECT id, service, version, host, kernel, time, period_ns,
	arrayMap(sum -> bitShiftRight(intHash64(sum), 16),
		arrayFilter((sum, depth) -> depth > 1, sums, depths)) AS p_path,
	p_probe_ns, p_error_ns, p_calls, p_self_ns, p_off_ns, p_samples, p_sampled_ns, p_varied_ns,
	p_burst_calls, p_calls_variance
FROM profile_trees WHERE t_only != 2;

CREATE TABLE IF NOT EXISTS profile_functions (
	id UInt64, service String, version String, host String, kernel String, time DateTime,
	f_function Array(UInt64), f_calls Array(UInt64), f_total_ns Array(UInt64),
	f_self_ns Array(UInt64), f_off_ns Array(UInt64), f_min_ns Array(UInt64),
	f_max_ns Array(UInt64), f_dropped Array(UInt64)
) ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, time, host, id);

CREATE TABLE IF NOT EXISTS profile_latencies (
	id UInt64, service String, version String, host String, kernel String, time DateTime,
	l_function Array(UInt64), l_bucket Array(UInt64), l_calls Array(UInt64)
) ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, time, host, id);

-- Names of paths are sent as such a tree, too: of those that are fresh, with their callers.
CREATE TABLE IF NOT EXISTS path_trees (
	t_names Array(UInt64), t_name Array(UInt32), t_size Array(UInt32), t_fresh Array(UInt8),
	t_thread Array(String), t_spans Array(UInt8)
) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS paths_in TO paths AS
WITH
	arrayConcat(arrayMap(i -> 2 * i, arrayEnumerate(t_names)), arrayMap(i -> 2 * i + 3, t_name))
		AS by_name,
	arraySort((node, key) -> key, arrayConcat(arrayResize(emptyArrayUInt32(), length(t_names)),
		arrayEnumerate(t_name)), by_name) AS nodes_by_name,
	arrayCumSum(arraySort((x, key) -> key, arrayConcat(
		arrayMap((id, last) -> id + bitNot(last) + 1, t_names,
			arrayPopBack(arrayPushFront(t_names, toUInt64(0)))),
		arrayResize(emptyArrayUInt64(), length(t_name))), by_name)) AS names_by_name,
	arraySort((id, node) -> node, arrayFilter((id, node) -> node > 0, names_by_name, nodes_by_name),
		arrayFilter(node -> node > 0, nodes_by_name)) AS names,
	arrayConcat(arrayMap(i -> 2 * i + 1, arrayEnumerate(t_size)),
		arrayMap((i, size) -> 2 * (i + size), arrayEnumerate(t_size), t_size)) AS walk,
	arraySort((x, key) -> key, arrayConcat(arrayMap(size -> 1, t_size),
		arrayMap(size -> -1, t_size)), walk) AS enters,
	arrayFilter((depth, enter) -> enter > 0, arrayCumSum(enters), enters) AS depths,
	arrayMap((id, depth) -> intHash64(id + toUInt64(depth) * 11400714819323198485), names, depths)
		AS steps,
	arrayFilter((sum, enter) -> enter > 0, arrayCumSum(arraySort((x, key) -> key, arrayConcat(steps,
		arrayMap(x -> bitNot(x) + 1, steps)), walk)), enters) AS sums
SELECT bitShiftRight(intHash64(total), 16) AS path,
	if(level = 2, toUInt64(0), bitShiftRight(intHash64(total + bitNot(last_step) + 1), 16)) AS parent,
	function, thread, spans
FROM path_trees ARRAY JOIN arrayMap(x -> x, sums) AS total, arrayMap(x -> x, steps) AS last_step,
	arrayMap(x -> x, depths) AS level, arrayMap(x -> x, names) AS function, t_thread AS thread,
	t_spans AS spans, t_fresh AS fresh
WHERE fresh = 1;

-- Of all hosts together. cpu_variance (ns^2) and calls_variance are of what is estimated: errors are
-- their roots. `profiles` is how many had the path. With its sums each profile adds a row of the
-- service '(sent)', whose path is t_mark and whose calls and times are 0. An engine that dies may
-- have written the sums and not `profile_paths`, or the other way round: proftrace looks for that
-- row before it sends a profile again, so that sums have it once.
CREATE TABLE IF NOT EXISTS path_minutes (
	service String, version String, time DateTime, path UInt64,
	profiles UInt64, calls UInt64, self_ns UInt64, off_ns UInt64, probe_ns UInt64,
	error_ns UInt64, samples UInt64, sampled_ns UInt64, cpu_variance Float64,
	burst_calls UInt64, calls_variance UInt64
) ENGINE = SummingMergeTree PARTITION BY toDate(time) ORDER BY (service, version, time, path);

CREATE MATERIALIZED VIEW path_minutes_in TO path_minutes AS
WITH
	arrayConcat(arrayMap(i -> 2 * i, arrayEnumerate(t_names)), arrayMap(i -> 2 * i + 3, t_name))
		AS by_name,
	arraySort((node, key) -> key, arrayConcat(arrayResize(emptyArrayUInt32(), length(t_names)),
		arrayEnumerate(t_name)), by_name) AS nodes_by_name,
	arrayCumSum(arraySort((x, key) -> key, arrayConcat(
		arrayMap((id, last) -> id + bitNot(last) + 1, t_names,
			arrayPopBack(arrayPushFront(t_names, toUInt64(0)))),
		arrayResize(emptyArrayUInt64(), length(t_name))), by_name)) AS names_by_name,
	arraySort((id, node) -> node, arrayFilter((id, node) -> node > 0, names_by_name, nodes_by_name),
		arrayFilter(node -> node > 0, nodes_by_name)) AS names,
	arrayConcat(arrayMap(i -> 2 * i + 1, arrayEnumerate(t_size)),
		arrayMap((i, size) -> 2 * (i + size), arrayEnumerate(t_size), t_size)) AS walk,
	arraySort((x, key) -> key, arrayConcat(arrayMap(size -> 1, t_size),
		arrayMap(size -> -1, t_size)), walk) AS enters,
	arrayFilter((depth, enter) -> enter > 0, arrayCumSum(enters), enters) AS depths,
	arrayMap((id, depth) -> intHash64(id + toUInt64(depth) * 11400714819323198485), names, depths)
		AS steps,
	arrayFilter((sum, enter) -> enter > 0, arrayCumSum(arraySort((x, key) -> key, arrayConcat(steps,
		arrayMap(x -> bitNot(x) + 1, steps)), walk)), enters) AS sums
SELECT if(number = 0, '(sent)', profile_trees.service) AS service,
	if(number = 0, '', profile_trees.version) AS version,
	toStartOfMinute(profile_trees.time) AS time, if(number = 0, t_mark, number) AS path,
	toUInt64(1) AS profiles, calls, self_ns, off_ns, spent_ns AS probe_ns, error_ns,
	samples, sampled_ns, toFloat64(varied_ns) * period_ns AS cpu_variance,
	burst_calls, calls_variance
FROM profile_trees ARRAY JOIN arrayPushBack(arrayMap(sum -> bitShiftRight(intHash64(sum), 16),
		arrayFilter((sum, depth) -> depth > 1, sums, depths)), toUInt64(0)) AS number,
	arrayPushBack(p_calls, toUInt64(0)) AS calls, arrayPushBack(p_self_ns, toUInt64(0)) AS self_ns,
	arrayPushBack(p_off_ns, toUInt64(0)) AS off_ns,
	arrayPushBack(p_probe_ns, toUInt64(0)) AS spent_ns,
	arrayPushBack(p_error_ns, toUInt64(0)) AS error_ns,
	arrayPushBack(p_samples, toUInt64(0)) AS samples,
	arrayPushBack(p_sampled_ns, toUInt64(0)) AS sampled_ns,
	arrayPushBack(p_varied_ns, toUInt64(0)) AS varied_ns,
	arrayPushBack(p_burst_calls, toUInt64(0)) AS burst_calls,
	arrayPushBack(p_calls_variance, toUInt64(0)) AS calls_variance
WHERE t_only != 1 AND (number != 0 OR t_mark != 0);

-- total_ns is with callees, of recursive calls the outermost; read minMerge(min_ns). `dropped`: so
-- many profiles have given the function up for the budget.
CREATE TABLE IF NOT EXISTS function_minutes (
	service String, version String, time DateTime, function UInt64,
	profiles UInt64, calls UInt64, total_ns UInt64, self_ns UInt64, off_ns UInt64,
	dropped UInt64,
	min_ns AggregateFunction(min, UInt64), max_ns AggregateFunction(max, UInt64)
) ENGINE = SummingMergeTree PARTITION BY toDate(time) ORDER BY (service, version, time, function);

CREATE MATERIALIZED VIEW IF NOT EXISTS function_minutes_in TO function_minutes AS
SELECT service, version, toStartOfMinute(profile_functions.time) AS time, function,
	toUInt64(1) AS profiles, calls, total_ns, self_ns, off_ns, given_up AS dropped,
	arrayReduce('minState', [least_ns]) AS min_ns, arrayReduce('maxState', [most_ns]) AS max_ns
FROM profile_functions ARRAY JOIN f_function AS function, f_calls AS calls, f_total_ns AS total_ns,
	f_self_ns AS self_ns, f_off_ns AS off_ns, f_min_ns AS least_ns, f_max_ns AS most_ns,
	f_dropped AS given_up;

CREATE TABLE IF NOT EXISTS latency_minutes (
	service String, version String, time DateTime, function UInt64, bucket UInt64, calls UInt64
) ENGINE = SummingMergeTree PARTITION BY toDate(time)
ORDER BY (service, version, time, function, bucket);

CREATE MATERIALIZED VIEW IF NOT EXISTS latency_minutes_in TO latency_minutes AS
SELECT service, version, toStartOfMinute(profile_latencies.time) AS time, function, bucket, calls
FROM profile_latencies ARRAY JOIN l_function AS function, l_bucket AS bucket, l_calls AS calls;
