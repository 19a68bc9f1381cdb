# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases: one in a file, one with processes, one with an event loop."""
from harness.case import case

case("sqlite3", r'''under sqlite3 -batch -init "$IN/script.sql" new.db .exit; under sqlite3 new.db .dump | cksum
under sqlite3 new.db 'PRAGMA integrity_check'; rm new.db''', packages="sqlite3", prepare="inputs sql 60000 > script.sql", short=True)

POSTGRES = r'''
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
data=$STATE/data sockets=$STATE port=$(free_port)
%s "$bin/initdb" -D "$data" -U postgres -A trust --locale=C -E UTF8 --no-sync --no-instructions >"$STATE/initdb.log" 2>&1 || fail "initdb: $(tail -n 3 "$STATE/initdb.log")"
under-all "$bin/postgres" -D "$data" -p "$port" -k "$sockets" -c listen_addresses=127.0.0.1 -c fsync=off -c autovacuum=off \
	-c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 >"$STATE/server.log" 2>&1 &
server=$!
await_port "$port"
export PGHOST=$sockets PGPORT=$port PGUSER=postgres PGDATABASE=postgres
for i in $(seq 100); do "$bin/pg_isready" -q && break; sleep 0.1; done
under-all psql -qAt <<'SQL'
CREATE TABLE t AS SELECT i, i * 48271 %% 1009 AS k, md5(i::text) AS m FROM generate_series(1, 40000) i;
CREATE INDEX ON t (k); ANALYZE t;
SELECT count(*), sum(k), min(m), max(m) FROM t;
SELECT k, count(*), string_agg(substr(m, 1, 2), '' ORDER BY i) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 3;
SELECT count(*) FROM t a JOIN t b ON a.k = b.k WHERE a.i < 2000;
DO $$ DECLARE s bigint := 0; BEGIN FOR n IN 1..30000 LOOP s := (s * 31 + n) %% 1000003; END LOOP; RAISE NOTICE 's %%', s; BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'caught'; END; END $$;
SELECT sum(x) FROM (SELECT row_number() OVER (PARTITION BY k ORDER BY m) x FROM t) q;
SQL
pgbench -q -i -s 1 >/dev/null 2>&1 || fail "pgbench -i"
under-all pgbench -c 4 -j 2 -t 150 --random-seed=7 | grep -E 'actually processed|failed'
psql -qAt -c 'SELECT count(*), sum(delta) FROM pgbench_history' -c 'SELECT sum(abalance) FROM pgbench_accounts' \
	-c 'SELECT (SELECT sum(tbalance) FROM pgbench_tellers) - (SELECT sum(bbalance) FROM pgbench_branches)'
"$bin/pg_ctl" -D "$data" -m fast -t 120 stop >/dev/null || fail "pg_ctl stop"
wait $server; echo "server $?"; grep -c -E 'PANIC|crash|terminated by signal' "$STATE/server.log"
'''
case("postgresql", POSTGRES % "", packages="postgresql", children=4, user="postgres", timeout=60)
case("postgresql-initdb", POSTGRES.split("under-all")[0] % "under-all" + r'''
"$bin/pg_controldata" "$data" | grep -E 'state|block size|Bytes'; wc -l < "$STATE/initdb.log"''',
     packages="postgresql", children=4, user="postgres", timeout=60)

case("redis", r'''
port=$(free_port)
under-all redis-server --port "$port" --bind 127.0.0.1 --dir "$STATE" --enable-debug-command local --save '' --daemonize no --io-threads 2 >"$STATE/log" 2>&1 &
server=$!
await_port "$port"
ask() { redis-cli -p "$port" "$@"; }
redis-benchmark -p "$port" -c 20 -n 4000 -q -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset >bench.txt 2>&1; tr '\r' '\n' < bench.txt | grep -c 'requests per second'; rm bench.txt
ask flushall; seq 1 3000 | sed 's/.*/SET key:& value-&/' | under redis-cli -p "$port" | sort | uniq -c
seq 1 500 | sed 's/.*/ZADD board & member-&/' | ask >/dev/null; ask zrange board 100 104 withscores
ask eval 'local s = 0 for i = 1, 100000 do s = (s * 31 + i) % 1000003 end return {s, redis.call("get", KEYS[1])}' 1 key:77
ask debug digest; ask bgsave; for i in $(seq 200); do ask info persistence | grep -q 'bgsave_in_progress:0' && break; sleep 0.1; done
ask info persistence | grep -o 'rdb_last_bgsave_status:[a-z]*'; ask debug reload; ask debug digest; ask dbsize
ask shutdown nosave; wait $server; echo "server $?"''', packages="redis-server redis-tools", children=1, timeout=60)
