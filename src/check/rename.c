/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/rename.h"

#include <stdlib.h>

uint64_t *
st_rename_codes(const struct st_profile *p)
{
	uint64_t *codes = calloc(p->functions.n + 1, sizeof *codes);
	uint64_t *insns = calloc(p->functions.n + 1, sizeof *insns);
	for (size_t i = 0; codes && insns && i < p->blocks.n; i++) {
		const struct st_profile_block *b = &p->blocks.v[i];
		if (b->function >= p->functions.n)
			continue;
		const uint64_t parts[] = {b->offset - p->functions.v[b->function].offset, b->bytes,
		                          b->insns, b->end};
		uint64_t *code = &codes[b->function];
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
			*code = (*code ^ parts[k]) * 0x9e3779b97f4a7c15;
			*code ^= *code >> 32;
		}
		insns[b->function] += b->insns;
	}
	for (size_t i = 0; codes && insns && i < p->functions.n; i++)
		if (insns[i] < ST_RENAME_LEAST)
			codes[i] = 0;
	free(insns);
	return codes;
}

struct unmatched {
	uint64_t code;
	uint32_t metric, image;
	size_t at; /* of the subject */
	int side;
};

static int
compare_codes(const struct unmatched *x, const struct unmatched *y)
{
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static int
compare_unmatched(const void *a, const void *b)
{
	const struct unmatched *x = a, *y = b;
	const int order = compare_codes(x, y);
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Makes one subject of two functions with the same code, one on each side. */
static void
join_pair(struct st_check_subjects *s, const struct unmatched *a, const struct unmatched *b)
{
	struct st_check_subject *kept = &s->list.v[a->at], *gone = &s->list.v[b->at];
	kept->item[b->side] = gone->item[b->side];
	gone->item[b->side] = NULL;
	kept->renamed = true;
}

static void
remove_empty(struct st_check_subjects *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].item[ST_A] || s->list.v[i].item[ST_B])
			s->list.v[kept++] = s->list.v[i];
	s->list.n = kept;
}

st_status
st_check_join_renamed(struct st_check_subjects *s)
{
	struct unmatched *v = calloc(s->list.n + 1, sizeof *v);
	size_t n = 0;
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_check_subject *subject = &s->list.v[i];
		const int side = subject->item[ST_A] ? ST_A : ST_B;
		const uint64_t code = subject->item[side]->code;
		if (code && !subject->item[!side])
			v[n++] = (struct unmatched){code, subject->metric, subject->image, i, side};
	}
	if (n)
		qsort(v, n, sizeof *v, compare_unmatched);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_codes(&v[i], &v[end]);)
			end++;
		if (end - i == 2 && v[i].side != v[i + 1].side)
			join_pair(s, &v[i], &v[i + 1]);
	}
	free(v);
	remove_empty(s);
	return ST_OK;
}
