/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of profiles and their costs in each run. */
#include "check/side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/rename.h"
#include "profile/tables.h"

static bool
is_equal_or_null(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static uint32_t
side_metric(struct st_check_side *side, const char *name, const char *unit, bool counts,
            bool additive)
{
	for (size_t i = 0; i < side->metrics.n; i++) {
		struct st_check_metric *m = &side->metrics.v[i];
		if (!strcmp(m->name, name) && !strcmp(m->unit, unit) && m->additive == additive) {
			m->counts &= counts;
			return (uint32_t)i;
		}
	}
	struct st_check_metric *m = ST_PUSH(&side->metrics);
	if (!m)
		return UINT32_MAX;
	*m = (struct st_check_metric){name, unit, counts, additive};
	return (uint32_t)(side->metrics.n - 1);
}

/* Of the run that was begun last. */
static bool
side_is_program(const struct st_check_side *side, const char *path)
{
	return side->profiles.n && path &&
	       st_profile_is_program(side->profiles.v[side->profiles.n - 1], path);
}

/* ST_NO_IMAGE also when memory is exhausted: then the allocation of the item fails, too. */
static uint32_t
image_number(struct st_check_side *side, const char *path, const char *build_id)
{
	if (!path || !*path)
		return ST_NO_IMAGE;
	for (size_t i = side->images.n; i-- > 0;) {
		const struct st_match_image *image = &side->images.v[i];
		if (!strcmp(image->path, path) && !strcmp(image->build_id, build_id))
			return (uint32_t)i;
	}
	struct st_match_image *image = ST_PUSH(&side->images);
	if (!image)
		return ST_NO_IMAGE;
	*image = (struct st_match_image){path, build_id, side_is_program(side, path)};
	return (uint32_t)(side->images.n - 1);
}

/* The build-id is not compared: runs of one version may be those of several builds. */
static bool
is_item(const struct st_check_side *side, const struct st_check_item *item,
        const struct st_check_cost *key, uint32_t metric, uint32_t occurrence)
{
	const struct st_match_function *f = &item->function;
	const char *image = f->image == ST_NO_IMAGE ? "" : side->images.v[f->image].path;
	const bool programs = f->image != ST_NO_IMAGE && side->images.v[f->image].is_program &&
	                      side_is_program(side, key->image);
	return item->metric == metric && item->occurrence == occurrence &&
	       is_equal_or_null(item->shown, key->name) && is_equal_or_null(f->file, key->file) &&
	       (programs ||
	        !strcmp(st_base_name(image), st_base_name(key->image ? key->image : "")));
}

static struct st_check_item *
new_item(struct st_check_side *side, const struct st_check_cost *key, uint32_t metric,
         uint32_t occurrence, uint32_t hash)
{
	const uint32_t image = image_number(side, key->image, key->build_id ? key->build_id : "");
	struct st_check_item *item = ST_PUSH(&side->items);
	if (!item || st_hashmap_add(&side->by_name, hash, (uint32_t)(side->items.n - 1)))
		return NULL;
	const char *path = image == ST_NO_IMAGE ? NULL : side->images.v[image].path;
	const bool named = st_match_is_name(key->name, path, key->offset);
	*item = (struct st_check_item){.function = {.name = named ? key->name : NULL,
	                                            .file = key->file,
	                                            .image = image,
	                                            .offset = key->offset},
	                               .shown = key->name,
	                               .metric = metric,
	                               .occurrence = occurrence};
	return item;
}

struct st_check_item *
st_check_item_of(struct st_check_side *side, const struct st_check_cost *key, bool additive,
                 bool joined)
{
	const uint32_t metric = side_metric(side, key->metric, key->unit, key->counts, additive);
	if (metric == UINT32_MAX)
		return NULL;
	for (uint32_t occurrence = 0;; occurrence++) {
		const uint32_t hash = st_hash_numbers(st_hash_text(key->name),
		                                      (uint64_t)metric << 32 | occurrence);
		const uint32_t found =
		        ST_HASHMAP_FIND(&side->by_name, hash, at,
		                        is_item(side, &side->items.v[at], key, metric, occurrence));
		if (found == ST_HASHMAP_NONE)
			return new_item(side, key, metric, occurrence, hash);
		if (joined || side->items.v[found].last_run < side->profiles.n)
			return &side->items.v[found];
	}
}

/* Adds a cost of 0 for the earlier runs that do not have the item. */
static st_status
fill_runs(struct st_check_item *item, size_t n)
{
	while (item->runs.n < n)
		if (!ST_PUSH(&item->runs))
			return ST_FAILED;
	while (item->calls.n && item->calls.n < n)
		if (!ST_PUSH(&item->calls))
			return ST_FAILED;
	return ST_OK;
}

st_status
st_check_set_run(struct st_check_side *side, struct st_check_item *item, double cost, double calls)
{
	if (fill_runs(item, side->profiles.n - 1))
		return ST_FAILED;
	double *run = ST_PUSH(&item->runs), *count = NULL;
	if (!run)
		return ST_FAILED;
	*run = cost;
	item->last_run = (uint32_t)side->profiles.n;
	if (isnan(calls))
		return ST_OK;
	while (item->calls.n < side->profiles.n)
		if (!(count = ST_PUSH(&item->calls)))
			return ST_FAILED;
	*count = calls;
	return ST_OK;
}

st_status
st_check_begin_run(struct st_check_side *side, const struct st_profile *p)
{
	const struct st_profile **slot = ST_PUSH(&side->profiles);
	if (slot)
		*slot = p;
	return slot ? ST_OK : ST_FAILED;
}

st_status
st_check_add_cost(struct st_check_side *side, const struct st_check_cost *cost, const char *metric)
{
	if (metric && strcmp(metric, cost->metric) != 0)
		return ST_OK;
	struct st_check_item *item = st_check_item_of(side, cost, true, false);
	if (!item)
		return ST_FAILED;
	if (cost->code)
		item->code = cost->code;
	return st_check_set_run(side, item, cost->cost,
	                        cost->calls == UINT64_MAX ? NAN : (double)cost->calls);
}

static st_status
add_function_costs(struct st_check_side *side, const struct st_profile *p, const char *metric)
{
	const bool whole = !p->run.native_ns;
	uint64_t *codes = st_rename_codes(p);
	st_status status = codes ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < p->functions.n && !status; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		if (!f->instructions)
			continue;
		const struct st_profile_image *image = &p->images.v[f->image];
		const struct st_check_cost cost = {.metric = ST_CHECK_INSTRUCTIONS,
		                                   .unit = "",
		                                   .image = image->path,
		                                   .build_id = image->build_id,
		                                   .file = f->file,
		                                   .name = f->name,
		                                   .offset = f->offset,
		                                   .cost = (double)f->instructions,
		                                   .calls = f->calls_exact ? f->calls : UINT64_MAX,
		                                   .code = codes[i],
		                                   .counts = whole};
		status = st_check_add_cost(side, &cost, metric);
	}
	side->partial |= !whole && p->functions.n;
	free(codes);
	return status;
}

/* The columns of the table `sites` of strobe mem. */
enum { SITE_FUNCTION, SITE_BYTES = 4, SITE_CALLS, SITE_COLUMNS = 9 };

/* Adds a cost and calls to the run that was begun last: a function has a row for each line. */
static st_status
add_site_cost(struct st_check_side *side, const struct st_check_cost *cost)
{
	struct st_check_item *item = st_check_item_of(side, cost, true, true);
	if (!item)
		return ST_FAILED;
	if (item->last_run != side->profiles.n)
		return st_check_set_run(side, item, cost->cost, (double)cost->calls);
	item->runs.v[item->runs.n - 1] += cost->cost;
	item->calls.v[item->calls.n - 1] += (double)cost->calls;
	return ST_OK;
}

static st_status
add_memory_site(struct st_check_side *side, const struct st_profile_value *row)
{
	const struct st_check_cost cost = {.metric = ST_CHECK_BYTES,
	                                   .unit = "B",
	                                   .name = row[SITE_FUNCTION].text,
	                                   .cost = (double)row[SITE_BYTES].number,
	                                   .calls = row[SITE_CALLS].number,
	                                   .counts = true};
	return add_site_cost(side, &cost);
}

static const struct st_profile_table *
memory_sites_of(const struct st_profile *p)
{
	return st_profile_table_find(p, "mem", "sites", SITE_COLUMNS);
}

bool
st_check_has_bytes(const struct st_profile *p)
{
	const struct st_profile_table *t = memory_sites_of(p);
	return t && t->values.n;
}

static st_status
add_memory_costs(struct st_check_side *side, const struct st_profile *p, const char *metric)
{
	const struct st_profile_table *t = memory_sites_of(p);
	if (!t || (metric && strcmp(metric, ST_CHECK_BYTES) != 0))
		return ST_OK;
	for (size_t i = 0; i + t->n_columns <= t->values.n; i += t->n_columns)
		if (t->values.v[i].text && add_memory_site(side, &t->values.v[i]))
			return ST_FAILED;
	return ST_OK;
}

/* The columns of the table `lock_sites` of the tool locks. */
enum { LOCK_FUNCTION = 1, LOCK_WAIT = 3, LOCK_WAITS, LOCK_COLUMNS = 7 };

static const struct st_profile_table *
lock_sites_of(const struct st_profile *p)
{
	return st_profile_table_find(p, "locks", "lock_sites", LOCK_COLUMNS);
}

bool
st_check_has_waits(const struct st_profile *p)
{
	const struct st_profile_table *t = lock_sites_of(p);
	return t && t->values.n;
}

static st_status
add_lock_site(struct st_check_side *side, const struct st_profile *p,
              const struct st_profile_value *row)
{
	const struct st_profile_value *f = &row[LOCK_FUNCTION];
	const struct st_profile_image *image =
	        f->image < p->images.n ? &p->images.v[f->image] : NULL;
	const bool known = f->function < p->functions.n;
	const struct st_check_cost cost = {.metric = ST_CHECK_WAITS,
	                                   .unit = "ns",
	                                   .image = image ? image->path : NULL,
	                                   .build_id = image ? image->build_id : NULL,
	                                   .file = known ? p->functions.v[f->function].file : NULL,
	                                   .name = f->text,
	                                   .offset = f->number,
	                                   .cost = (double)row[LOCK_WAIT].number,
	                                   .calls = row[LOCK_WAITS].number};
	return add_site_cost(side, &cost);
}

static st_status
add_lock_costs(struct st_check_side *side, const struct st_profile *p, const char *metric)
{
	const struct st_profile_table *t = lock_sites_of(p);
	if (!t || (metric && strcmp(metric, ST_CHECK_WAITS) != 0))
		return ST_OK;
	for (size_t i = 0; i + t->n_columns <= t->values.n; i += t->n_columns)
		if (t->values.v[i + LOCK_FUNCTION].text && add_lock_site(side, p, &t->values.v[i]))
			return ST_FAILED;
	return ST_OK;
}

st_status
st_check_add_profile(struct st_check_side *side, const struct st_profile *p, const char *metric)
{
	if (st_check_begin_run(side, p) || add_function_costs(side, p, metric) ||
	    add_memory_costs(side, p, metric) || add_lock_costs(side, p, metric))
		return ST_FAILED;
	return st_check_add_series(side, p, metric);
}

st_status
st_check_end_runs(struct st_check_side *side)
{
	for (size_t i = 0; i < side->items.n; i++)
		if (side->metrics.v[side->items.v[i].metric].additive &&
		    fill_runs(&side->items.v[i], side->profiles.n))
			return ST_FAILED;
	return ST_OK;
}

void
st_check_side_free(struct st_check_side *side)
{
	for (size_t i = 0; i < side->items.n; i++) {
		free(side->items.v[i].runs.v);
		free(side->items.v[i].calls.v);
		free(side->items.v[i].series.v);
	}
	for (size_t i = 0; i < side->texts.n; i++)
		free(side->texts.v[i]);
	free(side->texts.v);
	free(side->items.v);
	free(side->images.v);
	free(side->metrics.v);
	free(side->profiles.v);
	st_hashmap_free(&side->by_name);
	*side = (struct st_check_side){0};
}
