CREATE VIRTUAL TABLE f USING fts5(title, body);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO f SELECT 'title ' || (i % 53), 'word' || (i % 17) || ' term' || (i * 31 % 211) || ' common text with several words number' || i FROM n;
SELECT count(*) FROM f WHERE f MATCH 'common AND word3';
SELECT rowid, snippet(f, 1, '[', ']', '..', 5) FROM f WHERE f MATCH 'term1*' ORDER BY rank LIMIT 20;
SELECT count(*) FROM f WHERE f MATCH '"several words" NOT word5';
DELETE FROM f WHERE rowid % 3 = 0;
INSERT INTO f(f) VALUES('optimize');
SELECT count(*) FROM f WHERE f MATCH 'body: term7 OR title: 12';
