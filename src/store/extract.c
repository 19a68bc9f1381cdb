/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles out of the store, and away from it. */
#include <stdlib.h>

#include "store/extract.h"
#include "store/object.h"

st_status
st_store_manifest(struct st_store *s, const struct st_stored *p, struct st_pack *out,
                  struct st_error *e)
{
	struct st_bytes bytes;
	char hex[ST_HASH_HEX + 1];
	*out = (struct st_pack){0};
	int status = st_object_get(s, &p->hash, &bytes, e);
	if (!status && !st_pack_of_manifest(out, bytes.v, bytes.n))
		status = st_fail(e, ST_EXIT_FAILED,
		                 "profile %.10s cannot be read: its manifest is damaged, or of a "
		                 "newer strobe; strobe fsck says what else is",
		                 st_hash_hex(&p->hash, hex));
	st_bytes_free(&bytes);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_store_fetch(struct st_store *s, struct st_pack_column *c, struct st_error *e)
{
	return c->apart && !c->bytes.v ? st_object_get(s, &c->hash, &c->bytes, e) : ST_OK;
}

st_status
st_store_extract(struct st_store *s, const struct st_stored *p, const char *path,
                 struct st_error *e)
{
	struct st_pack pack;
	int status = st_store_manifest(s, p, &pack, e);
	for (size_t i = 0; i < pack.tables.n && !status; i++) {
		struct st_pack_table *t = &pack.tables.v[i];
		for (size_t j = 0; j < t->columns.n && !status; j++)
			status = st_store_fetch(s, &t->columns.v[j], e);
	}
	if (!status)
		status = st_pack_write(&pack, path, e);
	st_pack_free(&pack);
	return status ? ST_FAILED : ST_OK;
}
