/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints features as text. */
#include "base/number.h"
#include "report/featuretable.h"

#include <inttypes.h>

const char *
st_place_register(unsigned number)
{
	static const char *const names[] = {"rdi",  "rsi",  "rdx",  "rcx",  "r8",   "r9",   "xmm0",
	                                    "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"};
	return names[number];
}

static void
print_registers(const struct st_place *place, FILE *out)
{
	for (unsigned i = 0; i < place->n; i++)
		fprintf(out, "%s%s", i ? ":" : "", st_place_register(place->registers[i]));
}

static void
print_place(const struct st_place *place, FILE *out)
{
	if (place->is_address)
		fprintf(out, "its address in ");
	switch (place->kind) {
	case ST_PLACE_REGISTERS:
		print_registers(place, out);
		break;
	case ST_PLACE_STACK:
		fprintf(out, "rsp+%d", place->stack + 8);
		break;
	case ST_PLACE_NOWHERE:
		fprintf(out, "it has no bytes");
		break;
	case ST_PLACE_UNKNOWN:
		fprintf(out, "unknown: %s", place->why ? place->why : "nothing says where it is");
	}
}

static void
print_signature(const struct st_signature *s, FILE *out)
{
	for (size_t i = 0; i < s->parameters.n; i++) {
		const struct st_parameter *p = &s->parameters.v[i];
		fprintf(out, "  parameter %zu: %s %s (", i + 1, p->type_name,
		        p->name ? p->name : "(unnamed)");
		print_place(&p->place, out);
		fprintf(out, ")\n");
	}
	if (!s->parameters.n)
		fprintf(out, "  It has no parameters.\n");
}

void
st_features_print(const struct st_feature_table *t, struct st_style style, FILE *out)
{
	static const struct st_table_column columns[] = {{"feature", true}, {"kind", true},
	                                                 {"from", true},    {"how", true},
	                                                 {"type", true},    {"path", true}};
	fprintf(out, "%s [%s] at 0x%" PRIx64 "\n", t->name, st_image_path(t->image), t->entry);
	print_signature(t->signature, out);
	struct st_table *table = st_table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; table && i < t->features.n; i++) {
		const struct st_feature *f = &t->features.v[i];
		st_table_cell(table, "%s", f->name);
		st_table_cell(table, "%s", st_feature_kind_name(f->kind));
		st_table_cell(table, "%s", st_feature_origin_name(f->origin));
		st_table_cell(table, "%s", st_feature_how_name(f->how));
		st_table_cell(table, "%s", f->type_name);
		st_table_cell(table, "%s", f->path);
	}
	if (table && t->features.n)
		st_table_print(table, out, style);
	if (table)
		st_table_free(table);
	if (!t->features.n)
		fprintf(out, "  It has no features: a model of it can only be a constant.\n");
	for (size_t i = 0; i < t->skipped.n; i++)
		fprintf(out, "  left out: %s: %s\n", t->skipped.v[i].path, t->skipped.v[i].why);
	if (t->left_out)
		fprintf(out, "  left out: %s more; --max-features sets the limit\n",
		        ST_NUMBER(t->left_out));
	fprintf(out, "\n");
}
