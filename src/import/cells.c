/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/cells.h"

#include <string.h>

#include "base/text.h"

/* Where reading stands: at the beginning of a field. */
struct cursor {
	char *at;
	size_t line;
	char separator;
};

/* The field in quotation marks that begins at `at`; two of them are one. Returns its end. */
static char *
read_quoted(struct cursor *u)
{
	char *out = u->at, *in = u->at + 1;
	for (; *in; in++) {
		if (*in == '"' && in[1] != '"')
			break;
		in += *in == '"';
		u->line += *in == '\n';
		*out++ = *in;
	}
	in += *in == '"';
	/* What follows before the separator belongs to it, as spreadsheets have it. */
	while (*in && *in != u->separator && *in != '\n' && *in != '\r')
		*out++ = *in++;
	char *end = in;
	if (out < end)
		*out = '\0';
	return end;
}

/* Takes a field and what ends it; false: it was the last of its row. */
static bool
read_field(struct cursor *u, const char **field)
{
	char *end;
	while (*u->at == ' ')
		u->at++;
	*field = u->at;
	if (*u->at == '"') {
		end = read_quoted(u);
	} else {
		end = u->at;
		while (*end && *end != u->separator && *end != '\n' && *end != '\r')
			end++;
	}
	bool more = *end && *end == u->separator;
	char *next = end + (*end != 0);
	if (*end == '\r' && *next == '\n')
		next++;
	u->line += *end == '\n' || *end == '\r';
	*end = '\0';
	for (char *last = end; last > *field && last[-1] == ' ';)
		*--last = '\0';
	u->at = next;
	return more;
}

static void
skip_comments(struct cursor *u)
{
	while (*u->at == '#' || *u->at == '\n' || *u->at == '\r') {
		u->at += strcspn(u->at, "\n");
		u->at += *u->at == '\n';
		u->line++;
	}
}

/* Adds the fields of the next row to the cells; returns their number. */
static st_status
cells_read_row(struct st_cells *c, struct cursor *u, size_t *n)
{
	for (*n = 1;; (*n)++) {
		const char **cell = ST_PUSH(&c->cells);
		if (!cell)
			return ST_FAILED;
		if (!read_field(u, cell))
			return ST_OK;
	}
}

static char
cells_separator(const char *header)
{
	size_t n = strcspn(header, "\r\n");
	return memchr(header, '\t', n) ? '\t' : memchr(header, ',', n) ? ',' : ';';
}

static st_status
read_cells(struct st_cells *c, struct st_import *in, struct cursor *u)
{
	while (skip_comments(u), *u->at) {
		size_t n, line = u->line, *slot;
		if (cells_read_row(c, u, &n))
			return ST_FAILED;
		if (n != c->n_columns) {
			c->cells.n -= n;
			st_import_skip(in, line);
			continue;
		}
		if (!(slot = ST_PUSH(&c->lines)))
			return ST_FAILED;
		*slot = line;
		c->n_rows++;
	}
	return ST_OK;
}

st_status
st_cells_read(struct st_cells *c, struct st_import *in, struct st_error *e)
{
	*c = (struct st_cells){.text = malloc(in->n + 1)};
	if (!c->text)
		return st_import_no_memory(in, e);
	memcpy(c->text, in->bytes, in->n);
	c->text[in->n] = '\0';
	if (strlen(c->text) != in->n)
		return st_import_bad(in, 0, e, "it has a byte 0, and so is no table of text");
	struct cursor u = {.at = st_after_byte_order_mark(c->text), .line = 1};
	skip_comments(&u);
	u.separator = cells_separator(u.at);
	if (cells_read_row(c, &u, &c->n_columns) || read_cells(c, in, &u))
		return st_import_no_memory(in, e);
	return ST_OK;
}

void
st_cells_free(struct st_cells *c)
{
	free(c->text);
	free(c->cells.v);
	free(c->lines.v);
	*c = (struct st_cells){0};
}
