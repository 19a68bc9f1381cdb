CREATE TABLE t(r REAL, s TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO t SELECT i * 1.37 / 7, printf('%.6f', i / 13.0) FROM n;
SELECT r FROM t;
SELECT sum(CAST(s AS REAL)), sum(round(r, 2)), max(CAST(s AS INTEGER)) FROM t;
SELECT printf('%d %s %08.3f %x %q', rowid, s, r, rowid, s) FROM t;
SELECT CAST(r AS TEXT) FROM t WHERE rowid <= 3000;
