/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a stored profile. */
#ifndef STROBE_STORE_EXTRACT_H
#define STROBE_STORE_EXTRACT_H

#include "store/pack.h"
#include "store/store.h"

/* Its manifest. The caller frees in both cases. */
st_status st_store_manifest(struct st_store *s, const struct st_stored *p, struct st_pack *out,
                            struct st_error *e);
/* Reads the bytes of a column that is stored apart. */
st_status st_store_fetch(struct st_store *s, struct st_pack_column *c, struct st_error *e);

#endif
