/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/qosplot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 60, LINES = 8, LEAST = 10 };

/* A stretch of time. */
struct column {
	size_t readings, rows;
	double value, budget; /* sums */
};

struct plot {
	struct column columns[COLUMNS];
	double top; /* at the upper edge */
	int64_t end;
	size_t readings;
};

static void
qosplot_fill(struct plot *plot, const struct st_profile_qos *q)
{
	*plot = (struct plot){.end = 1};
	for (size_t i = 0; i < q->rows.n; i++)
		if (q->rows.v[i].time_ns > plot->end)
			plot->end = q->rows.v[i].time_ns;
	for (size_t i = 0; i < q->rows.n; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		double part = (double)row->time_ns / (double)plot->end;
		size_t at = part > 0 ? (size_t)(part * (COLUMNS - 1)) : 0;
		struct column *c = &plot->columns[at < COLUMNS ? at : COLUMNS - 1];
		c->rows++;
		c->budget += (double)row->budget_ns;
		if (!isfinite(row->value))
			continue;
		c->readings++;
		c->value += row->value;
		plot->readings++;
	}
}

/* Of what is shown, the threshold included. */
static void
scale(struct plot *plot, double threshold)
{
	plot->top = threshold;
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &plot->columns[i];
		double mean = c->readings ? c->value / (double)c->readings : 0;
		plot->top = mean > plot->top ? mean : plot->top;
	}
}

static size_t
qosplot_line_of(const struct plot *plot, double value)
{
	double part = plot->top > 0 ? value / plot->top : 0;
	size_t line = part > 0 ? (size_t)(part * LINES) : 0;
	return line < LINES ? line : LINES - 1;
}

static void
qosplot_print_line(FILE *out, const struct plot *plot, size_t line, double threshold)
{
	char text[COLUMNS + 1];
	bool at_threshold = line == qosplot_line_of(plot, threshold);
	memset(text, at_threshold ? '-' : ' ', COLUMNS);
	text[COLUMNS] = 0;
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &plot->columns[i];
		if (c->readings && line == qosplot_line_of(plot, c->value / (double)c->readings))
			text[i] = '*';
	}
	if (at_threshold)
		fprintf(out, "  %10.4g |%s\n", threshold, text);
	else if (line == LINES - 1)
		fprintf(out, "  %10.4g |%s\n", plot->top, text);
	else
		fprintf(out, "  %10s |%s\n", "", text);
}

/* The budget as a digit, in tenths of the largest there was; "." is none. */
static void
print_budget(FILE *out, const struct plot *plot)
{
	double most = 0;
	char text[COLUMNS + 1] = "";
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &plot->columns[i];
		double mean = c->rows ? c->budget / (double)c->rows : 0;
		most = mean > most ? mean : most;
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &plot->columns[i];
		double mean = c->rows ? c->budget / (double)c->rows : 0;
		int tenth = most > 0 ? (int)(9 * mean / most) : 0;
		text[i] = (char)(!c->rows ? ' ' : mean > 0 ? '0' + tenth : '.');
	}
	fprintf(out, "      budget |%s  9: %.3g ms\n", text, most / 1e6);
	fprintf(out, "              0 s%*.3g s\n", COLUMNS - 5, (double)plot->end / 1e9);
}

void
st_qos_plot(FILE *out, const struct st_profile *p)
{
	const struct st_profile_qos *q = &p->qos;
	struct plot plot;
	qosplot_fill(&plot, q);
	if (plot.readings < LEAST || !isfinite(q->threshold))
		return;
	scale(&plot, q->threshold);
	for (size_t line = LINES; line-- > 0;)
		qosplot_print_line(out, &plot, line, q->threshold);
	print_budget(out, &plot);
}
