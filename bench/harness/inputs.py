# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs made from nothing, the same every time: inputs.py KIND SIZE > FILE

  text MB      words with a long tail, numbers, addresses: what compressors and searchers like
  c FUNCTIONS  a C file with loops, switches, floating point and calls between its functions
  sql ROWS     a script for sqlite3
  holes N      the pigeon-hole principle for an SMT solver"""
import random
import sys


def text(size):
    rng = random.Random(20240229)
    syllables = [c + v for c in "bcdfglmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er", "or")]
    words = ["".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))) for _ in range(15000)]
    weights, total = [], 0.0
    for rank in range(len(words)):
        total += 1.0 / (rank + 4)
        weights.append(total)
    written = 0
    while written < size * 1000000:
        out = []
        for number, word in enumerate(rng.choices(words, cum_weights=weights, k=5000)):
            out.append(word)
            if number % 9 == 4:
                out.append(" %d.%02d" % (rng.randint(0, 99999), rng.randint(0, 99)))
            if number % 41 == 7:
                out.append(" <%s@%s.example>" % (word, words[number]))
            out.append("\n" if number % 12 == 11 else " ")
        block = "".join(out)
        sys.stdout.write(block)
        written += len(block)


C_BODIES = (
    lambda r, i: f"for (int k = 0; k < {r.randint(4, 50)}; k++) {{ sum += n->cell[(k + {r.randint(0, 15)}) & 15] * b; mix ^= sum >> {r.randint(1, 9)}; }}",
    lambda r, i: f"if (sum > {r.randint(0, 5000)}) {{ sum -= mix % {r.randint(3, 77)}; }} else {{ mix += sum * {r.randint(3, 77)}u; n = n->next ? n->next : n; }}",
    lambda r, i: "switch (mix % 9) { " + " ".join(f"case {c}: sum = sum * {r.randint(2, 9)} - {r.randint(0, 50)}; break;" for c in range(8)) + " default: sum = ~sum; }",
    lambda r, i: f"n->weight = n->weight * 0.{r.randint(1, 99)} + sum / (double)(mix | 1); sum += (int)n->weight;",
    lambda r, i: f"sum += step{r.randint(max(0, i - 25), i - 1)}(n, sum ^ {r.randint(0, 999)}, (int)mix);" if i else "sum++;",
    lambda r, i: f"do {{ mix = (mix >> 1) ^ (-(mix & 1) & {r.getrandbits(32)}u); sum += outside(sum, mix, n->cell[mix & 15]); }} while (mix & {r.randint(1, 7)});",
    lambda r, i: f"for (char *p = n->name; *p; p++) mix = mix * {r.randint(31, 131)} + (unsigned char)*p;",
)


def c(functions):
    rng = random.Random(4711)
    print("struct node { int cell[16]; char name[24]; double weight; struct node *next; };")
    print("extern int outside(int, ...);")
    for i in range(functions):
        print(f"static int step{i}(struct node *n, int a, int b)\n{{\n\tint sum = a;\n\tunsigned mix = (unsigned)b;")
        for _ in range(11):
            print("\t" + rng.choice(C_BODIES)(rng, i))
        print("\treturn sum ^ (int)mix;\n}")
    print("int (*const steps[])(struct node *, int, int) = {" + ", ".join(f"step{i}" for i in range(functions)) + "};")


def sql(rows):
    print(f"""PRAGMA journal_mode = OFF;
CREATE TABLE event (id INTEGER PRIMARY KEY, kind INT, who INT, note TEXT, size REAL);
INSERT INTO event WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
  SELECT i, i * 48271 % 211, i * 16807 % 4099, printf('%x-%d', i * 2654435761 % 4294967296, i * 31 % 997), i * 0.37 FROM n;
CREATE INDEX event_kind ON event (kind, who);
CREATE INDEX event_note ON event (note);
SELECT count(*), sum(size), min(note), max(note) FROM event;
SELECT kind, count(*), avg(size) FROM event GROUP BY kind ORDER BY 3 DESC LIMIT 12;
SELECT count(*) FROM event WHERE note LIKE '%a7%';
SELECT count(*), total(a.size + b.size) FROM event a JOIN event b ON b.kind = a.kind AND b.id % 89 = 0 WHERE a.id % 97 = 0;
SELECT sum(place) FROM (SELECT rank() OVER (PARTITION BY kind ORDER BY size DESC, id) AS place FROM event WHERE who < 900);
WITH RECURSIVE f(a, b, n) AS (VALUES (0, 1, 1) UNION ALL SELECT b, (a + b) % 1000007, n + 1 FROM f WHERE n < {rows // 4}) SELECT max(a) FROM f;
SELECT json_group_array(note) FROM (SELECT note FROM event WHERE id <= 20);
UPDATE event SET note = upper(note), size = size * 2 WHERE kind % 3 = 1;
DELETE FROM event WHERE who % 7 = 2;
SELECT count(*), sum(length(note)), round(sum(size), 2) FROM event;""")


def holes(pigeons):
    print("(set-logic QF_UF)")
    name = "sits_{}_{}".format
    for p in range(pigeons):
        for h in range(pigeons - 1):
            print(f"(declare-const {name(p, h)} Bool)")
    for p in range(pigeons):
        print("(assert (or " + " ".join(name(p, h) for h in range(pigeons - 1)) + "))")
    for h in range(pigeons - 1):
        for p in range(pigeons):
            for q in range(p + 1, pigeons):
                print(f"(assert (or (not {name(p, h)}) (not {name(q, h)})))")
    print("(check-sat)")


if __name__ == "__main__":
    {"text": text, "c": c, "sql": sql, "holes": holes}[sys.argv[1]](int(sys.argv[2]))
