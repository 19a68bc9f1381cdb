/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

void
st_record_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")] && text[0] != '#') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static const char *
class_of_table(struct st_record_classes *c, uint64_t table)
{
	for (size_t i = 0; i < c->known.n; i++)
		if (c->known.v[i].table == table)
			return c->known.v[i].name;
	const char *name = c->find(c->arg, table);
	struct st_record_class *known = ST_PUSH(&c->known);
	if (known)
		*known = (struct st_record_class){table, name};
	return name;
}

static void
write_enumerator(FILE *out, struct st_image *image, struct st_type *type, int64_t value)
{
	st_type_open(image, type);
	for (size_t i = 0; i < type->enumerators.n; i++)
		if (type->enumerators.v[i].value == value ||
		    (type->size == 4 && (int32_t)type->enumerators.v[i].value == value)) {
			st_record_text(out, type->enumerators.v[i].name);
			return;
		}
	fprintf(out, "%" PRId64, value);
}

static void
write_real(FILE *out, const char *format, double value)
{
	if (isfinite(value))
		fprintf(out, format, value);
}

void
st_record_value(FILE *out, struct st_record_classes *classes, const struct st_feature *f,
                struct st_image *image, uint64_t value)
{
	float single;
	double real;
	if (f->how == ST_BY_CLASS) {
		const char *name = class_of_table(classes, value);
		st_record_text(out, name ? name : "");
		return;
	}
	if (f->kind == ST_FEATURE_CATEGORY) {
		write_enumerator(out, image, f->type, (int64_t)value);
		return;
	}
	switch (f->form) {
	case ST_FORM_SIGNED:
		fprintf(out, "%" PRId64, (int64_t)value);
		break;
	case ST_FORM_UNSIGNED:
		fprintf(out, "%" PRIu64, value);
		break;
	case ST_FORM_FLOAT:
		memcpy(&single, &value, sizeof single);
		write_real(out, "%.9g", (double)single);
		break;
	case ST_FORM_DOUBLE:
		memcpy(&real, &value, sizeof real);
		write_real(out, "%.17g", real);
	}
}

void
st_record_unfinished(FILE *out, double seconds)
{
	fprintf(out, "#unfinished,%.1f\n", seconds);
}

void
st_record_function(FILE *out, size_t id, const struct st_feature_table *f, const char *path,
                   uint64_t entry)
{
	fprintf(out, "#function,%zu,", id);
	st_record_text(out, f->name);
	fputc(',', out);
	st_record_text(out, path);
	fprintf(out, ",%s,0x%" PRIx64 "\n", st_image_build_id(f->image), entry);
}

void
st_record_note_silent(FILE *out, const char *function, const char *path, bool called)
{
	st_record_note(out,
	               called ? "%s of %s was called, and no call returned"
	                      : "%s of %s was not called",
	               function, path);
}

void
st_record_note_bare(FILE *out, const char *function, const char *path)
{
	st_record_note(out,
	               "%s has no debug information of %s: the features of the function are the "
	               "registers of its arguments, and of those that hold addresses only whether "
	               "they are null; compile it with -g, or install its package of debug files "
	               "(-dbgsym)",
	               path, function);
}

void
st_record_feature(FILE *out, size_t id, const struct st_feature *f)
{
	fprintf(out, "#feature,%zu,%s,%s,%s,%s,", id, f->name, st_feature_kind_name(f->kind),
	        st_feature_origin_name(f->origin), st_feature_how_name(f->how));
	st_record_text(out, f->path);
	fputc('\n', out);
}

void
st_record_note(FILE *out, const char *format, ...)
{
	char text[2048];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(out, "#note,");
	st_record_text(out, text);
	fputc('\n', out);
}

void
st_record_origin(FILE *out, char *const *program, int64_t seconds)
{
	char made[64];
	const time_t start = (time_t)seconds;
	struct tm utc;
	fprintf(out, "#strobe-records,1\n#program");
	for (char *const *word = program; *word; word++) {
		fputc(',', out);
		st_record_text(out, *word);
	}
	gmtime_r(&start, &utc);
	strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", &utc);
	fprintf(out, "\n#made,%s\n", made);
}
