/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "profile/version.h"

enum { KEPT_TEXT = 160 };

struct st_way_choice
st_kept_default_how(void)
{
	return (struct st_way_choice){
	        .kinds = ST_GROWTHS_ALL, .level = 0.95, .parts = 3, .seed = 1};
}

static uint64_t
kept_bits(double value)
{
	uint64_t bits;
	value += 0.0; /* -0 becomes 0 */
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

int64_t
st_kept_hash(const struct st_points *points)
{
	uint64_t sum = points->n;
	for (size_t i = 0; i < points->n; i++) {
		uint64_t state = kept_bits(points->x[i]);
		state = st_random_next(&state) ^ kept_bits(points->y[i]);
		sum += st_random_next(&state);
	}
	return (int64_t)(sum >> 1);
}

/* "constant,linear". */
static const char *
kept_kinds(unsigned kinds, char text[KEPT_TEXT])
{
	*text = 0;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (kinds & 1u << kind)
			st_append(text, KEPT_TEXT, "%s%s", *text ? "," : "", st_growth_name(kind));
	return text;
}

static const char *
kept_noise(enum st_noise noise)
{
	static const char *const words[] = {
#define N(id, name) name,
	        ST_NOISES(N)
#undef N
	};
	return words[noise];
}

/* ---- to rows ---- */

static st_status
kept_add_coefficients(struct st_profile *p, const struct st_regression *m, double level)
{
	for (size_t i = 0; i < st_growth_parameters(m->kind); i++) {
		const struct st_interval in = st_regression_parameter(m, i, level);
		const char name[] = {'b', (char)('0' + i), 0};
		const struct st_kept_coefficient row = {.model = (int64_t)p->kept.models.n,
		                                        .name = name,
		                                        .value = m->b[i],
		                                        .error = m->se[i],
		                                        .low = in.low,
		                                        .high = in.high,
		                                        .p = m->p[i],
		                                        .inverse0 = m->inverse[i][0],
		                                        .inverse1 = m->inverse[i][1],
		                                        .inverse2 = m->inverse[i][2],
		                                        .inverse3 = m->inverse[i][3]};
		if (st_kept_put_coefficient(p, &row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
kept_add_model(struct st_profile *p, const struct st_choice *c, const struct st_regression *m)
{
	const struct st_kept_model row = {.answer = (int64_t)p->kept.answers.n,
	                                  .kind = st_growth_name(m->kind),
	                                  .points = (int64_t)m->n,
	                                  .left_out = (int64_t)m->left_out,
	                                  .x_start = m->x_start,
	                                  .x_end = m->x_end,
	                                  .r_square = m->r_square_perun,
	                                  .r_squared = m->r_square,
	                                  .r_squared_cv = m->r_square_cv,
	                                  .aicc = c->aicc[m->kind],
	                                  .weight = c->weight[m->kind],
	                                  .own_aicc = m->aicc,
	                                  .bic = m->bic,
	                                  .residual_sd = m->s,
	                                  .sse = m->sse,
	                                  .tss = m->tss,
	                                  .squares = m->squares,
	                                  .scatter_level = m->level,
	                                  .curve0 = m->a[0],
	                                  .curve1 = m->a[1],
	                                  .centre = m->centre,
	                                  .log0 = m->logarithms.b[0],
	                                  .log1 = m->logarithms.b[1],
	                                  .log_r_square = m->logarithms.r_square,
	                                  .log_points = (int64_t)m->logarithms.n};
	return st_kept_put_model(p, &row) ? ST_FAILED : kept_add_coefficients(p, m, c->level);
}

static void
kept_set_exponent(struct st_kept_answer *row, const struct st_exponent *b)
{
	row->exponent = b->known ? b->b.at : NAN;
	row->exponent_low = b->known ? b->b.low : NAN;
	row->exponent_high = b->known ? b->b.high : NAN;
	row->exponent_offset = b->known && b->has_offset ? b->offset : NAN;
}

st_status
st_kept_add(struct st_profile *p, const struct st_kept_key *key, const struct st_choice *c,
            size_t segment, size_t n_segments, size_t rows_left_out, int64_t time_ns)
{
	char asked[KEPT_TEXT], plausible[KEPT_TEXT];
	struct st_kept_answer row = {.uid = key->uid,
	                             .metric = key->metric,
	                             .unit = key->unit ? key->unit : "",
	                             .x = key->x,
	                             .source = "strobe " ST_VERSION,
	                             .method = st_way_name(key->how->way),
	                             .kinds = kept_kinds(key->how->kinds, asked),
	                             .noise = kept_noise(key->how->noise),
	                             .parts = (int64_t)key->how->parts,
	                             .seed = (int64_t)key->how->seed,
	                             .level = key->how->level,
	                             .segment = (int64_t)segment,
	                             .segments = (int64_t)n_segments,
	                             .time_ns = time_ns,
	                             .points_hash = key->points_hash,
	                             .rows_left_out = (int64_t)rows_left_out,
	                             .points_compared = (int64_t)c->common,
	                             .plausible = kept_kinds(c->plausible, plausible),
	                             .best = c->best < ST_GROWTH_COUNT ? st_growth_name(c->best)
	                                                               : NULL,
	                             .told = c->told,
	                             .proportional = c->proportional,
	                             .growth = c->growth.at,
	                             .growth_low = c->growth.low,
	                             .growth_high = c->growth.high};
	kept_set_exponent(&row, &c->exponent);
	if (st_kept_put_answer(p, &row))
		return ST_FAILED;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (c->fitted & 1u << kind && kept_add_model(p, c, &c->models[kind]))
			return ST_FAILED;
	return ST_OK;
}

/* ---- which answer ---- */

static bool
kept_is_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Whether the answer is of this subject, by these options. */
static bool
kept_is_of(const struct st_kept_answer *a, const struct st_kept_key *key)
{
	char kinds[KEPT_TEXT];
	const struct st_way_choice *how = key->how;
	const bool in_parts = how->way != ST_WAY_FULL && how->way != ST_WAY_BISECTION;
	return !strcmp(a->uid, key->uid) && !strcmp(a->metric, key->metric) &&
	       !strcmp(a->unit, key->unit ? key->unit : "") && !strcmp(a->x, key->x) &&
	       !strcmp(a->method, st_way_name(how->way)) &&
	       kept_is_text(a->kinds, kept_kinds(how->kinds, kinds)) &&
	       kept_is_text(a->noise, kept_noise(how->noise)) && a->level == how->level &&
	       (!in_parts || (a->parts == (int64_t)how->parts && a->seed == (int64_t)how->seed));
}

bool
st_kept_fits(const struct st_kept_answer *a, const struct st_kept_key *key)
{
	return kept_is_of(a, key) && a->segments == 1 && a->points_hash == key->points_hash;
}

st_status
st_kept_forget(struct st_profile *p, const struct st_kept_key *key)
{
	bool *gone = calloc(p->kept.answers.n + 1, sizeof *gone), any = false;
	if (!gone)
		return ST_FAILED;
	for (size_t i = 0; i < p->kept.answers.n; i++)
		any |= gone[i] = kept_is_of(&p->kept.answers.v[i], key);
	const st_status status = any ? st_kept_remove(&p->kept, gone) : ST_OK;
	free(gone);
	return status;
}

bool
st_kept_is_judged(const struct st_kept_answer *a)
{
	return a->plausible != NULL;
}

enum st_way
st_kept_way(const struct st_kept_answer *a)
{
	enum st_way way = 0;
	while (way < ST_WAY_COUNT && strcmp(st_way_name(way), a->method) != 0)
		way++;
	return way;
}

/* ---- from rows ---- */

static enum st_growth
kept_kind_named(const char *name, size_t n)
{
	enum st_growth kind = 0;
	while (kind < ST_GROWTH_COUNT &&
	       (strlen(st_growth_name(kind)) != n || strncmp(st_growth_name(kind), name, n) != 0))
		kind++;
	return kind;
}

static bool
kept_read_kinds(const char *text, unsigned *kinds)
{
	*kinds = 0;
	while (text && *text) {
		const size_t n = strcspn(text, ",");
		const enum st_growth kind = kept_kind_named(text, n);
		if (kind == ST_GROWTH_COUNT)
			return false;
		*kinds |= 1u << kind;
		text += n + (text[n] == ',');
	}
	return true;
}

static size_t
kept_count(int64_t n)
{
	return n < 0 ? 0 : (size_t)n;
}

static bool
kept_read_coefficients(const struct st_kept *k, size_t model, struct st_regression *m)
{
	const struct st_kept_range range = st_kept_coefficients_of(k, model);
	size_t n = 0;
	for (size_t i = range.begin; i < range.end; i++) {
		const struct st_kept_coefficient *row = &k->coefficients.v[i];
		if (n == ST_GROWTH_PARAMETERS || !isfinite(row->value))
			return false;
		const double inverse[] = {row->inverse0, row->inverse1, row->inverse2,
		                          row->inverse3};
		m->b[n] = row->value;
		m->se[n] = row->error;
		m->p[n] = row->p;
		memcpy(m->inverse[n++], inverse, sizeof inverse);
	}
	return n == st_growth_parameters(m->kind);
}

/* A curve without a centre, which other tools do not have, is the one of its coefficients. */
static void
kept_read_curve(const struct st_kept_model *row, struct st_regression *m)
{
	m->a[0] = row->curve0;
	m->a[1] = row->curve1;
	m->centre = row->centre;
	if (isnan(row->centre)) {
		m->a[0] = m->b[0];
		m->a[1] = m->kind == ST_GROWTH_EXPONENTIAL ? log(m->b[1]) : m->b[1];
		m->centre = 0;
	}
}

static bool
kept_read_model(const struct st_kept *k, size_t model, struct st_choice *c)
{
	const struct st_kept_model *row = &k->models.v[model];
	const enum st_growth kind = kept_kind_named(row->kind, strlen(row->kind));
	if (kind == ST_GROWTH_COUNT || c->fitted & 1u << kind)
		return false;
	struct st_regression *m = &c->models[kind];
	*m = (struct st_regression){.kind = kind,
	                            .n = kept_count(row->points),
	                            .left_out = kept_count(row->left_out),
	                            .x_start = row->x_start,
	                            .x_end = row->x_end,
	                            .s = row->residual_sd,
	                            .sse = row->sse,
	                            .tss = row->tss,
	                            .squares = row->squares,
	                            .level = row->scatter_level,
	                            .r_square = row->r_squared,
	                            .r_square_cv = row->r_squared_cv,
	                            .r_square_perun = row->r_square,
	                            .aicc = row->own_aicc,
	                            .bic = row->bic,
	                            .logarithms = {{row->log0, row->log1},
	                                           row->log_r_square,
	                                           kept_count(row->log_points)}};
	c->aicc[kind] = row->aicc;
	c->weight[kind] = row->weight;
	c->fitted |= 1u << kind;
	if (!kept_read_coefficients(k, model, m))
		return false;
	kept_read_curve(row, m);
	return true;
}

static struct st_exponent
kept_exponent(const struct st_kept_answer *a)
{
	return (struct st_exponent){.b = {a->exponent, a->exponent_low, a->exponent_high},
	                            .known = isfinite(a->exponent),
	                            .has_offset = isfinite(a->exponent_offset),
	                            .offset =
	                                    isfinite(a->exponent_offset) ? a->exponent_offset : 0};
}

st_status
st_kept_choice(const struct st_kept *k, size_t answer, struct st_choice *c)
{
	const struct st_kept_answer *a = &k->answers.v[answer];
	*c = (struct st_choice){.common = kept_count(a->points_compared),
	                        .best = a->best ? kept_kind_named(a->best, strlen(a->best))
	                                        : ST_GROWTH_COUNT,
	                        .told = a->told != 0,
	                        .growth = {a->growth, a->growth_low, a->growth_high},
	                        .exponent = kept_exponent(a),
	                        .level = a->level > 0 && a->level < 1 ? a->level : 0.95,
	                        .proportional = a->proportional != 0};
	const struct st_kept_range range = st_kept_models_of(k, answer);
	for (size_t i = range.begin; i < range.end; i++)
		if (!kept_read_model(k, i, c))
			return ST_FAILED;
	const bool best_is_fitted = c->best < ST_GROWTH_COUNT && c->fitted & 1u << c->best;
	if (!c->fitted || !kept_read_kinds(a->plausible, &c->plausible) ||
	    c->plausible & ~c->fitted)
		return ST_FAILED;
	return (a->best || c->told) && !best_is_fitted ? ST_FAILED : ST_OK;
}

bool
st_kept_find(const struct st_profile *p, const struct st_series *s, const char *x,
             const struct st_points *points, struct st_choice *out)
{
	if (!p->kept.answers.n)
		return false;
	char *uid = st_series_uid(s);
	const struct st_way_choice how = st_kept_default_how();
	const struct st_kept_key key = {.uid = uid ? uid : "",
	                                .metric = s->key.metric,
	                                .unit = s->key.unit,
	                                .x = x ? x : "sequence",
	                                .how = &how,
	                                .points_hash = st_kept_hash(points)};
	bool found = false;
	for (size_t i = 0; i < p->kept.answers.n && !found; i++)
		found = st_kept_fits(&p->kept.answers.v[i], &key) &&
		        st_kept_choice(&p->kept, i, out) == ST_OK;
	free(uid);
	return found;
}
