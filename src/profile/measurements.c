/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of measurements in memory. */
#include "profile/measurements.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "profile/profile.h"

static uint32_t
mix_text(uint32_t h, const char *text)
{
	return st_hash_numbers(h, text ? st_hash_text(text) : UINT32_MAX);
}

static uint32_t
hash_key(const struct st_series_key *k)
{
	const char *const texts[] = {k->kind, k->metric, k->unit,  k->image,
	                             k->file, k->module, k->class, k->function};
	uint32_t h = k->line;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		h = mix_text(h, texts[i]);
	for (size_t i = 0; i < k->n_frames; i++)
		h = st_hash_numbers(mix_text(h, k->frames[i].function), k->frames[i].line);
	for (size_t i = 0; i < k->n_labels; i++)
		h = mix_text(h, k->labels[i].value);
	return h;
}

static bool
same_or_none(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool
same_key(const struct st_series_key *a, const struct st_series_key *b)
{
	if (a->line != b->line || a->n_frames != b->n_frames || a->n_labels != b->n_labels)
		return false;
	for (size_t i = 0; i < a->n_frames; i++)
		if (!same_or_none(a->frames[i].function, b->frames[i].function) ||
		    !same_or_none(a->frames[i].file, b->frames[i].file) ||
		    a->frames[i].line != b->frames[i].line)
			return false;
	for (size_t i = 0; i < a->n_labels; i++)
		if (!same_or_none(a->labels[i].name, b->labels[i].name) ||
		    !same_or_none(a->labels[i].value, b->labels[i].value))
			return false;
	return same_or_none(a->function, b->function) && same_or_none(a->metric, b->metric) &&
	       same_or_none(a->kind, b->kind) && same_or_none(a->unit, b->unit) &&
	       same_or_none(a->image, b->image) && same_or_none(a->file, b->file) &&
	       same_or_none(a->module, b->module) && same_or_none(a->class, b->class);
}

static const char *
copy_or_null(struct st_profile *p, const char *text)
{
	return text ? st_profile_text(p, text) : NULL;
}

/* The arrays of the copy are freed with the series, its texts with the profile. */
static st_status
copy_key(struct st_profile *p, struct st_series_key *to, const struct st_series_key *from)
{
	struct st_series_frame *frames = calloc(from->n_frames + 1, sizeof *frames);
	struct st_series_label *labels = calloc(from->n_labels + 1, sizeof *labels);
	*to = *from;
	to->frames = frames;
	to->labels = labels;
	if (!frames || !labels)
		return ST_FAILED;
	const char **const texts[] = {&to->kind, &to->metric, &to->unit,  &to->image,
	                              &to->file, &to->module, &to->class, &to->function};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*texts[i] = copy_or_null(p, *texts[i]);
	for (size_t i = 0; i < from->n_frames; i++)
		frames[i] = (struct st_series_frame){copy_or_null(p, from->frames[i].function),
		                                     copy_or_null(p, from->frames[i].file),
		                                     from->frames[i].line};
	for (size_t i = 0; i < from->n_labels; i++)
		labels[i] = (struct st_series_label){copy_or_null(p, from->labels[i].name),
		                                     copy_or_null(p, from->labels[i].value)};
	return p->out_of_memory ? ST_FAILED : ST_OK;
}

struct st_series *
st_series_of(struct st_profile *p, const struct st_series_key *key)
{
	struct st_measurements *m = &p->measurements;
	uint32_t hash = hash_key(key);
	uint32_t found = ST_HASHMAP_FIND(&m->by_key, hash, at, same_key(&m->series.v[at].key, key));
	if (found != ST_HASHMAP_NONE)
		return &m->series.v[found];
	struct st_series *s = ST_PUSH(&m->series);
	if (!s || copy_key(p, &s->key, key) ||
	    st_hashmap_add(&m->by_key, hash, (uint32_t)(m->series.n - 1))) {
		p->out_of_memory = true;
		return NULL;
	}
	return s;
}

st_status
st_series_reserve(struct st_series *s, size_t n)
{
	if (n <= s->capacity)
		return ST_OK;
	double *values = reallocarray(s->values, n, sizeof *values);
	if (!values)
		return ST_FAILED;
	s->values = values;
	for (size_t i = 0; i < s->features.n; i++) {
		double *v = reallocarray(s->features.v[i].v, n, sizeof *v);
		if (!v)
			return ST_FAILED;
		s->features.v[i].v = v;
	}
	s->capacity = n;
	return ST_OK;
}

size_t
st_series_add(struct st_series *s, double value)
{
	enum { FIRST = 4 };
	if (s->n == s->capacity && st_series_reserve(s, s->n ? 2 * s->n : FIRST))
		return SIZE_MAX;
	s->values[s->n] = value;
	for (size_t i = 0; i < s->features.n; i++)
		s->features.v[i].v[s->n] = NAN;
	return s->n++;
}

/* The one pointer that the profile has for the name of a feature; NULL: it cannot be had. */
static const char *
feature_name(struct st_profile *p, const char *name)
{
	struct st_measurements *m = &p->measurements;
	for (size_t i = 0; i < m->names.n; i++)
		if (!strcmp(m->names.v[i], name))
			return m->names.v[i];
	const char **added = m->names.n < ST_MOST_FEATURES ? ST_PUSH(&m->names) : NULL;
	if (added)
		*added = st_profile_text(p, name);
	return added ? *added : NULL;
}

static struct st_series_feature *
add_feature(struct st_profile *p, struct st_series *s, const char *name)
{
	struct st_series_feature f = {.name = feature_name(p, name)};
	f.v = f.name ? calloc(s->capacity + 1, sizeof *f.v) : NULL;
	struct st_series_feature *added = f.v ? ST_PUSH(&s->features) : NULL;
	if (!added) {
		free(f.v);
		return NULL;
	}
	for (size_t i = 0; i < s->n; i++)
		f.v[i] = NAN;
	*added = f;
	return added;
}

static struct st_series_feature *
find_feature(const struct st_series *s, const char *name)
{
	for (size_t i = 0; i < s->features.n; i++)
		if (s->features.v[i].name == name || !strcmp(s->features.v[i].name, name))
			return &s->features.v[i];
	return NULL;
}

st_status
st_series_set(struct st_profile *p, struct st_series *s, const char *feature, size_t at,
              double value)
{
	struct st_series_feature *f = find_feature(s, feature);
	if (!f)
		f = add_feature(p, s, feature);
	if (!f)
		return ST_FAILED;
	f->v[at] = value;
	return ST_OK;
}

const double *
st_series_feature(const struct st_series *s, const char *feature)
{
	const struct st_series_feature *f = find_feature(s, feature);
	return f ? f->v : NULL;
}

static const struct {
	const char *name;
	bool independent;
} known[] = {
#define ST_FEATURE(id, name, independent) {name, independent},
        ST_FEATURES(ST_FEATURE)
#undef ST_FEATURE
};
enum { N_KNOWN = sizeof known / sizeof *known };

static bool
is_known_feature(const char *feature)
{
	for (size_t i = 0; i < N_KNOWN; i++)
		if (!strcmp(known[i].name, feature))
			return true;
	return false;
}

const char *
st_series_default_feature(const struct st_series *s)
{
	for (size_t i = 0; i < N_KNOWN; i++)
		if (known[i].independent && find_feature(s, known[i].name))
			return known[i].name;
	for (size_t i = 0; i < s->features.n; i++)
		if (!is_known_feature(s->features.v[i].name))
			return s->features.v[i].name;
	return find_feature(s, ST_FEATURE_REPETITION) ? ST_FEATURE_REPETITION : NULL;
}

const char *
st_series_label(const struct st_series *s, const char *name)
{
	for (size_t i = 0; i < s->key.n_labels; i++)
		if (!strcmp(s->key.labels[i].name, name))
			return s->key.labels[i].value;
	return NULL;
}

char *
st_series_uid(const struct st_series *s)
{
	const struct st_series_key *k = &s->key;
	const char *const parts[] = {k->image, k->file, k->module, k->class, k->function};
	struct st_text built;
	FILE *out = st_text_begin(&built);
	const char *colon = "";
	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i]) {
			fprintf(out, "%s%s", colon, parts[i]);
			colon = ":";
		}
	if (k->line)
		fprintf(out, "%s%u", colon, k->line);
	else if (!*colon)
		fputs(k->metric, out);
	return st_text_end(&built);
}

void
st_measurements_free(struct st_measurements *m)
{
	for (size_t i = 0; i < m->series.n; i++) {
		struct st_series *s = &m->series.v[i];
		for (size_t f = 0; f < s->features.n; f++)
			free(s->features.v[f].v);
		free(s->features.v);
		free(s->values);
		free((void *)(uintptr_t)s->key.frames);
		free((void *)(uintptr_t)s->key.labels);
	}
	free(m->series.v);
	free(m->names.v);
	st_hashmap_free(&m->by_key);
}
