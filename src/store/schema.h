/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a store, version 1; docs/versions.md explains them to those who query them. */
#ifndef STROBE_STORE_SCHEMA_H
#define STROBE_STORE_SCHEMA_H

#define ST_STORE_SCHEMA                                                                            \
	"CREATE TABLE object("                                                                     \
	" id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"                                      \
	" base INTEGER REFERENCES object, size INTEGER NOT NULL, data BLOB NOT NULL);"             \
	"CREATE INDEX object_base ON object(base) WHERE base IS NOT NULL;"                         \
	"CREATE TABLE version("                                                                    \
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tree TEXT, patch TEXT,"               \
	" subject TEXT NOT NULL, time INTEGER NOT NULL);"                                          \
	"CREATE INDEX version_tree ON version(tree);"                                              \
	"CREATE INDEX version_patch ON version(patch);"                                            \
	"CREATE TABLE configuration("                                                              \
	" id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, collector TEXT NOT NULL,"             \
	" command TEXT NOT NULL, workload TEXT NOT NULL, parameters TEXT NOT NULL);"               \
	"CREATE TABLE machine("                                                                    \
	" id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, fields TEXT NOT NULL);"               \
	"CREATE TABLE profile("                                                                    \
	" id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"                                      \
	" manifest INTEGER NOT NULL REFERENCES object,"                                            \
	" version INTEGER NOT NULL REFERENCES version,"                                            \
	" configuration INTEGER NOT NULL REFERENCES configuration,"                                \
	" machine INTEGER NOT NULL REFERENCES machine,"                                            \
	" dirty INTEGER NOT NULL, added_ns INTEGER NOT NULL,"                                      \
	" start_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,"                                    \
	" file TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,"                    \
	" file_size INTEGER NOT NULL, file_ns INTEGER NOT NULL);"                                  \
	"CREATE INDEX profile_version ON profile(version);"                                        \
	"CREATE INDEX profile_configuration ON profile(configuration, version);"                   \
	"CREATE INDEX profile_file ON profile(inode, device);"                                     \
	"CREATE INDEX profile_start ON profile(start_ns);"                                         \
	"CREATE TABLE part("                                                                       \
	" profile INTEGER NOT NULL REFERENCES profile,"                                            \
	" object INTEGER NOT NULL REFERENCES object,"                                              \
	" PRIMARY KEY(profile, object)) WITHOUT ROWID;"                                            \
	"CREATE TABLE patch(name TEXT PRIMARY KEY, patch TEXT) WITHOUT ROWID;"

#endif
