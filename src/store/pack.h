/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile file as columns, and back: every table of the file, whatever it holds, so that tables
 * which this strobe does not know are kept, too. Long columns are stored apart under their hash, so
 * that profiles share them; the manifest has the rest and names them. The hash of the manifest is
 * the name of the profile.
 */
#ifndef STROBE_STORE_PACK_H
#define STROBE_STORE_PACK_H

#include "base/error.h"
#include "base/vec.h"
#include "store/bytes.h"
#include "store/sha256.h"

/* A column of fewer bytes is not worth a row of the store. */
enum { ST_PACK_APART = 1024 };

struct st_pack_column {
	char *name;
	bool apart;            /* else its bytes are in the manifest */
	struct st_hash hash;   /* if apart */
	struct st_bytes bytes; /* of a column apart: once they are read */
};

struct st_pack_table {
	char *name;
	uint64_t rows;
	ST_VEC(struct st_pack_column) columns;
};

struct st_pack {
	uint64_t version; /* of the profile's format */
	ST_VEC(char *) schema;
	ST_VEC(struct st_pack_table) tables;
};

/* Reads a profile file. 0, or -1 with *e. The caller frees in both cases, here and below. */
st_status st_pack_read(struct st_pack *p, const char *path, struct st_error *e);
/* Writes one; all columns have their bytes. 0, or -1 with *e. */
st_status st_pack_write(const struct st_pack *p, const char *path, struct st_error *e);

/* The manifest as bytes, and from bytes: false: they are damaged, or memory is exhausted. */
void st_pack_manifest(const struct st_pack *p, struct st_bytes *out);
bool st_pack_of_manifest(struct st_pack *p, const void *bytes, size_t n);

/* NULL: there is no such table, or column. */
struct st_pack_table *st_pack_table_named(struct st_pack *p, const char *name);
struct st_pack_column *st_pack_column_named(struct st_pack *p, const char *table,
                                            const char *column);
void st_pack_free(struct st_pack *p);

#endif
