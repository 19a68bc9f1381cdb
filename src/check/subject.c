/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes subjects of the items of two sides; items of one metric are matched with each other. */
#include "check/subject.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/rename.h"

/* Items of one metric: the functions for st_match_make, and the indexes of the items. */
struct metric_side {
	struct st_match_function *functions;
	uint32_t *items;
	size_t n;
};

static uint32_t
metric_of_side(const struct st_check_side *side, const struct st_check_metric *m)
{
	for (size_t i = 0; i < side->metrics.n; i++) {
		const struct st_check_metric *other = &side->metrics.v[i];
		if (!strcmp(other->name, m->name) && !strcmp(other->unit, m->unit) &&
		    other->additive == m->additive)
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

static st_status
join_metrics(struct st_check_subjects *out)
{
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < out->sides[side]->metrics.n; i++) {
			const struct st_check_metric *m = &out->sides[side]->metrics.v[i];
			const uint32_t other = metric_of_side(out->sides[ST_A], m);
			if (side == ST_B && other != UINT32_MAX) {
				out->metrics.v[other].counts &= m->counts;
				continue;
			}
			struct st_check_metric *slot = ST_PUSH(&out->metrics);
			if (!slot)
				return ST_FAILED;
			*slot = *m;
		}
	return ST_OK;
}

static st_status
take_items_of_metric(const struct st_check_side *side, uint32_t metric, struct metric_side *out)
{
	out->functions = calloc(side->items.n + 1, sizeof *out->functions);
	out->items = calloc(side->items.n + 1, sizeof *out->items);
	for (size_t i = 0; out->functions && out->items && i < side->items.n; i++) {
		if (side->items.v[i].metric != metric)
			continue;
		out->functions[out->n] = side->items.v[i].function;
		out->items[out->n++] = (uint32_t)i;
	}
	return out->functions && out->items ? ST_OK : ST_FAILED;
}

static uint32_t
image_named(struct st_check_subjects *out, const char *path)
{
	const char *name = st_base_name(path);
	for (size_t i = 0; i < out->images.n; i++)
		if (!strcmp(out->images.v[i], name))
			return (uint32_t)i;
	const char **slot = ST_PUSH(&out->images);
	if (!slot)
		return ST_NO_IMAGE;
	*slot = name;
	return (uint32_t)(out->images.n - 1);
}

/* Images that are matched as one have the name that the target has. */
static uint32_t
image_of_subject(struct st_check_subjects *out, const struct st_match *m,
                 const struct st_check_subject *s)
{
	const int side = s->item[ST_B] ? ST_B : ST_A;
	const uint32_t image = s->item[side]->function.image;
	if (image == ST_NO_IMAGE)
		return ST_NO_IMAGE;
	const struct st_check_side *b = out->sides[ST_B];
	for (size_t i = 0; side == ST_A && i < b->images.n; i++)
		if (m->image[ST_B][i] == m->image[ST_A][image])
			return image_named(out, b->images.v[i].path);
	return image_named(out, out->sides[side]->images.v[image].path);
}

static st_status
add_subjects(struct st_check_subjects *out, const struct st_match *m,
             const struct metric_side sides[ST_SIDES], uint32_t metric)
{
	struct st_check_subject *made = calloc(m->n_functions + 1, sizeof *made);
	st_status status = made ? ST_OK : ST_FAILED;
	for (int side = 0; side < ST_SIDES && made; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			made[m->function[side][i]].item[side] =
			        &out->sides[side]->items.v[sides[side].items[i]];
	for (size_t i = 0; i < m->n_functions && !status; i++) {
		struct st_check_subject *slot = ST_PUSH(&out->list);
		if (slot) {
			*slot = made[i];
			slot->metric = metric;
			slot->image = image_of_subject(out, m, slot);
		}
		status = slot ? ST_OK : ST_FAILED;
	}
	free(made);
	return status;
}

static st_status
match_metric(struct st_check_subjects *out, uint32_t metric)
{
	struct metric_side taken[ST_SIDES] = {0};
	struct st_match_side sides[ST_SIDES] = {0};
	struct st_match m = {0};
	st_status status = ST_OK;
	for (int i = 0; i < ST_SIDES && !status; i++) {
		const struct st_check_side *side = out->sides[i];
		status = take_items_of_metric(side, metric_of_side(side, &out->metrics.v[metric]),
		                              &taken[i]);
		sides[i] = (struct st_match_side){side->images.v, side->images.n,
		                                  taken[i].functions, taken[i].n};
	}
	if (!status)
		status = st_match_make(&m, sides);
	if (!status)
		status = add_subjects(out, &m, taken, metric);
	st_match_free(&m);
	for (int i = 0; i < ST_SIDES; i++) {
		free(taken[i].functions);
		free(taken[i].items);
	}
	return status;
}

static struct st_check_total *
total_of(struct st_check_subjects *s, uint32_t metric, uint32_t image)
{
	for (size_t i = 0; i < s->totals.n; i++)
		if (s->totals.v[i].metric == metric && s->totals.v[i].image == image)
			return &s->totals.v[i];
	struct st_check_total *t = ST_PUSH(&s->totals);
	if (!t)
		return NULL;
	*t = (struct st_check_total){.metric = metric, .image = image};
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < s->sides[side]->profiles.n; i++)
			if (!ST_PUSH(&t->runs[side]))
				return NULL;
	return t;
}

static st_status
add_to_total(struct st_check_subjects *s, const struct st_check_subject *subject, uint32_t image)
{
	struct st_check_total *t = total_of(s, subject->metric, image);
	for (int side = 0; side < ST_SIDES && t; side++)
		for (size_t i = 0; subject->item[side] && i < subject->item[side]->runs.n; i++)
			t->runs[side].v[i] += subject->item[side]->runs.v[i];
	return t ? ST_OK : ST_FAILED;
}

static st_status
add_totals(struct st_check_subjects *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_check_subject *subject = &s->list.v[i];
		if (!s->metrics.v[subject->metric].additive)
			continue;
		if (add_to_total(s, subject, ST_NO_IMAGE) ||
		    (subject->image != ST_NO_IMAGE && add_to_total(s, subject, subject->image)))
			return ST_FAILED;
	}
	return ST_OK;
}

static bool
is_named_so(const char *of, const char *name)
{
	return name && (!strcmp(of, name) || !fnmatch(of, name, 0));
}

bool
st_check_is_of(const struct st_check_subjects *s, const struct st_check_subject *subject,
               const char *of)
{
	bool is = subject->image != ST_NO_IMAGE && is_named_so(of, s->images.v[subject->image]);
	for (int side = 0; side < ST_SIDES; side++)
		is |= subject->item[side] && is_named_so(of, subject->item[side]->shown);
	return is;
}

static void
keep_asked(struct st_check_subjects *s, const char *of)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->list.n; i++)
		if (st_check_is_of(s, &s->list.v[i], of))
			s->list.v[kept++] = s->list.v[i];
	s->list.n = kept;
}

st_status
st_check_match(struct st_check_subjects *out, const struct st_check_side sides[ST_SIDES],
               const char *of)
{
	*out = (struct st_check_subjects){.sides = {&sides[ST_A], &sides[ST_B]}};
	if (join_metrics(out))
		return ST_FAILED;
	for (size_t i = 0; i < out->metrics.n; i++)
		if (match_metric(out, (uint32_t)i))
			return ST_FAILED;
	if (st_check_join_renamed(out) || add_totals(out))
		return ST_FAILED;
	if (of)
		keep_asked(out, of);
	return ST_OK;
}

void
st_check_subjects_free(struct st_check_subjects *s)
{
	for (size_t i = 0; i < s->totals.n; i++)
		for (int side = 0; side < ST_SIDES; side++)
			free(s->totals.v[i].runs[side].v);
	free(s->totals.v);
	free(s->list.v);
	free(s->images.v);
	free(s->metrics.v);
	*s = (struct st_check_subjects){0};
}

const struct st_check_total *
st_check_whole(const struct st_check_subjects *s, uint32_t metric)
{
	for (size_t i = 0; i < s->totals.n; i++)
		if (s->totals.v[i].metric == metric && s->totals.v[i].image == ST_NO_IMAGE)
			return &s->totals.v[i];
	return NULL;
}

const char *
st_check_shown(const struct st_check_subject *s)
{
	return s->item[ST_B] ? s->item[ST_B]->shown : s->item[ST_A]->shown;
}
