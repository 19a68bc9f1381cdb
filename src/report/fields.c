/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/fields.h"
#include "report/report.h"

static struct st_field *
fields_add(struct st_field *fields, size_t *n, const struct st_profile_column *c, const char *end)
{
	struct st_field *f = &fields[(*n)++];
	snprintf(f->name, sizeof f->name, "%.60s%s", c->name, end);
	f->kind = ST_FIELD_NULL;
	return f;
}

static void
set_text(struct st_field *f, const char *text)
{
	f->kind = text ? ST_FIELD_TEXT : ST_FIELD_NULL;
	f->text = text;
}

static void
set_number(struct st_field *f, uint64_t number)
{
	f->kind = ST_FIELD_NUMBER;
	f->number = number;
}

static const char *
fields_image_of(const struct st_profile *p, const struct st_profile_value *v)
{
	return v->image < p->images.n ? p->images.v[v->image].path : NULL;
}

static size_t
address_fields(const struct st_profile *p, const struct st_profile_column *c, bool first,
               const struct st_profile_value *v, struct st_field *fields)
{
	size_t n = 0;
	struct st_field *offset = fields_add(fields, &n, c, ""),
	                *image = fields_add(fields, &n, c, "_image");
	struct st_field *function = fields_add(fields, &n, c, "_function");
	if (v) {
		set_number(offset, v->number);
		set_text(image, fields_image_of(p, v));
		set_text(function, v->text);
	}
	if (first) {
		fields[n] = *image;
		strcpy(fields[n++].name, "image");
	}
	return n;
}

static size_t
function_fields(const struct st_profile *p, const struct st_profile_column *c,
                const struct st_profile_value *v, struct st_field *fields)
{
	size_t n = 0;
	struct st_field *name = fields_add(fields, &n, c, ""),
	                *image = fields_add(fields, &n, c, "_image");
	struct st_field *offset = fields_add(fields, &n, c, "_offset");
	if (v) {
		set_text(name, v->text);
		set_text(image, fields_image_of(p, v));
		set_number(offset, v->number);
	}
	return n;
}

static size_t
line_fields(const struct st_profile *p, const struct st_profile_column *c,
            const struct st_profile_value *v, struct st_field *fields)
{
	size_t n = 0;
	struct st_field *file = fields_add(fields, &n, c, "_file"),
	                *line = fields_add(fields, &n, c, "_line");
	struct st_field *image = fields_add(fields, &n, c, "_image");
	struct st_field *offset = fields_add(fields, &n, c, "_offset");
	if (v && v->text) {
		set_text(file, v->text);
		set_number(line, v->number);
	} else if (v) {
		set_text(image, fields_image_of(p, v));
		set_number(offset, v->number);
	}
	return n;
}

static void
set_plain(struct st_field *f, enum strobe_type type, const struct st_profile_value *v)
{
	if (st_profile_shape(type) == ST_VALUE_TEXT) {
		set_text(f, v->text);
	} else if (type == STROBE_HEX) {
		snprintf(f->room, sizeof f->room, "0x%" PRIx64, v->number);
		set_text(f, f->room);
	} else {
		set_number(f, v->number);
		if (type == STROBE_SIGNED)
			f->kind = ST_FIELD_SIGNED;
	}
}

size_t
st_fields(const struct st_profile *p, const struct st_profile_column *c, bool first,
          const struct st_profile_value *v, struct st_field fields[ST_COLUMN_FIELDS])
{
	size_t n = 0;
	if (c->type == STROBE_ADDRESS)
		return address_fields(p, c, first, v, fields);
	if (c->type == STROBE_FUNCTION)
		return function_fields(p, c, v, fields);
	if (st_profile_shape(c->type) == ST_VALUE_LINE)
		return line_fields(p, c, v, fields);
	struct st_field *f = fields_add(fields, &n, c, "");
	if (v)
		set_plain(f, c->type, v);
	return n;
}

size_t
st_first_address(const struct st_profile_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (columns[i].type == STROBE_ADDRESS)
			return i;
	return SIZE_MAX;
}

static int
fields_print_place(char **text, const struct st_profile *p, const struct st_profile_column *c,
                   const struct st_profile_value *v)
{
	const char *path = fields_image_of(p, v), *image = path ? st_base_name(path) : "?";
	/* [anon], [vdso] bring their own brackets. */
	const char *open = image[0] == '[' ? "" : "[", *close = image[0] == '[' ? "" : "]";
	if (!path)
		return asprintf(text, "0x%" PRIx64, v->number);
	if (!v->text)
		return asprintf(text, "0x%" PRIx64 " %s%s%s", v->number, open, image, close);
	if (c->type == STROBE_ADDRESS)
		return asprintf(text, "0x%" PRIx64 " %s %s%s%s", v->number, v->text, open, image,
		                close);
	return asprintf(text, "%s %s%s%s", v->text, open, image, close);
}

static int
print_number(char **text, enum strobe_type type, uint64_t n)
{
	char buffer[ST_NUMBER_SIZE];
	switch (type) {
	case STROBE_HEX:
		return asprintf(text, "0x%" PRIx64, n);
	case STROBE_TICKS:
		if (n < 1000)
			return asprintf(text, "%" PRIu64 " ns", n);
		if (n < 1000000)
			return asprintf(text, "%.1f us", (double)n / 1e3);
		return asprintf(text, "%s",
		                st_duration(buffer, n > INT64_MAX ? INT64_MAX : (int64_t)n));
	case STROBE_THREAD:
		return n ? asprintf(text, "%" PRIu64, n) : asprintf(text, "-");
	case STROBE_SIGNED:
		return asprintf(text, "%s%s", (int64_t)n < 0 ? "-" : "",
		                st_number(buffer, (int64_t)n < 0 ? -n : n));
	default:
		return asprintf(text, "%s", st_number(buffer, n));
	}
}

char *
st_value_text(const struct st_profile *p, const struct st_profile_column *c,
              const struct st_profile_value *v)
{
	char *text = NULL;
	int n;
	switch (st_profile_shape(c->type)) {
	case ST_VALUE_TEXT:
		return strdup(v->text);
	case ST_VALUE_PLACE:
		n = fields_print_place(&text, p, c, v);
		break;
	case ST_VALUE_LINE:
		if (!v->text && v->image == UINT32_MAX && !v->number)
			return strdup("-"); /* no place is known */
		n = v->text ? asprintf(&text, "%s:%" PRIu64, v->text, v->number)
		            : fields_print_place(&text, p, c, v);
		break;
	default:
		n = print_number(&text, c->type, v->number);
	}
	return n < 0 ? NULL : text;
}

void
st_csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

void
st_field_csv(FILE *out, const struct st_field *f)
{
	if (f->kind == ST_FIELD_TEXT)
		st_csv_text(out, f->text);
	else if (f->kind == ST_FIELD_NUMBER)
		fprintf(out, "%" PRIu64, f->number);
	else if (f->kind == ST_FIELD_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)f->number);
}
