/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/points.h"

#include <stdlib.h>
#include <string.h>

#include "blow/corpus.h"
#include "blow/infer.h"
#include "blow/locations.h"
#include "qos/meter.h"

/* ---- the user's list ---- */

static st_status
add_source(struct st_blow_points *p, const char *name, struct st_error *e)
{
	struct st_qos_meter *meter =
	        st_qos_meter_open(name + strlen(ST_BLOW_SOURCE_PREFIX), "--progress qos", e);
	if (!meter)
		return ST_FAILED;
	char *copy = strdup(name);
	struct st_blow_source *slot = copy ? ST_PUSH(&p->sources) : NULL;
	if (slot) {
		slot->name = copy;
		slot->meter = meter;
		return ST_OK;
	}
	free(copy);
	st_qos_meter_free(meter);
	return st_fail(e, ST_EXIT_FAILED, "out of memory");
}

bool
st_blow_site_is_line(const char *site)
{
	return strncmp(site, ST_BLOW_SITE_PREFIX, strlen(ST_BLOW_SITE_PREFIX)) != 0;
}

static st_status
keep_site(struct st_blow_points *p, const char *name, struct st_error *e)
{
	char *copy = strdup(name), **slot = copy ? ST_PUSH(&p->sites) : NULL;
	if (slot)
		*slot = copy;
	else
		free(copy);
	return slot ? ST_OK : st_fail(e, ST_EXIT_FAILED, "out of memory");
}

static st_status
add_named_site(struct st_blow_points *p, const char *name, struct st_error *e)
{
	const char *provider = name + strlen(ST_BLOW_SITE_PREFIX), *colon = strchr(provider, ':');
	if (!colon || colon == provider || !colon[1] || strchr(colon + 1, ':'))
		return st_fail(e, ST_EXIT_USAGE,
		               "--progress takes usdt:PROVIDER:NAME for a static probe, not '%s'",
		               name);
	return keep_site(p, name, e);
}

/* Whether the value is FILE:LINE; no function has a name like that. */
static bool
names_line(const char *value)
{
	const char *colon = strrchr(value, ':');
	return colon && colon != value && colon[-1] != ':' && colon[1] &&
	       !colon[1 + strspn(colon + 1, "0123456789")];
}

static st_status
add_point_line(struct st_blow_points *p, const char *value, struct st_error *e)
{
	struct st_blow_locations l = {0};
	const st_status status = st_blow_locations_add(&l, value, e);
	st_blow_locations_free(&l);
	return status ? st_fail(e, ST_EXIT_USAGE,
	                        "--progress takes FILE:LINE with a line from 1 on, not '%s'", value)
	              : keep_site(p, value, e);
}

/* Two colons are part of a name of C++. */
static bool
has_prefix(const char *value, const char *prefix)
{
	const size_t n = strlen(prefix);
	return !strncmp(value, prefix, n) && value[n] != ':';
}

st_status
st_blow_points_add(struct st_blow_points *p, const char *value, struct st_error *e)
{
	if (!strcmp(value, ST_BLOW_INFER)) {
		p->automatic = true;
		return ST_OK;
	}
	if (has_prefix(value, ST_BLOW_SOURCE_PREFIX))
		return add_source(p, value, e);
	if (has_prefix(value, ST_BLOW_SITE_PREFIX))
		return add_named_site(p, value, e);
	if (names_line(value))
		return add_point_line(p, value, e);
	return st_patterns_add(&p->calls, "progress", value, e);
}

bool
st_blow_points_empty(const struct st_blow_points *p)
{
	return !p ||
	       (!p->automatic && !p->calls.n && !p->sources.n && !p->latencies.n && !p->sites.n);
}

void
st_blow_points_free(struct st_blow_points *p)
{
	for (size_t i = 0; i < p->sources.n; i++) {
		free(p->sources.v[i].name);
		st_qos_meter_free(p->sources.v[i].meter);
	}
	for (size_t i = 0; i < p->latencies.n; i++) {
		free(p->latencies.v[i].name);
		st_patterns_free(&p->latencies.v[i].begin);
		st_patterns_free(&p->latencies.v[i].end);
	}
	for (size_t i = 0; i < p->sites.n; i++)
		free(p->sites.v[i]);
	free(p->sites.v);
	free(p->latencies.v);
	free(p->sources.v);
	st_patterns_free(&p->calls);
	*p = (struct st_blow_points){0};
}

/* ---- the list of functions ---- */

enum st_blow_point_kind
st_blow_points_function(const struct st_blow_points *p, const char *name, const char *raw_name)
{
	enum st_blow_point_kind kind = ST_BLOW_NO_POINT;
	if (p && st_blow_fits(name, raw_name, &p->calls))
		kind = ST_BLOW_CALLS;
	for (size_t i = 0; p && i < p->latencies.n && kind != ST_BLOW_CALLS; i++) {
		const struct st_blow_latency *l = &p->latencies.v[i];
		if (st_blow_fits(name, raw_name, l->same ? &l->begin : &l->end))
			kind = ST_BLOW_CALLS;
		else if (st_blow_fits(name, raw_name, &l->begin))
			kind = ST_BLOW_BEGINS;
	}
	return kind;
}

/* The kind of a point of the name that is no function. */
static enum st_blow_point_kind
kind_of_name(const struct st_blow_points *p, const char *name)
{
	for (size_t i = 0; p && i < p->sources.n; i++)
		if (!strcmp(p->sources.v[i].name, name))
			return ST_BLOW_SOURCE;
	for (size_t i = 0; p && i < p->latencies.n; i++)
		if (!strcmp(p->latencies.v[i].name, name))
			return ST_BLOW_LATENCY;
	for (size_t i = 0; p && i < p->sites.n; i++)
		if (!strcmp(p->sites.v[i], name))
			return ST_BLOW_SITE;
	return ST_BLOW_NO_POINT;
}

enum st_blow_point_kind
st_blow_points_kind(const struct st_blow_points *p, const struct st_blow_function *f)
{
	if (st_blow_is_function(f) && f->traits & ST_BLOW_IS_INFERRED)
		return ST_BLOW_CALLS;
	if (st_blow_is_function(f))
		return f->why ? ST_BLOW_NO_POINT : st_blow_points_function(p, f->name, f->raw_name);
	return kind_of_name(p, f->name);
}

static st_status
list_point(struct st_blow *b, const char *name)
{
	const char *kept = st_blow_text(b, name);
	struct st_blow_function *f = kept ? ST_PUSH(&b->functions) : NULL;
	if (!f)
		return ST_FAILED;
	*f = (struct st_blow_function){.name = kept, .raw_name = kept, .image = ""};
	return ST_OK;
}

st_status
st_blow_points_list(const struct st_blow_points *p, struct st_blow *b)
{
	st_status status = ST_OK;
	for (size_t i = 0; p && i < p->sources.n && !status; i++)
		status = list_point(b, p->sources.v[i].name);
	for (size_t i = 0; p && i < p->sites.n && !status; i++)
		status = list_point(b, p->sites.v[i]);
	for (size_t i = 0; p && i < p->latencies.n && !status; i++)
		status = list_point(b, p->latencies.v[i].name);
	return status;
}

/* ---- metrics ---- */

void
st_blow_sources_begin(const struct st_blow_points *p)
{
	for (size_t i = 0; p && i < p->sources.n; i++)
		st_qos_meter_begin(p->sources.v[i].meter);
}

st_status
st_blow_sources_check(const struct st_blow_points *p, struct st_error *e)
{
	for (size_t i = 0; p && i < p->sources.n; i++) {
		double value;
		struct st_qos_meter *meter = p->sources.v[i].meter;
		if (!st_qos_meter_end(meter, &value))
			return st_fail(e, ST_EXIT_FAILED, "--progress %s: %s", p->sources.v[i].name,
			               st_qos_meter_why(meter));
	}
	return ST_OK;
}

static st_status
add_source_sample(const struct st_blow *b, const char *name, double work, uint64_t paid_ns,
                  struct st_blow_run *run)
{
	for (uint32_t i = 0; i < b->functions.n; i++) {
		if (b->functions.v[i].progress != ST_BLOW_SOURCE ||
		    strcmp(b->functions.v[i].name, name) != 0)
			continue;
		struct st_blow_sample *s = ST_PUSH(&run->samples);
		if (!s)
			return ST_FAILED;
		*s = (struct st_blow_sample){.function = i,
		                             .calls = (uint64_t)(work * ST_BLOW_SOURCE_UNIT + 0.5),
		                             .noise_ns = paid_ns};
	}
	return ST_OK;
}

st_status
st_blow_sources_end(const struct st_blow_points *p, const struct st_blow *b, uint64_t paid_ns,
                    struct st_blow_run *run)
{
	const double seconds = (double)run->total_ns * 1e-9;
	st_status status = ST_OK;
	for (size_t i = 0; p && i < p->sources.n && !status; i++) {
		double rate;
		if (st_qos_meter_end(p->sources.v[i].meter, &rate) && rate >= 0 &&
		    rate * seconds < 1e12)
			status = add_source_sample(b, p->sources.v[i].name, rate * seconds, paid_ns,
			                           run);
	}
	st_blow_sort_samples(run);
	return status;
}
