-- The same piece of work each time it is read; it leaves nothing behind.
CREATE TABLE t(a INTEGER, b INTEGER, c TEXT);
INSERT INTO t SELECT value, value * 7919 % 1009, 'name ' || (value * 31 % 499)
  FROM generate_series(1, 1000);
SELECT count(*), sum(length(c)) FROM t WHERE c LIKE '%9%' AND b > 100;
SELECT b % 10 AS g, count(*), max(c) FROM t GROUP BY g ORDER BY 2 DESC, 3 LIMIT 3;
SELECT count(*) FROM t AS x JOIN t AS y ON x.a = y.b WHERE y.a % 3 = 0;
UPDATE t SET c = upper(c) WHERE a % 2 = 0;
CREATE INDEX i ON t(b, c);
SELECT count(*), min(c) FROM t WHERE b BETWEEN 100 AND 300;
DROP TABLE t;
.print done
