/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/sites.h"

#include <stdlib.h>
#include <string.h>

#include "blow/locations.h"
#include "blow/origins.h"

/* "usdt:PROVIDER:NAME" */
static bool
site_is_named(const char *name, const struct st_static_probe *probe)
{
	if (st_blow_site_is_line(name))
		return false;
	const size_t prefix = strlen(ST_BLOW_SITE_PREFIX), n = strlen(probe->provider);
	name += prefix;
	return !strncmp(name, probe->provider, n) && name[n] == ':' &&
	       !strcmp(name + n + 1, probe->name);
}

bool
st_blow_sites_have(const struct st_blow_sites *s, const char *image, uint64_t offset)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].offset == offset && !strcmp(s->list.v[i].image, image))
			return true;
	return false;
}

/* name: index in the names of the points. */
static st_status
want_site(struct st_blow_sites *s, const struct st_probed_image *image, uint64_t at, size_t name,
          struct st_wanted_points *to)
{
	struct st_wanted_point *wanted = ST_PUSH(&to->list);
	if (!wanted)
		return ST_FAILED;
	*wanted = (struct st_wanted_point){at, {ST_PROBE_POINT, 0}};
	if (st_blow_sites_have(s, image->path, at))
		return ST_OK;
	struct st_blow_site *site = ST_PUSH(&s->list);
	if (!site)
		return ST_FAILED;
	*site = (struct st_blow_site){image->path, at, name};
	return ST_OK;
}

static st_status
blow_add_site(struct st_blow_sites *s, const struct st_blow_points *p,
              const struct st_probed_image *image, const struct st_static_probe *probe,
              struct st_wanted_points *to)
{
	for (size_t i = 0; i < p->sites.n; i++)
		if (site_is_named(p->sites.v[i], probe))
			return want_site(s, image, probe->address, i, to);
	return ST_OK;
}

/* The first instruction of the line in each function. */
static st_status
blow_add_line(struct st_blow_sites *s, const char *text, size_t name,
              const struct st_probed_image *image, struct st_wanted_points *to)
{
	struct st_blow_locations l = {0};
	struct st_blow_found_list found = {0};
	struct st_error ignored;
	st_status status = st_blow_locations_add(&l, text, &ignored) ||
	                                   st_blow_locations_find(&l, image, &found)
	                           ? ST_FAILED
	                           : ST_OK;
	for (size_t i = 0; i < found.list.n && !status; i++)
		status = want_site(s, image, found.list.v[i].at, name, to);
	st_blow_locations_free(&l);
	free(found.list.v);
	return status;
}

st_status
st_blow_sites_add(struct st_blow_sites *s, const struct st_blow_points *p,
                  const struct st_probed_image *image, struct st_wanted_points *to)
{
	struct st_static_probes all = {0};
	st_status status = ST_OK;
	if (!p || !p->sites.n || !image->image)
		return ST_OK;
	status = st_image_static_probes(image->image, &all);
	for (size_t i = 0; i < all.n && !status; i++)
		status = blow_add_site(s, p, image, &all.v[i], to);
	free(all.v);
	for (size_t i = 0; i < p->sites.n && !status; i++)
		if (st_blow_site_is_line(p->sites.v[i]))
			status = blow_add_line(s, p->sites.v[i], i, image, to);
	return status;
}

uint32_t
st_blow_sites_entry(const struct st_blow_sites *s, const struct st_blow_points *p,
                    const struct st_blow *b, const char *image, uint64_t offset)
{
	for (size_t i = 0; i < s->list.n; i++) {
		if (s->list.v[i].offset != offset || strcmp(s->list.v[i].image, image) != 0)
			continue;
		for (uint32_t k = 0; k < b->functions.n; k++)
			if (b->functions.v[k].progress == ST_BLOW_SITE &&
			    !strcmp(b->functions.v[k].name, p->sites.v[s->list.v[i].name]))
				return k;
	}
	return ST_BLOW_NONE;
}

/* ---- what was found ---- */

static bool
site_is_of_name(const struct st_blow_sites *s, const struct st_probes *probes,
                const struct st_probed_function *f, size_t name)
{
	const char *image = probes->images.v[f->image].path;
	for (size_t i = 0; i < s->list.n && f->is_point; i++)
		if (s->list.v[i].name == name && s->list.v[i].offset == f->offset &&
		    !strcmp(s->list.v[i].image, image))
			return true;
	return false;
}

static bool
was_passed(const struct st_probes *probes, uint32_t number)
{
	const struct st_probe_area *a = probes->process.area;
	for (uint32_t i = 0; i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++) {
		const struct st_probe_cell *c = st_probes_cell(probes, i, number);
		if (c && c->calls)
			return true;
	}
	return false;
}

static bool
is_claimed(const char *refused)
{
	const struct st_probe_site site = {.refusal = ST_REFUSAL_CLAIMED};
	return !strcmp(refused, st_probe_refusal_text(&site));
}

/* NULL: the name is a progress point. */
static const char *
refusal_of_site(const struct st_blow_sites *s, const struct st_probes *probes, size_t name,
                bool is_line)
{
	const char *why =
	        is_line ? "no code belongs to the line: debug information (-g) says which does"
	                : "the program has no such static probe: strobe trace --list-usdt lists "
	                  "them";
	for (size_t i = 0; i < probes->refused.n; i++)
		if (site_is_of_name(s, probes, &probes->refused.v[i], name))
			why = is_claimed(probes->refused.v[i].refused)
			              ? "its bytes are those of another probe, such as the one at "
			                "the entry of the function: name a later line, or use "
			                "--by line"
			              : probes->refused.v[i].refused;
	for (uint32_t i = 0; i < probes->functions.n; i++) {
		if (!site_is_of_name(s, probes, &probes->functions.v[i], name))
			continue;
		if (was_passed(probes, i))
			return NULL;
		why = "it was not passed in the run that selects functions: use another one";
	}
	return why;
}

st_status
st_blow_sites_check(const struct st_blow_sites *s, const struct st_blow_points *p,
                    const struct st_probes *probes, struct st_error *e)
{
	for (size_t i = 0; p && i < p->sites.n; i++) {
		const char *why =
		        refusal_of_site(s, probes, i, st_blow_site_is_line(p->sites.v[i]));
		if (why)
			return st_fail(e, ST_EXIT_FAILED, "--progress %s: %s", p->sites.v[i], why);
	}
	return ST_OK;
}

/* ---- a run ---- */

st_status
st_blow_sites_end(const struct st_blow_sites *s, const struct st_blow_points *p,
                  const struct st_probes *probes, const struct st_blow *b,
                  uint64_t (*paid_ns)(const void *arg, int64_t tid), const void *arg,
                  struct st_blow_run *run)
{
	const struct st_probe_area *a = probes->process.area;
	for (uint32_t k = 0; s->list.n && k < probes->functions.n; k++) {
		const struct st_probed_function *f = &probes->functions.v[k];
		const uint32_t entry =
		        f->is_point ? st_blow_sites_entry(s, p, b, probes->images.v[f->image].path,
		                                          f->offset)
		                    : ST_BLOW_NONE;
		for (uint32_t i = 0;
		     entry != ST_BLOW_NONE && i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++) {
			const struct st_probe_cell *c = st_probes_cell(probes, i, k);
			if (!c || !c->calls)
				continue;
			struct st_blow_sample *sample =
			        st_blow_sample_of(run, entry, st_blow_thread_number(a, i));
			if (!sample)
				return ST_FAILED;
			sample->calls += c->calls;
			sample->noise_ns = paid_ns(arg, a->records[i].tid);
		}
	}
	return ST_OK;
}
