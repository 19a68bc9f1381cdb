/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a store, version 1; docs/versions.md explains them to those who query them. */
#ifndef STROBE_STORE_SCHEMA_H
#define STROBE_STORE_SCHEMA_H

#define ST_STORE_TABLES(ROW, NUMBER, NAME, BYTES, PLAIN)                                           \
	"CREATE TABLE object("                                                                     \
	" id " ROW ", hash " BYTES " NOT NULL UNIQUE,"                                             \
	" base " NUMBER " REFERENCES object, size " NUMBER " NOT NULL, data " BYTES " NOT NULL);"  \
	"CREATE INDEX object_base ON object(base) WHERE base IS NOT NULL;"                         \
	"CREATE TABLE version("                                                                    \
	" id " ROW ", name " NAME " NOT NULL UNIQUE, tree " NAME ", patch " NAME ","               \
	" subject " NAME " NOT NULL, time " NUMBER " NOT NULL);"                                   \
	"CREATE INDEX version_tree ON version(tree);"                                              \
	"CREATE INDEX version_patch ON version(patch);"                                            \
	"CREATE TABLE configuration("                                                              \
	" id " ROW ", hash " BYTES " NOT NULL UNIQUE, collector " NAME " NOT NULL,"                \
	" command " NAME " NOT NULL, workload " NAME " NOT NULL, parameters " NAME " NOT NULL);"   \
	"CREATE TABLE machine("                                                                    \
	" id " ROW ", hash " BYTES " NOT NULL UNIQUE, fields " NAME " NOT NULL);"                  \
	"CREATE TABLE profile("                                                                    \
	" id " ROW ", hash " BYTES " NOT NULL UNIQUE,"                                             \
	" manifest " NUMBER " NOT NULL REFERENCES object,"                                         \
	" version " NUMBER " NOT NULL REFERENCES version,"                                         \
	" configuration " NUMBER " NOT NULL REFERENCES configuration,"                             \
	" machine " NUMBER " NOT NULL REFERENCES machine,"                                         \
	" dirty " NUMBER " NOT NULL, added_ns " NUMBER " NOT NULL,"                                \
	" start_ns " NUMBER " NOT NULL, wall_ns " NUMBER " NOT NULL,"                              \
	" file " NAME " NOT NULL, device " NUMBER " NOT NULL, inode " NUMBER " NOT NULL,"          \
	" file_size " NUMBER " NOT NULL, file_ns " NUMBER " NOT NULL);"                            \
	"CREATE INDEX profile_version ON profile(version);"                                        \
	"CREATE INDEX profile_configuration ON profile(configuration, version);"                   \
	"CREATE INDEX profile_file ON profile(inode, device);"                                     \
	"CREATE INDEX profile_start ON profile(start_ns);"                                         \
	"CREATE TABLE part("                                                                       \
	" profile " NUMBER " NOT NULL REFERENCES profile,"                                         \
	" object " NUMBER " NOT NULL REFERENCES object,"                                           \
	" PRIMARY KEY(profile, object))" PLAIN ";"                                                 \
	"CREATE TABLE patch(name " NAME " PRIMARY KEY, patch " NAME ")" PLAIN ";"

#define ST_STORE_SCHEMA_OF_SQLITE                                                                  \
	ST_STORE_TABLES("INTEGER PRIMARY KEY", "INTEGER", "TEXT", "BLOB", " WITHOUT ROWID")
/* Names are compared byte for byte, as in SQLite. PostgreSQL checks references, which needs more
 * indices. */
#define ST_STORE_SCHEMA_OF_POSTGRESQL                                                              \
	ST_STORE_TABLES("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "BIGINT",               \
	                "TEXT COLLATE \"C\"", "BYTEA", "")                                         \
	"CREATE INDEX part_object ON part(object);"                                                \
	"CREATE INDEX profile_manifest ON profile(manifest);"                                      \
	"CREATE INDEX profile_machine ON profile(machine);"

#endif
