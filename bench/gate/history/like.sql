CREATE TABLE t(s TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO t SELECT 'the quick brown fox ' || (i * 7919 % 10007) || ' jumps over the lazy dog ' || (i % 101) FROM n;
SELECT count(*) FROM t WHERE s LIKE '%fox 9%dog 1%';
SELECT count(*) FROM t WHERE s GLOB '*quick*[0-4][0-4] jumps*';
SELECT count(*) FROM t WHERE s LIKE 'THE QUICK%LAZY%7';
SELECT sum(instr(s, 'lazy')), sum(length(replace(s, 'o', '00'))), count(DISTINCT substr(s, 21, 3)) FROM t;
SELECT count(*) FROM t WHERE upper(trim(s)) = lower(s);
