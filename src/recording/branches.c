/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names the branches of a function by their source lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "recording/engine.h"
#include "tools/records.h"

/* "file.c:12", or "function+0x1f" without a line. NULL: no memory. */
static char *
branch_place(const struct st_engine_recording *r, const struct st_engine_function *f,
             uint64_t address)
{
	const struct st_engine_image *image = &r->images.v[f->image];
	const uint64_t offset = address - image->bias;
	struct st_line line;
	if (!st_image_line(image->image, offset, &line) && line.file && line.line)
		return st_text_of("%s:%u", st_base_name(line.file), line.line);
	const struct st_function *in = st_image_function(image->image, offset);
	return in ? st_text_of("%s+0x%" PRIx64, in->raw_name, offset - in->offset)
	          : st_text_of("0x%" PRIx64, offset);
}

/* Makes the names of a function's branches different: "x.c:12", "x.c:12 (2)". */
static bool
branch_make_unique(struct st_branch_names *n, size_t at)
{
	char *const name = n->list.v[at].name;
	const size_t length = strlen(name);
	unsigned same = 1;
	for (size_t i = 0; i < at; i++)
		same += !strncmp(n->list.v[i].name, name, length) &&
		        (!n->list.v[i].name[length] || n->list.v[i].name[length] == ' ');
	if (same == 1)
		return true;
	n->list.v[at].name = st_text_of("%s (%u)", name, same);
	free(name);
	return n->list.v[at].name;
}

static bool
branch_add_way(const struct st_engine_recording *r, const struct st_engine_function *f,
               struct st_branch_name *n, uint64_t target)
{
	struct st_branch_way *way = ST_PUSH(&n->ways);
	if (!way)
		return false;
	*way = (struct st_branch_way){target, branch_place(r, f, target)};
	return way->where;
}

static int
branch_way_order(const void *a, const void *b)
{
	const struct st_branch_way *x = a, *y = b;
	return (x->target > y->target) - (x->target < y->target);
}

/* The targets of an indirect jump that records have, in the order of their addresses. */
static bool
branch_find_targets(const struct st_engine_recording *r, const struct st_engine_function *f,
                    struct st_branch_name *n)
{
	for (uint32_t i = 0; i < r->request->keep; i++) {
		const struct st_engine_record *record = &f->records[i];
		for (size_t k = 0; record->complete && k < record->runs.n; k++) {
			const struct st_branch_run *run = &record->runs.v[k];
			size_t at = 0;
			if (run->branch != n->branch || run->order == RECORDS_NOT_KNOWN)
				continue;
			while (at < n->ways.n && n->ways.v[at].target != run->outcome)
				at++;
			if (at == n->ways.n && !branch_add_way(r, f, n, run->outcome))
				return false;
		}
	}
	if (n->ways.n)
		qsort(n->ways.v, n->ways.n, sizeof *n->ways.v, branch_way_order);
	return true;
}

/* For branch_address_order: qsort passes no argument. */
struct branch_at {
	uint64_t address;
	uint32_t branch;
};

static int
branch_address_order(const void *a, const void *b)
{
	const struct branch_at *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static bool
branch_name_all(const struct st_engine_recording *r, const struct st_engine_function *f,
                const struct branch_at *order, struct st_branch_names *out)
{
	for (size_t i = 0; i < f->branches.n; i++) {
		const struct st_engine_branch *b = &f->branches.v[order[i].branch];
		struct st_branch_name *n = ST_PUSH(&out->list);
		if (!n)
			return false;
		n->branch = order[i].branch;
		n->name = branch_place(r, f, b->address);
		if (!n->name || !branch_make_unique(out, out->list.n - 1))
			return false;
		if (b->to ? !branch_add_way(r, f, n, b->next) || !branch_add_way(r, f, n, b->to)
		          : !branch_find_targets(r, f, n))
			return false;
	}
	return true;
}

st_status
st_branch_names_find(const struct st_engine_recording *r, struct st_engine_function *f,
                     struct st_branch_names *out)
{
	*out = (struct st_branch_names){0};
	struct branch_at *order = calloc(f->branches.n + 1, sizeof *order);
	for (size_t i = 0; order && i < f->branches.n; i++)
		order[i] = (struct branch_at){f->branches.v[i].address, (uint32_t)i};
	if (order && f->branches.n)
		qsort(order, f->branches.n, sizeof *order, branch_address_order);
	const bool named = order && branch_name_all(r, f, order, out);
	free(order);
	return named ? ST_OK : ST_FAILED;
}

void
st_branch_names_free(struct st_branch_names *n)
{
	for (size_t i = 0; i < n->list.n; i++) {
		for (size_t k = 0; k < n->list.v[i].ways.n; k++)
			free(n->list.v[i].ways.v[k].where);
		free(n->list.v[i].ways.v);
		free(n->list.v[i].name);
	}
	free(n->list.v);
	*n = (struct st_branch_names){0};
}
