/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits lines into fields, and chooses the reader for them. */
#include "annotate/records_fields.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/filetext.h"
#include "base/parse.h"
#include "base/text.h"

enum { FIELDS_MOST = 100000 };

st_status
st_ann_wrong_field(const struct st_ann_lines *l, size_t field, const char *format, ...)
{
	char cause[300];
	va_list ap;
	va_start(ap, format);
	vsnprintf(cause, sizeof cause, format, ap);
	va_end(ap);
	return st_fail(l->e, ST_EXIT_USAGE, "%s:%u:%u: %s", l->name, l->line,
	               field < l->n ? l->v[field].column : 1, cause);
}

const char *
st_ann_why_short(const struct st_ann_lines *l)
{
	return l->cut ? ": the file ends within this line, so it is truncated" : "";
}

bool
st_ann_is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

st_status
st_ann_field_number(const struct st_ann_lines *l, size_t field, double *value)
{
	const char *end, *const text = l->v[field].text;
	*value = NAN;
	if (!*text)
		return ST_OK;
	if (st_parse_real(text, value, &end) || *end)
		return st_ann_wrong_field(l, field, "'%.60s' is not a number", text);
	return ST_OK;
}

st_status
st_ann_field_metric(const struct st_ann_lines *l, size_t field, double *value)
{
	static const double most = 1e100, least = 1e-100;
	if (st_ann_field_number(l, field, value))
		return ST_FAILED;
	if (fabs(*value) > most || (*value != 0 && fabs(*value) < least))
		return st_ann_wrong_field(l, field,
		                          "a metric of %.60s is not between 1e-100 and 1e100: use "
		                          "another unit",
		                          l->v[field].text);
	return ST_OK;
}

/* Takes the field at l->at out of its quotation marks and adds its line feeds to *newlines. */
static st_status
ann_take_quoted_field(struct st_ann_lines *l, struct st_ann_field *f, unsigned *newlines)
{
	char *to = ++l->at;
	f->text = to;
	f->quoted = true;
	for (; l->at < l->end; *to++ = *l->at++) {
		*newlines += *l->at == '\n';
		if (*l->at == '"' && (l->at + 1 == l->end || l->at[1] != '"'))
			break;
		l->at += *l->at == '"';
	}
	if (l->at == l->end)
		return st_ann_wrong_field(l, l->n - 1,
		                          "the quotation mark that begins here is not closed");
	*to = 0;
	l->at++;
	return ST_OK;
}

static st_status
ann_take_field(struct st_ann_lines *l, const char *line, unsigned *newlines)
{
	void *grown = l->n < FIELDS_MOST ? st_vec_grow(l->v, l->n, &l->cap, sizeof *l->v) : NULL;
	if (!grown)
		return l->n < FIELDS_MOST
		               ? st_fail(l->e, ST_EXIT_FAILED, "no memory left to read %s", l->name)
		               : st_ann_wrong_field(l, l->n - 1, "more than %d fields",
		                                    FIELDS_MOST);
	l->v = grown;
	struct st_ann_field *f = &l->v[l->n++];
	*f = (struct st_ann_field){l->at, (unsigned)(l->at - line) + 1, false};
	if (*l->at == '"')
		return ann_take_quoted_field(l, f, newlines);
	while (l->at < l->end && *l->at != l->separator && *l->at != '\n')
		l->at++;
	return ST_OK;
}

/* Ends a field with a NUL. *more: another field follows on the line. */
static st_status
ann_end_field(struct st_ann_lines *l, bool *more)
{
	char *const at = l->at;
	const struct st_ann_field *f = &l->v[l->n - 1];
	*more = false;
	if (at < l->end && *at == '\r' && (at + 1 == l->end || at[1] == '\n'))
		l->at++;
	if (l->at < l->end && *l->at != '\n' && *l->at != l->separator)
		return st_ann_wrong_field(l, l->n - 1,
		                          "something follows the closing quotation mark");
	l->cut = l->at == l->end;
	if (l->at < l->end) {
		*more = *l->at == l->separator;
		l->at++;
	}
	if (!f->quoted) {
		*at = 0;
		if (at > f->text && at[-1] == '\r' && !*more)
			at[-1] = 0;
	}
	return ST_OK;
}

bool
st_ann_next_line(struct st_ann_lines *l, st_status *failed)
{
	*failed = ST_OK;
	while (l->at < l->end) {
		const char *const line = l->at;
		unsigned newlines = 0;
		bool more = true;
		l->n = 0;
		l->line++;
		while (more && !*failed)
			*failed = ann_take_field(l, line, &newlines) || ann_end_field(l, &more)
			                  ? ST_FAILED
			                  : ST_OK;
		if (*failed)
			return false;
		if (l->n > 1 || *l->v[0].text) {
			l->line += newlines;
			return true;
		}
	}
	return false;
}

st_status
st_ann_data_take(struct st_ann_data *d, const char *text, size_t n, const char *name,
                 const struct st_ann_columns *c, struct st_error *e)
{
	static const char mark[] = "#strobe-records,";
	char *copy = malloc(n + 1);
	if (!copy)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", name);
	memcpy(copy, text, n);
	copy[n] = 0;
	char *const begin = st_after_byte_order_mark(copy);
	struct st_ann_lines l = {
	        .name = name, .at = begin, .end = copy + n, .separator = ',', .e = e};
	st_status status;
	if (memchr(copy, 0, n))
		status = st_fail(e, ST_EXIT_USAGE,
		                 "%s has a byte that is 0: it is neither a file of records nor a "
		                 "text file of columns; if it is a program, write -- before it",
		                 name);
	else if (!strncmp(begin, mark, sizeof mark - 1))
		status = st_ann_records_take(d, &l);
	else
		status = st_ann_columns_take(d, &l, c);
	for (size_t i = 0; i < d->functions.n && !status; i++)
		st_ann_records_drop_impossible(&d->functions.v[i]);
	free(l.v);
	free(copy);
	return status;
}

st_status
st_ann_data_read(struct st_ann_data *d, const char *path, const struct st_ann_columns *c,
                 struct st_error *e)
{
	char *text;
	size_t n;
	if (st_ann_file_text(path, "records", &text, &n, e))
		return ST_FAILED;
	const st_status status =
	        st_ann_data_take(d, text, n, strcmp(path, "-") ? path : "standard input", c, e);
	free(text);
	return status;
}
