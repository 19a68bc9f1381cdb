CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO t SELECT i, zeroblob(i * 20) FROM n;
UPDATE t SET data = CAST('some text ' || id || hex(substr(data, 1, 400)) AS BLOB);
SELECT id, hex(data) FROM t WHERE id % 7 = 0;
SELECT sum(length(data)), count(DISTINCT substr(data, 1, 12)) FROM t;
SELECT count(*) FROM t AS a JOIN t AS b ON a.data < b.data WHERE a.id <= 60;
