/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which inlined functions code came from, and where they were called. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/scopes.h"

static const char *
linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name && *name ? name : NULL;
}

/* The name is that of the abstract origin. */
static const char *
inlined_name_of(struct st_image *image, struct sym_scope *scope)
{
	if (scope->name)
		return scope->name;
	const char *raw = linkage_name(&scope->die);
	char *readable = raw ? st_demangle(raw) : NULL;
	const char *name = readable ? sym_string_keep(image, readable, strlen(readable)) : raw;
	free(readable);
	if (!name)
		name = dwarf_diename(&scope->die);
	scope->name = name && *name ? name : "(unnamed)";
	return scope->name;
}

static uint64_t
inlined_number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value;
	if (!dwarf_attr(die, attribute, &found) || dwarf_formudata(&found, &value) != 0)
		return 0;
	return value;
}

static uint32_t
clip(uint64_t number)
{
	return number > UINT32_MAX ? 0 : (uint32_t)number;
}

static void
describe_call(struct st_image *image, struct sym_unit *unit, struct sym_scopes *scopes,
              Dwarf_Die *die, struct st_line *call)
{
	Dwarf_Files *files;
	size_t n;
	uint64_t file = inlined_number_of(die, DW_AT_call_file);
	*call = (struct st_line){.line = clip(inlined_number_of(die, DW_AT_call_line)),
	                         .column = clip(inlined_number_of(die, DW_AT_call_column))};
	if (dwarf_getsrcfiles(&scopes->root, &files, &n) != 0 || file >= n)
		return;
	const char *path = dwarf_filesrc(files, file, NULL, NULL);
	if (path && strcmp(path, "???") != 0)
		call->file = sym_absolute_path(image, unit, path);
}

struct question {
	struct st_image *image;
	uint64_t address;
	struct st_inlined *out;
	size_t room;
	size_t n;
};

static bool
inlined_answer(struct sym_unit *unit, void *context)
{
	struct question *q = context;
	struct sym_scopes *s = sym_scopes(q->image, unit);
	uint32_t at = s ? sym_scope_at(s, q->address) : SYM_NO_SCOPE;
	if (at == SYM_NO_SCOPE)
		return false;
	for (; at != SYM_NO_SCOPE && s->v[at].inlined; at = s->v[at].parent) {
		if (q->n < q->room) {
			struct st_inlined *out = &q->out[q->n];
			out->name = inlined_name_of(q->image, &s->v[at]);
			describe_call(q->image, unit, s, &s->v[at].die, &out->call);
		}
		q->n++;
	}
	return true;
}

size_t
st_image_inlined(struct st_image *image, uint64_t offset, struct st_inlined *out, size_t room)
{
	struct sym_units *units = sym_units(image);
	struct question q = {.image = image, .address = offset, .out = out, .room = room};
	if (units)
		sym_units_at(units, offset, inlined_answer, &q);
	return q.n;
}
