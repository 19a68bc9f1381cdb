/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a profile file, version 3; docs/profile.md explains them. Rows are written in the
 * order of the profile's arrays: id is the index there plus one. Integers are signed 64 bits, as
 * SQLite has them.
 */
#ifndef STROBE_PROFILE_SCHEMA_H
#define STROBE_PROFILE_SCHEMA_H

#define ST_SCHEMA_NUMBER(n) ST_SCHEMA_TEXT(n)
#define ST_SCHEMA_TEXT(n) #n
#define ST_SCHEMA_ENOUGH ST_SCHEMA_NUMBER(ST_ENOUGH_SAMPLES)

#define ST_SCHEMA                                                                                  \
	"CREATE TABLE run("                                                                        \
	" tool TEXT NOT NULL, options TEXT NOT NULL, strobe TEXT NOT NULL,"                        \
	" cwd TEXT NOT NULL,"                                                                      \
	" host TEXT NOT NULL, machine TEXT NOT NULL, kernel TEXT NOT NULL, cpu TEXT NOT NULL,"     \
	" cores INTEGER NOT NULL, start_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,"            \
	" cpu_user_ns INTEGER NOT NULL, cpu_system_ns INTEGER NOT NULL, tsc_hz REAL NOT NULL,"     \
	" slowdown REAL NOT NULL, exit INTEGER NOT NULL, signal INTEGER NOT NULL,"                 \
	" sample_hz INTEGER NOT NULL, follow INTEGER NOT NULL, has_functions INTEGER NOT NULL,"    \
	" samples_code INTEGER NOT NULL, samples_kernel INTEGER NOT NULL,"                         \
	" samples_engine INTEGER NOT NULL, samples_dropped INTEGER NOT NULL,"                      \
	" stacks INTEGER NOT NULL, stacks_cut INTEGER NOT NULL, native_ns INTEGER NOT NULL);"      \
	"CREATE TABLE argument(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                      \
	"CREATE TABLE environment(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                   \
	"CREATE TABLE process("                                                                    \
	" id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, ppid INTEGER NOT NULL,"                    \
	" command TEXT NOT NULL, state INTEGER NOT NULL, exited INTEGER NOT NULL,"                 \
	" exit INTEGER NOT NULL, signal INTEGER NOT NULL, core_dumped INTEGER NOT NULL,"           \
	" wall_ns INTEGER, executions INTEGER NOT NULL, instructions INTEGER NOT NULL);"           \
	"CREATE TABLE image("                                                                      \
	" id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT NOT NULL,"                     \
	" symbols TEXT NOT NULL, executions INTEGER NOT NULL, instructions INTEGER NOT NULL,"      \
	" samples INTEGER NOT NULL);"                                                              \
	"CREATE TABLE function("                                                                   \
	" id INTEGER PRIMARY KEY, image INTEGER NOT NULL REFERENCES image,"                        \
	" offset INTEGER NOT NULL, size INTEGER NOT NULL, name TEXT NOT NULL, file TEXT,"          \
	" line INTEGER, calls INTEGER NOT NULL, calls_exact INTEGER NOT NULL,"                     \
	" executions INTEGER NOT NULL, instructions INTEGER NOT NULL, samples INTEGER NOT NULL,"   \
	" samples_kernel INTEGER NOT NULL, samples_engine INTEGER NOT NULL,"                       \
	" samples_total INTEGER NOT NULL);"                                                        \
	"CREATE TABLE function_alias("                                                             \
	" function INTEGER NOT NULL REFERENCES function, name TEXT NOT NULL);"                     \
	"CREATE TABLE block("                                                                      \
	" id INTEGER PRIMARY KEY, image INTEGER NOT NULL REFERENCES image,"                        \
	" function INTEGER NOT NULL REFERENCES function, offset INTEGER NOT NULL,"                 \
	" bytes INTEGER NOT NULL, insns INTEGER NOT NULL, ends INTEGER NOT NULL,"                  \
	" target INTEGER, executions INTEGER NOT NULL, instructions INTEGER NOT NULL,"             \
	" samples INTEGER NOT NULL);"                                                              \
	"CREATE TABLE line("                                                                       \
	" id INTEGER PRIMARY KEY, function INTEGER NOT NULL REFERENCES function,"                  \
	" file TEXT NOT NULL, line INTEGER NOT NULL, executions INTEGER NOT NULL,"                 \
	" instructions INTEGER NOT NULL, samples INTEGER NOT NULL);"                               \
	"CREATE TABLE thread("                                                                     \
	" id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES process,"                    \
	" tid INTEGER NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL,"                       \
	" begin_ns INTEGER, end_ns INTEGER, samples INTEGER NOT NULL);"                            \
	"CREATE TABLE counter("                                                                    \
	" process INTEGER NOT NULL REFERENCES process, name TEXT NOT NULL, help TEXT NOT NULL,"    \
	" total INTEGER NOT NULL);"                                                                \
	"CREATE TABLE statistic("                                                                  \
	" process INTEGER NOT NULL REFERENCES process, name TEXT NOT NULL, help TEXT NOT NULL,"    \
	" total INTEGER NOT NULL);"                                                                \
	"CREATE TABLE fallback("                                                                   \
	" process INTEGER NOT NULL REFERENCES process, image INTEGER REFERENCES image,"            \
	" offset INTEGER NOT NULL, cause INTEGER NOT NULL, count INTEGER NOT NULL);"               \
	"CREATE TABLE tool_table("                                                                 \
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, tool TEXT NOT NULL, help TEXT NOT NULL,"     \
	" data TEXT NOT NULL);"                                                                    \
	"CREATE TABLE tool_column("                                                                \
	" id INTEGER PRIMARY KEY, tool_table INTEGER NOT NULL REFERENCES tool_table,"              \
	" name TEXT NOT NULL, type TEXT NOT NULL, role TEXT NOT NULL, field TEXT NOT NULL);"       \
	"CREATE TABLE stream("                                                                     \
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, tool TEXT NOT NULL, help TEXT NOT NULL,"     \
	" file TEXT, rows INTEGER NOT NULL, bytes INTEGER NOT NULL, dropped INTEGER NOT NULL);"    \
	"CREATE TABLE note(text TEXT NOT NULL);"                                                   \
	"CREATE VIEW hot AS SELECT f.name, i.path AS image, f.offset, f.file, f.line, f.calls,"    \
	" f.instructions AS instructions, f.samples,"                                              \
	" CASE WHEN r.samples_code >= " ST_SCHEMA_ENOUGH " THEN 1.0 * f.samples / r.samples_code"  \
	" ELSE 1.0 * f.instructions / max(1, (SELECT sum(instructions) FROM image)) END AS "       \
	"self_share,"                                                                              \
	" CASE WHEN r.samples_code >= " ST_SCHEMA_ENOUGH " AND r.stacks > 0 THEN"                  \
	" max(1.0 * f.samples_total / r.stacks, 1.0 * f.samples / r.samples_code) END AS "         \
	"total_share"                                                                              \
	" FROM function f JOIN image i ON i.id = f.image, run r WHERE r.has_functions"             \
	" UNION ALL SELECT 'no functions were counted: the profile was made with ''' || tool ||"   \
	" '''; use strobe run -t hot', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"       \
	" FROM run WHERE NOT has_functions"                                                        \
	" ORDER BY self_share DESC, instructions DESC;"

#endif
