/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches the functions of both sides, compares their counts, and finds the callers that call them
 * more often. */
#include "gate/functions.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "check/match.h"
#include "gate/code.h"
#include "profile/profile.h"

enum { NOWHERE = UINT32_MAX, MOST_CALLERS = 3 };

/* A function of either side, by its number in the match of both. */
struct matched {
	uint32_t at[ST_GATE_SIDES]; /* index in the first profile of the side; NOWHERE: in none */
	double instructions[ST_GATE_SIDES][ST_GATE_MOST_RUNS];
	double calls[ST_GATE_SIDES][ST_GATE_MOST_RUNS];
	enum st_gate_code code;
	bool compared;
};

struct comparison {
	struct st_gate_counts *c;
	struct st_match match;
	struct matched *v;
	struct st_gate_images images;
};

/* ---- matching ---- */

static st_status
functions_side(const struct st_profile *p, struct st_match_side *s)
{
	struct st_match_image *images = calloc(p->images.n + 1, sizeof *images);
	struct st_match_function *functions = calloc(p->functions.n + 1, sizeof *functions);
	*s = (struct st_match_side){images, p->images.n, functions, p->functions.n};
	if (!images || !functions)
		return ST_FAILED;
	for (size_t i = 0; i < p->images.n; i++) {
		const struct st_profile_image *image = &p->images.v[i];
		images[i] = (struct st_match_image){image->path, image->build_id,
		                                    st_profile_is_program(p, image->path)};
	}
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		const char *image = p->images.v[f->image].path;
		const bool named = st_match_is_name(f->name, image, f->offset);
		functions[i] = (struct st_match_function){.name = named ? f->name : NULL,
		                                          .file = f->file,
		                                          .image = f->image,
		                                          .artificial = !f->size,
		                                          .offset = f->offset};
	}
	return ST_OK;
}

static st_status
functions_match(const struct st_profile *a, const struct st_profile *b, struct st_match *m)
{
	struct st_match_side sides[ST_SIDES] = {0};
	st_status status = functions_side(a, &sides[ST_A]);
	*m = (struct st_match){0};
	if (!status)
		status = functions_side(b, &sides[ST_B]);
	if (!status)
		status = st_match_make(m, sides);
	for (int side = 0; side < ST_SIDES; side++) {
		free((void *)(uintptr_t)sides[side].images);
		free((void *)(uintptr_t)sides[side].functions);
	}
	return status;
}

static void
functions_take(struct matched *m, int side, size_t run, const struct st_profile_function *f)
{
	m->instructions[side][run] += (double)f->instructions;
	m->calls[side][run] += (double)f->calls;
}

/* Takes the counts of a further run, whose functions are matched with those of the first run. */
static st_status
functions_take_run(struct comparison *x, int side, size_t run)
{
	const struct st_profile *first = x->c->profiles[side][0], *p = x->c->profiles[side][run];
	struct st_match m;
	st_status status = functions_match(first, p, &m);
	uint32_t *to = status ? NULL : malloc((m.n_functions + 1) * sizeof *to);
	if (to) {
		for (size_t i = 0; i < m.n_functions; i++)
			to[i] = NOWHERE;
		for (size_t i = 0; i < first->functions.n; i++)
			to[m.function[ST_A][i]] = x->match.function[side][i];
		for (size_t i = 0; i < p->functions.n; i++) {
			const uint32_t at = to[m.function[ST_B][i]];
			if (at != NOWHERE)
				functions_take(&x->v[at], side, run, &p->functions.v[i]);
		}
	}
	st_match_free(&m);
	free(to);
	return to ? ST_OK : ST_FAILED;
}

static st_status
functions_compare(struct comparison *x, struct st_gate_counts *c)
{
	*x = (struct comparison){.c = c};
	if (functions_match(c->profiles[ST_GATE_BASE][0], c->profiles[ST_GATE_TARGET][0],
	                    &x->match))
		return ST_FAILED;
	x->v = calloc(x->match.n_functions + 1, sizeof *x->v);
	if (!x->v)
		return ST_FAILED;
	for (size_t i = 0; i < x->match.n_functions; i++)
		x->v[i].at[ST_GATE_BASE] = x->v[i].at[ST_GATE_TARGET] = NOWHERE;
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		const struct st_profile *p = c->profiles[side][0];
		for (uint32_t i = 0; i < p->functions.n; i++) {
			struct matched *m = &x->v[x->match.function[side][i]];
			m->at[side] = i;
			functions_take(m, side, 0, &p->functions.v[i]);
		}
		for (size_t run = 1; run < c->runs; run++)
			if (functions_take_run(x, side, run))
				return ST_FAILED;
	}
	return ST_OK;
}

static void
comparison_free(struct comparison *x)
{
	st_match_free(&x->match);
	free(x->v);
	st_gate_images_free(&x->images);
}

/* ---- code ---- */

static struct st_gate_place
functions_place(const struct comparison *x, const struct matched *m, int side)
{
	const struct st_profile *p = x->c->profiles[side][0];
	const struct st_profile_function *f = &p->functions.v[m->at[side]];
	const struct st_profile_image *image = &p->images.v[f->image];
	return (struct st_gate_place){image->path, image->build_id, f->offset, f->size};
}

/* Whether the side that did not execute a function has the same build of its image, and therefore
 * the function. */
static bool
functions_build_is_the_same(const struct comparison *x, const struct matched *m)
{
	const int there = m->at[ST_GATE_BASE] != NOWHERE ? ST_GATE_BASE : ST_GATE_TARGET;
	const struct st_profile *other = x->c->profiles[!there][0];
	const struct st_gate_place place = functions_place(x, m, there);
	for (size_t i = 0; i < other->images.n && m->at[!there] == NOWHERE; i++)
		if (*place.build_id && !strcmp(other->images.v[i].build_id, place.build_id))
			return true;
	return false;
}

static enum st_gate_code
functions_code(struct comparison *x, struct matched *m)
{
	if (m->compared)
		return m->code;
	m->compared = true;
	if (functions_build_is_the_same(x, m))
		m->code = ST_GATE_CODE_SAME;
	else if (m->at[ST_GATE_BASE] == NOWHERE)
		m->code = ST_GATE_CODE_NEW;
	else if (m->at[ST_GATE_TARGET] == NOWHERE)
		m->code = ST_GATE_CODE_GONE;
	else
		m->code = st_gate_compare_code(
		        &x->images,
		        (struct st_gate_place[]){functions_place(x, m, ST_GATE_BASE),
		                                 functions_place(x, m, ST_GATE_TARGET)});
	return m->code;
}

/* ---- callers ---- */

static const struct st_profile_function *
functions_shown(const struct comparison *x, const struct matched *m)
{
	const int side = m->at[ST_GATE_TARGET] != NOWHERE ? ST_GATE_TARGET : ST_GATE_BASE;
	return &x->c->profiles[side][0]->functions.v[m->at[side]];
}

static st_status
callers_add(struct comparison *x, struct st_gate_function *f, int side, uint32_t caller,
            double calls)
{
	struct matched *m = &x->v[x->match.function[side][caller]];
	const char *name = functions_shown(x, m)->name;
	struct st_gate_caller *slot = NULL;
	for (size_t i = 0; i < f->callers.n; i++)
		if (f->callers.v[i].name == name)
			slot = &f->callers.v[i];
	if (!slot && (slot = ST_PUSH(&f->callers)))
		*slot = (struct st_gate_caller){.name = name, .code = functions_code(x, m)};
	if (slot)
		slot->calls[side] += calls;
	return slot ? ST_OK : ST_FAILED;
}

/* Whether it is called directly, or through the stub of another image. */
static bool
callers_is_called(const struct st_gate_function *f, uint32_t at, const struct st_profile_value *v)
{
	const size_t n = strlen(f->name);
	return v->function == at ||
	       (v->text && !strncmp(v->text, f->name, n) && !strcmp(v->text + n, "@plt"));
}

/* Adds the callers of one side, from the table of calls of the first run. */
static st_status
callers_of_side(struct comparison *x, const struct matched *m, struct st_gate_function *f, int side)
{
	enum { CALLER, CALLEE, COUNT };
	const struct st_profile *p = x->c->profiles[side][0];
	for (size_t i = 0; i < p->tables.n && m->at[side] != NOWHERE; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (strcmp(t->name, "pairs") != 0 || strcmp(t->tool, "calls") != 0)
			continue;
		for (size_t row = 0; row < st_profile_rows(t); row++) {
			const struct st_profile_value *v = &t->values.v[row * t->n_columns];
			if (callers_is_called(f, m->at[side], &v[CALLEE]) &&
			    v[CALLER].function != NOWHERE &&
			    callers_add(x, f, side, v[CALLER].function, (double)v[COUNT].number))
				return ST_FAILED;
		}
	}
	return ST_OK;
}

static int
compare_callers(const void *a, const void *b)
{
	const struct st_gate_caller *x = a, *y = b;
	const double more_x = x->calls[ST_GATE_TARGET] - x->calls[ST_GATE_BASE];
	const double more_y = y->calls[ST_GATE_TARGET] - y->calls[ST_GATE_BASE];
	return more_x != more_y ? (more_x < more_y ? 1 : -1) : strcmp(x->name, y->name);
}

/* Keeps the callers with the greatest growth of calls. */
static st_status
functions_callers(struct comparison *x, const struct matched *m, struct st_gate_function *f)
{
	size_t n = 0;
	for (int side = 0; side < ST_GATE_SIDES; side++)
		if (callers_of_side(x, m, f, side))
			return ST_FAILED;
	st_order(f->callers.v, f->callers.n, sizeof *f->callers.v, compare_callers);
	while (n < f->callers.n && n < MOST_CALLERS &&
	       f->callers.v[n].calls[ST_GATE_TARGET] > f->callers.v[n].calls[ST_GATE_BASE])
		n++;
	f->callers.n = n;
	return ST_OK;
}

/* ---- judgement ---- */

static double
count_growth(const struct st_gate_count *c)
{
	return c->value[ST_GATE_TARGET] - c->value[ST_GATE_BASE];
}

static double
functions_limit(struct st_gate_limits *limits, const char *name)
{
	for (size_t i = 0; i < limits->exceptions.n; i++) {
		struct st_gate_exception *x = &limits->exceptions.v[i];
		if (x->function && !x->expired && !fnmatch(x->function, name, 0)) {
			x->used = true;
			return x->limit;
		}
	}
	return limits->function;
}

/* In a program that did not grow, the growth of a function is work that moved from another one. */
static void
functions_verdict(struct st_gate_function *f, const struct st_gate_counts *c,
                  struct st_gate_limits *limits)
{
	const struct st_gate_count *whole = &c->program[ST_GATE_INSTRUCTIONS];
	const double matters = limits->least * whole->value[ST_GATE_BASE];
	st_gate_count_limit(&f->instructions, functions_limit(limits, f->name));
	if (count_growth(&f->instructions) < matters)
		f->instructions.verdict = ST_GATE_PASS;
	f->offset = f->instructions.verdict != ST_GATE_PASS && count_growth(whole) < matters;
	if (f->offset)
		f->instructions.verdict = ST_GATE_PASS;
}

static st_status
functions_add(struct comparison *x, struct matched *m, struct st_gate_limits *limits)
{
	struct st_gate_counts *c = x->c;
	const struct st_profile_function *shown = functions_shown(x, m);
	const int side = m->at[ST_GATE_TARGET] != NOWHERE ? ST_GATE_TARGET : ST_GATE_BASE;
	struct st_gate_function f = {
	        .name = shown->name,
	        .image = c->profiles[side][0]->images.v[shown->image].path,
	        .file = shown->file,
	        .line = shown->line,
	};
	st_gate_count_make(&f.instructions, m->instructions, c->runs);
	st_gate_count_make(&f.calls, m->calls, c->runs);
	const double whole = c->program[ST_GATE_INSTRUCTIONS].value[ST_GATE_BASE];
	if (fabs(count_growth(&f.instructions)) < limits->least * whole)
		return ST_OK;
	functions_verdict(&f, c, limits);
	f.code = functions_code(x, m);
	if (count_growth(&f.calls) > 0 && functions_callers(x, m, &f)) {
		free(f.callers.v);
		return ST_FAILED;
	}
	struct st_gate_function *slot = ST_PUSH(&c->functions);
	if (!slot) {
		free(f.callers.v);
		return ST_FAILED;
	}
	*slot = f;
	if (f.instructions.verdict > c->verdict)
		c->verdict = f.instructions.verdict;
	return ST_OK;
}

static int
compare_changed_functions(const void *a, const void *b)
{
	const struct st_gate_function *x = a, *y = b;
	const double more_x = count_growth(&x->instructions);
	const double more_y = count_growth(&y->instructions);
	return more_x != more_y ? (more_x < more_y ? 1 : -1) : strcmp(x->name, y->name);
}

st_status
st_gate_functions_judge(struct st_gate_counts *c, struct st_gate_limits *limits)
{
	struct comparison x;
	st_status status = functions_compare(&x, c);
	for (size_t i = 0; i < x.match.n_functions && !status; i++)
		if (x.v[i].at[ST_GATE_BASE] != NOWHERE || x.v[i].at[ST_GATE_TARGET] != NOWHERE)
			status = functions_add(&x, &x.v[i], limits);
	st_order(c->functions.v, c->functions.n, sizeof *c->functions.v, compare_changed_functions);
	comparison_free(&x);
	return status;
}
