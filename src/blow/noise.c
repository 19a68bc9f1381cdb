/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/noise.h"

#include <math.h>
#include <string.h>

#include "wire/probe.h"

static const struct {
	const char *name, *unit;
	uint64_t ns;
} kinds[] = {
#define N(id, name, unit, ns) [ST_BLOW_##id] = {name, unit, ns},
        ST_BLOW_NOISES(N)
#undef N
};

const char *
st_blow_noise_name(enum st_blow_noise_type type)
{
	return kinds[type].name;
}

const char *
st_blow_noise_unit(enum st_blow_noise_type type)
{
	return kinds[type].unit;
}

bool
st_blow_noise_named(const char *name, enum st_blow_noise_type *type)
{
	for (int i = 0; i < ST_BLOW_NOISE_COUNT; i++)
		if (!strcmp(kinds[i].name, name)) {
			*type = (enum st_blow_noise_type)i;
			return true;
		}
	return false;
}

uint64_t
st_blow_noise_ns(struct st_blow_noise noise)
{
	const uint64_t unit = kinds[noise.type].ns;
	return unit && noise.strength > UINT64_MAX / unit ? UINT64_MAX : noise.strength * unit;
}

uint64_t
st_blow_noise_word(struct st_blow_noise noise, bool at_end, double tsc_hz)
{
	const double ns = (double)st_blow_noise_ns(noise),
	             amount = noise.type == ST_BLOW_BUSY    ? ns * 1e-9 * tsc_hz
	                      : noise.type == ST_BLOW_YIELD ? (double)noise.strength
	                                                    : ns;
	const enum st_probe_kind kind = noise.type == ST_BLOW_BUSY    ? ST_PROBE_WAIT
	                                : noise.type == ST_BLOW_YIELD ? ST_PROBE_YIELD
	                                                              : ST_PROBE_SLEEP;
	const uint64_t word =
	        st_probe_noise(kind, amount < UINT32_MAX ? (uint32_t)(amount + 0.5) : UINT32_MAX);
	return word && at_end ? word | ST_PROBE_AT_END : word;
}

/* ---- the database ---- */

static st_status
add_noise(struct st_blow_noises *out, enum st_blow_noise_type type, uint64_t strength)
{
	struct st_blow_noise *noise = ST_PUSH(&out->list);
	if (!noise)
		return ST_FAILED;
	*noise = (struct st_blow_noise){type, strength};
	return ST_OK;
}

/* Skips strengths that round to 0 or to the previous strength. */
static st_status
add_strengths(struct st_blow_noises *out, enum st_blow_noise_type type, struct st_blow_bounds b,
              double factor, const struct st_blow_choice *c)
{
	enum { MOST_STRENGTHS = 1000 };
	uint64_t last = 0;
	double at = (double)b.least;
	bool above = false;
	for (int i = 0; i < MOST_STRENGTHS && !above; i++, at *= c->growth) {
		const uint64_t strength = (uint64_t)(at * factor + 0.5);
		above = at > (double)b.most;
		if (strength == last || (above && !c->above))
			continue;
		if (add_noise(out, type, strength))
			return ST_FAILED;
		last = strength;
	}
	return ST_OK;
}

static st_status
add_speedups(struct st_blow_noises *out)
{
	for (uint64_t percent = 25; percent <= 100; percent += 25)
		if (add_noise(out, ST_BLOW_VIRTUAL, percent))
			return ST_FAILED;
	return ST_OK;
}

st_status
st_blow_database(const struct st_blow_choice *c, struct st_blow_noises *out)
{
	const double us = 1000;
	*out = (struct st_blow_noises){0};
	for (int i = 0; i < ST_BLOW_VIRTUAL; i++) {
		const enum st_blow_noise_type type = (enum st_blow_noise_type)i;
		const struct st_blow_bounds b = type == ST_BLOW_YIELD  ? c->yield
		                                : type == ST_BLOW_BUSY ? c->busy
		                                                       : c->timed;
		const double factor = kinds[i].ns ? us / (double)kinds[i].ns : 1;
		if (c->types[i] && add_strengths(out, type, b, factor, c))
			return ST_FAILED;
	}
	return c->types[ST_BLOW_VIRTUAL] ? add_speedups(out) : ST_OK;
}

st_status
st_blow_speedup_noises(double sampling, double mean_ns, struct st_blow_noises *out)
{
	/* Half of an ulp or so: ten tenths are the whole. */
	const double whole = 1 + 1e-9;
	*out = (struct st_blow_noises){0};
	for (int k = 1; k * sampling <= whole; k++) {
		const uint64_t ns = (uint64_t)(k * sampling * mean_ns + 0.5);
		if (ns && add_noise(out, ST_BLOW_NANOSLEEP, ns))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- the noise of a function ---- */

static double
expected_ns(struct st_blow_noise noise, double yield_ns)
{
	return noise.type == ST_BLOW_YIELD ? (double)noise.strength * yield_ns
	                                   : (double)st_blow_noise_ns(noise);
}

static bool
does_the_same(const struct st_blow_noises *out, struct st_blow_noise noise)
{
	if (noise.type != ST_BLOW_USLEEP && noise.type != ST_BLOW_SLEEP)
		return false;
	for (size_t i = 0; i < out->list.n; i++) {
		const struct st_blow_noise *other = &out->list.v[i];
		if (other->type < ST_BLOW_YIELD &&
		    st_blow_noise_ns(*other) == st_blow_noise_ns(noise))
			return true;
	}
	return false;
}

/* A sleep takes about 60 us longer than asked for, so short noise is a busy wait. */
static st_status
add_adapted(struct st_blow_noises *out, double ns)
{
	const double short_ns = 200e3;
	const enum st_blow_noise_type type = ns < short_ns ? ST_BLOW_BUSY : ST_BLOW_NANOSLEEP;
	const uint64_t whole = ns < 2 ? 2 : (uint64_t)ns;
	return add_noise(out, type, whole / 2) || add_noise(out, type, whole) ? ST_FAILED : ST_OK;
}

st_status
st_blow_noises_for(const struct st_blow_noises *database, uint64_t calls, double run_ns,
                   double most, double yield_ns, struct st_blow_noises *out)
{
	const double allowed = most * run_ns / (double)(calls ? calls : 1);
	*out = (struct st_blow_noises){0};
	for (size_t i = 0; i < database->list.n; i++) {
		const struct st_blow_noise noise = database->list.v[i];
		if (expected_ns(noise, yield_ns) > allowed || does_the_same(out, noise))
			continue;
		if (add_noise(out, noise.type, noise.strength))
			return ST_FAILED;
	}
	return out->list.n ? ST_OK : add_adapted(out, allowed);
}
