/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ways.h"

#include <math.h>

#include "base/random.h"

enum { FEWEST_OF_PART = 5 };

struct ordered {
	const struct st_way_choice *w;
	double *x, *y; /* in the order in which points are taken */
	size_t n;
	struct st_segments *out;
};

const char *
st_way_name(enum st_way way)
{
	static const char *const names[] = {
#define W(id, name) name,
	        ST_WAYS(W)
#undef W
	};
	return names[way];
}

void
st_segments_free(struct st_segments *s)
{
	free(s->list.v);
	*s = (struct st_segments){0};
}

static st_status
add_segment(struct ordered *o, const struct st_choice *c, struct st_error *e)
{
	struct st_choice *list =
	        st_vec_grow(o->out->list.v, o->out->list.n, &o->out->list.cap, sizeof *list);
	if (!list)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	o->out->list.v = list;
	list[o->out->list.n++] = *c;
	return ST_OK;
}

static st_status
choose_kind(const struct ordered *o, size_t from, size_t to, unsigned kinds, struct st_choice *c,
            struct st_error *e)
{
	const struct st_points part = {.x = o->x + from, .y = o->y + from, .n = to - from};
	return st_choice_make(c, &part, kinds, o->w->noise, o->w->level, e);
}

struct point {
	double x, y;
	size_t at;
};

static int
compare_points(const void *a, const void *b)
{
	const struct point *p = a, *q = b;
	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

static void
shuffle_points(struct point *v, size_t n, uint64_t seed)
{
	for (size_t i = n; i > 1; i--) {
		const size_t k = st_random_below(&seed, i);
		const struct point moved = v[i - 1];
		v[i - 1] = v[k];
		v[k] = moved;
	}
}

/* By x, or in random order. */
static st_status
take_in_order(struct ordered *o, const struct st_points *points)
{
	struct point *v = malloc((points->n + 1) * sizeof *v);
	o->n = points->n;
	o->x = malloc((o->n + 1) * sizeof *o->x);
	o->y = malloc((o->n + 1) * sizeof *o->y);
	const bool complete = v && o->x && o->y;
	for (size_t i = 0; complete && i < o->n; i++)
		v[i] = (struct point){points->x[i], points->y[i], i};
	if (complete && (o->w->way == ST_WAY_INTERVAL || o->w->way == ST_WAY_BISECTION))
		qsort(v, o->n, sizeof *v, compare_points);
	else if (complete && o->w->way != ST_WAY_FULL)
		shuffle_points(v, o->n, o->w->seed);
	for (size_t i = 0; complete && i < o->n; i++) {
		o->x[i] = v[i].x;
		o->y[i] = v[i].y;
	}
	free(v);
	return complete ? ST_OK : ST_FAILED;
}

/* Where the part begins, moved on to where x changes if parts go by x. */
static size_t
part_begin(const struct ordered *o, size_t part)
{
	size_t at = o->n * part / o->w->parts;
	const bool by_x = o->w->way == ST_WAY_INTERVAL;
	while (by_x && at && at < o->n && o->x[at] == o->x[at - 1])
		at++;
	return at;
}

/* The kind that is used: told or not, the best of the plausible ones; without them, the first. */
static enum st_growth
used_kind(const struct st_choice *c)
{
	enum st_growth kind = c->best;
	for (enum st_growth k = 0; kind == ST_GROWTH_COUNT && k < ST_GROWTH_COUNT; k++)
		kind = c->fitted & 1u << k ? k : kind;
	return kind;
}

static st_status
model_full(struct ordered *o, unsigned kinds, struct st_error *e)
{
	struct st_choice c;
	return choose_kind(o, 0, o->n, kinds, &c, e) ? ST_FAILED : add_segment(o, &c, e);
}

static st_status
model_initial_guess(struct ordered *o, struct st_error *e)
{
	struct st_choice c;
	if (choose_kind(o, 0, part_begin(o, 1), o->w->kinds, &c, e))
		return ST_FAILED;
	return model_full(o, 1u << used_kind(&c), e);
}

/* The AICc of each point, so that kinds with other numbers of points compare: the points are a
 * random choice for each of them. INFINITY: the kind does not fit the first parts. */
static double
aicc_of_point(const struct ordered *o, enum st_growth kind, size_t parts)
{
	const struct st_points some = {.x = o->x, .y = o->y, .n = part_begin(o, parts)};
	struct st_regression m;
	return st_regression_fit(kind, &some, &m, NULL) || m.left_out ? INFINITY
	                                                              : m.aicc / (double)m.n;
}

static st_status
model_iterative(struct ordered *o, struct st_error *e)
{
	double aicc[ST_GROWTH_COUNT];
	size_t taken[ST_GROWTH_COUNT];
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		taken[kind] = 1;
		aicc[kind] = o->w->kinds & 1u << kind ? aicc_of_point(o, kind, 1) : INFINITY;
	}
	for (;;) {
		enum st_growth best = 0;
		for (enum st_growth kind = 1; kind < ST_GROWTH_COUNT; kind++)
			if (aicc[kind] < aicc[best])
				best = kind;
		if (aicc[best] == INFINITY) /* the first part is too small for any */
			return model_full(o, o->w->kinds, e);
		if (taken[best] == o->w->parts)
			return model_full(o, 1u << best, e);
		aicc[best] = aicc_of_point(o, best, ++taken[best]);
	}
}

static st_status
model_intervals(struct ordered *o, struct st_error *e)
{
	for (size_t part = 0; part < o->w->parts; part++) {
		struct st_choice c;
		const size_t from = part_begin(o, part), to = part_begin(o, part + 1);
		if (from == to)
			continue;
		if (choose_kind(o, from, to, o->w->kinds, &c, e) || add_segment(o, &c, e))
			return ST_FAILED;
	}
	return ST_OK;
}

/* The middle, where x changes; `from`: nowhere, or a half is too small. */
static size_t
middle_of(const struct ordered *o, size_t from, size_t to)
{
	size_t at = from + (to - from) / 2;
	while (at < to && o->x[at] == o->x[at - 1])
		at++;
	return at - from < FEWEST_OF_PART || to - at < FEWEST_OF_PART ? from : at;
}

static double
criterion_of(const struct st_choice *c)
{
	return c->aicc[used_kind(c)];
}

static st_status
bisect_part(struct ordered *o, size_t from, size_t to, const struct st_choice *whole,
            struct st_error *e)
{
	const size_t middle = to - from < 2 * FEWEST_OF_PART ? from : middle_of(o, from, to);
	struct st_choice halves[2];
	if (middle == from || choose_kind(o, from, middle, o->w->kinds, &halves[0], NULL) ||
	    choose_kind(o, middle, to, o->w->kinds, &halves[1], NULL))
		return add_segment(o, whole, e);
	const enum st_growth kind = used_kind(whole);
	if (!(criterion_of(&halves[0]) + criterion_of(&halves[1]) + ST_PLAUSIBLE_AICC <
	      criterion_of(whole)))
		return add_segment(o, whole, e);
	const bool differ[2] = {used_kind(&halves[0]) != kind, used_kind(&halves[1]) != kind};
	if (!differ[0] && !differ[1])
		return add_segment(o, whole, e);
	if (differ[0] ? bisect_part(o, from, middle, &halves[0], e) : add_segment(o, &halves[0], e))
		return ST_FAILED;
	return differ[1] ? bisect_part(o, middle, to, &halves[1], e)
	                 : add_segment(o, &halves[1], e);
}

static st_status
model_bisection(struct ordered *o, struct st_error *e)
{
	struct st_choice whole;
	return choose_kind(o, 0, o->n, o->w->kinds, &whole, e) ? ST_FAILED
	                                                       : bisect_part(o, 0, o->n, &whole, e);
}

static st_status
model_in_order(struct ordered *o, struct st_error *e)
{
	switch (o->w->way) {
	case ST_WAY_ITERATIVE:
		return model_iterative(o, e);
	case ST_WAY_INITIAL_GUESS:
		return model_initial_guess(o, e);
	case ST_WAY_INTERVAL:
		return model_intervals(o, e);
	case ST_WAY_BISECTION:
		return model_bisection(o, e);
	default:
		return model_full(o, o->w->kinds, e);
	}
}

st_status
st_ways_model(const struct st_way_choice *w, const struct st_points *points,
              struct st_segments *out, struct st_error *e)
{
	struct ordered o = {.w = w, .out = out};
	*out = (struct st_segments){0};
	const st_status status =
	        take_in_order(&o, points)
	                ? st_fail(e, ST_EXIT_FAILED, "no memory left for the models")
	                : model_in_order(&o, e);
	free(o.x);
	free(o.y);
	return status;
}
