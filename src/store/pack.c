/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manifest of a profile: its tables and columns. */
#include "store/pack.h"

static const char pack_magic[4] = "STP1";

static void
manifest_put_text(struct st_bytes *out, const char *text)
{
	st_bytes_piece(out, text, strlen(text));
}

static void
manifest_put_column(struct st_bytes *out, const struct st_pack_column *c)
{
	manifest_put_text(out, c->name);
	st_bytes_number(out, c->apart);
	if (c->apart)
		st_bytes_add(out, c->hash.v, sizeof c->hash.v);
	else
		st_bytes_piece(out, c->bytes.v, c->bytes.n);
}

void
st_pack_manifest(const struct st_pack *p, struct st_bytes *out)
{
	st_bytes_add(out, pack_magic, sizeof pack_magic);
	st_bytes_number(out, p->version);
	st_bytes_number(out, p->schema.n);
	for (size_t i = 0; i < p->schema.n; i++)
		manifest_put_text(out, p->schema.v[i]);
	st_bytes_number(out, p->tables.n);
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_pack_table *t = &p->tables.v[i];
		manifest_put_text(out, t->name);
		st_bytes_number(out, t->rows);
		st_bytes_number(out, t->columns.n);
		for (size_t j = 0; j < t->columns.n; j++)
			manifest_put_column(out, &t->columns.v[j]);
	}
}

static bool
manifest_take_column(struct st_cut *cut, struct st_pack_column *c)
{
	c->name = st_cut_text(cut);
	uint64_t apart = st_cut_number(cut);
	c->apart = apart == 1;
	if (c->apart) {
		const unsigned char *hash = st_cut_take(cut, sizeof c->hash.v);
		if (hash)
			memcpy(c->hash.v, hash, sizeof c->hash.v);
	} else {
		struct st_cut piece = st_cut_piece(cut);
		if (!piece.bad)
			st_bytes_add(&c->bytes, piece.at, (size_t)(piece.end - piece.at));
	}
	return c->name && apart <= 1 && !cut->bad && !c->bytes.failed;
}

static bool
manifest_take_table(struct st_cut *cut, struct st_pack_table *t)
{
	t->name = st_cut_text(cut);
	t->rows = st_cut_number(cut);
	uint64_t n = st_cut_number(cut);
	for (uint64_t i = 0; i < n && !cut->bad; i++) {
		struct st_pack_column *c = ST_PUSH(&t->columns);
		if (!c || !manifest_take_column(cut, c))
			return false;
	}
	return t->name && !cut->bad;
}

bool
st_pack_of_manifest(struct st_pack *p, const void *bytes, size_t n)
{
	struct st_cut cut = st_cut_of(bytes, n);
	const unsigned char *magic = st_cut_take(&cut, sizeof pack_magic);
	*p = (struct st_pack){0};
	if (!magic || memcmp(magic, pack_magic, sizeof pack_magic))
		return false;
	p->version = st_cut_number(&cut);
	for (uint64_t left = st_cut_number(&cut); left && !cut.bad; left--) {
		char **sql = ST_PUSH(&p->schema);
		if (!sql || !(*sql = st_cut_text(&cut)))
			return false;
	}
	for (uint64_t left = st_cut_number(&cut); left && !cut.bad; left--) {
		struct st_pack_table *t = ST_PUSH(&p->tables);
		if (!t || !manifest_take_table(&cut, t))
			return false;
	}
	return !cut.bad && cut.at == cut.end;
}

struct st_pack_table *
st_pack_table_named(struct st_pack *p, const char *name)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!strcmp(p->tables.v[i].name, name))
			return &p->tables.v[i];
	return NULL;
}

struct st_pack_column *
st_pack_column_named(struct st_pack *p, const char *table, const char *column)
{
	struct st_pack_table *t = st_pack_table_named(p, table);
	for (size_t i = 0; t && i < t->columns.n; i++)
		if (!strcmp(t->columns.v[i].name, column))
			return &t->columns.v[i];
	return NULL;
}

static void
pack_free_table(struct st_pack_table *t)
{
	for (size_t i = 0; i < t->columns.n; i++) {
		free(t->columns.v[i].name);
		st_bytes_free(&t->columns.v[i].bytes);
	}
	free(t->columns.v);
	free(t->name);
}

void
st_pack_free(struct st_pack *p)
{
	for (size_t i = 0; i < p->schema.n; i++)
		free(p->schema.v[i]);
	for (size_t i = 0; i < p->tables.n; i++)
		pack_free_table(&p->tables.v[i]);
	free(p->schema.v);
	free(p->tables.v);
	*p = (struct st_pack){0};
}
