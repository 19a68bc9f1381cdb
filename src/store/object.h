/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of a store: pieces of bytes under their hash, each once, compressed. A piece that
 * resembles another one is compressed as its difference from that one, its base; a base has none
 * itself, so that reading a piece reads two rows at most.
 */
#ifndef STROBE_STORE_OBJECT_H
#define STROBE_STORE_OBJECT_H

#include "store/bytes.h"
#include "store/store.h"

/* Inside a transaction. base: row of an object that may resemble it, 0: none. *row receives its
 * row; *grown is raised by what the store has grown. 0, or -1 with *e. */
st_status st_object_put(struct st_store *s, const struct st_hash *hash, const struct st_bytes *b,
                        int64_t base, int64_t *row, uint64_t *grown, struct st_error *e);
/* The row of an object; 0: there is none. -1 with *e. */
st_status st_object_row(struct st_store *s, const struct st_hash *hash, int64_t *row,
                        struct st_error *e);
/* Reads one, whose bytes are checked against its hash. The caller frees `out` in both cases. */
st_status st_object_get(struct st_store *s, const struct st_hash *hash, struct st_bytes *out,
                        struct st_error *e);
st_status st_object_get_row(struct st_store *s, int64_t row, struct st_bytes *out,
                            struct st_error *e);

#endif
