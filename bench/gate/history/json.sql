CREATE TABLE t(id INTEGER PRIMARY KEY, doc TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO t SELECT i, json_object('id', i, 'name', 'name ' || (i % 97), 'tags', json_array(i % 7, i % 11, 'tag' || (i % 5)),
  'place', json_object('x', i * 37 % 1000, 'y', i * 91 % 1000)) FROM n;
SELECT json_extract(doc, '$.name'), count(*), sum(json_extract(doc, '$.place.x')) FROM t GROUP BY 1 ORDER BY 1;
SELECT e.value, count(*) FROM t, json_each(t.doc, '$.tags') AS e GROUP BY 1 ORDER BY 2, 1;
SELECT length(json_group_array(json(doc))) FROM t;
UPDATE t SET doc = json_set(doc, '$.place.x', 0, '$.new', id);
SELECT sum(length(doc)), sum(json_valid(doc)), sum(json_array_length(doc, '$.tags')) FROM t;
SELECT count(*) FROM t, json_tree(t.doc) WHERE t.id <= 500;
