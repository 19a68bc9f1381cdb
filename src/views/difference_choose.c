/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the metric by which two profiles are compared. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/difference.h"

/* A metric that a profile has. */
struct metric_known {
	enum st_metric_source source;
	char *table, *metric; /* table "": none */
};

struct metrics_known {
	ST_VEC(struct metric_known) v;
};

static const struct metric_known *
metric_find(const struct metrics_known *all, enum st_metric_source source, const char *table,
            const char *metric)
{
	for (size_t i = 0; i < all->v.n; i++) {
		const struct metric_known *m = &all->v.v[i];
		if (m->source == source && (!table || !strcmp(m->table, table)) &&
		    (!metric || !strcmp(m->metric, metric)))
			return m;
	}
	return NULL;
}

static st_status
metric_learn(void *of, const struct st_metric_values *v)
{
	struct metrics_known *all = of;
	const char *table = v->table ? v->table : "";
	if (metric_find(all, v->source, table, v->metric))
		return ST_OK;
	struct metric_known *m = ST_PUSH(&all->v);
	if (!m)
		return ST_FAILED;
	*m = (struct metric_known){v->source, strdup(table), strdup(v->metric)};
	return m->table && m->metric ? ST_OK : ST_FAILED;
}

static void
metrics_forget(struct metrics_known *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		free(all->v.v[i].table);
		free(all->v.v[i].metric);
	}
	free(all->v.v);
}

/* Functions say more than totals of the program, and traces and memory profiles also have plain
 * functions and tables, which say less than their own sources. */
static const enum st_metric_source preferred[] = {ST_METRIC_TRACE,    ST_METRIC_MEMORY,
                                                  ST_METRIC_FUNCTION, ST_METRIC_TABLE,
                                                  ST_METRIC_SERIES,   ST_METRIC_COUNTER};

/* Returns the first metric of the source that both profiles have. */
static const struct metric_known *
metric_of_both(const struct metrics_known known[ST_SIDES], enum st_metric_source source,
               const struct st_difference_choice *c)
{
	for (size_t i = 0; i < known[ST_A].v.n; i++) {
		const struct metric_known *m = &known[ST_A].v.v[i];
		if (m->source == source && (!c->table || !strcmp(c->table, m->table)) &&
		    (!c->metric || !strcmp(c->metric, m->metric)) &&
		    metric_find(&known[ST_B], source, m->table, m->metric))
			return m;
	}
	return NULL;
}

/* Lists the metrics that both profiles have, ", a, b": of the source of `except` without its
 * metric, or, if it is NULL, all. malloc'ed; NULL: no memory. */
static char *
metrics_listed(const struct metrics_known known[ST_SIDES],
               const struct st_difference_metric *except)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < known[ST_A].v.n; i++) {
		const struct metric_known *m = &known[ST_A].v.v[i];
		bool again = except && (m->source != except->source || !except->metric ||
		                        !strcmp(m->metric, except->metric));
		for (size_t k = 0; k < i && !again; k++)
			again = (!except || known[ST_A].v.v[k].source == m->source) &&
			        !strcmp(known[ST_A].v.v[k].metric, m->metric);
		if (!again && metric_find(&known[ST_B], m->source, m->table, m->metric))
			fprintf(out, ", %s", m->metric);
	}
	return out ? st_text_end(&built) : NULL;
}

static st_status
metric_none(const struct metrics_known known[ST_SIDES], const struct st_difference_choice *c,
            struct st_error *e)
{
	char *all = metrics_listed(known, NULL);
	st_cause(e, c->metric || c->table ? ST_EXIT_USAGE : ST_EXIT_FAILED,
	         "%s and %s have no %s%s%s%s in common%s%s", c->names[ST_A], c->names[ST_B],
	         c->metric ? "metric " : "metric", c->metric ? c->metric : "",
	         c->table ? " of a table " : "", c->table ? c->table : "",
	         all && *all ? "; both have " : ": strobe show prints what they have",
	         all && *all ? all + 2 : "");
	free(all);
	return ST_FAILED;
}

static st_status
choose_metric(struct st_difference_metric *out, const struct metrics_known known[ST_SIDES],
              const struct st_difference_choice *c, struct st_error *e)
{
	for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
		const struct metric_known *m = metric_of_both(known, preferred[i], c);
		if (!m)
			continue;
		const bool all = !c->metric &&
		                 (m->source == ST_METRIC_SERIES || m->source == ST_METRIC_COUNTER);
		*out = (struct st_difference_metric){.source = m->source,
		                                     .table = *m->table ? strdup(m->table) : NULL,
		                                     .metric = all ? NULL : strdup(m->metric)};
		out->first = strdup(m->metric);
		out->others = metrics_listed(known, out);
		return out->others && out->first && (all || out->metric) &&
		                       (!*m->table || out->table)
		               ? ST_OK
		               : st_fail(e, ST_EXIT_FAILED, "no memory left to compare");
	}
	return metric_none(known, c, e);
}

st_status
st_difference_choose(struct st_difference_metric *m, const struct st_profile *const both[ST_SIDES],
                     const struct st_difference_choice *choice, struct st_error *e)
{
	struct metrics_known known[ST_SIDES] = {0};
	st_status status = ST_OK;
	*m = (struct st_difference_metric){0};
	for (int side = 0; side < ST_SIDES && !status; side++)
		status = st_metrics_each(both[side],
		                         &(struct st_metrics_taker){metric_learn, &known[side]}, e);
	if (!status)
		status = choose_metric(m, known, choice, e);
	for (int side = 0; side < ST_SIDES; side++)
		metrics_forget(&known[side]);
	return status;
}

void
st_difference_metric_free(struct st_difference_metric *m)
{
	free(m->table);
	free(m->metric);
	free(m->first);
	free(m->others);
}
