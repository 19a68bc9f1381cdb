/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot bars, flow and heat: draw a metric by location over a feature or over time. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/plot.h"
#include "cli/show_stored.h"
#include "plot/charts.h"
#include "report/measurements.h"
#include "views/matrix.h"

enum { MATRIX_ROWS = 9, MATRIX_RANGES = 32, MATRIX_BARS = 60, MATRIX_SNAPSHOTS = 12 };

typedef st_status matrix_drawing(const struct st_plot_arguments *a, const struct st_matrix *m,
                                 const struct st_plot_words *words, FILE *out);

static st_status
matrix_function(const struct st_plot_arguments *a, enum st_matrix_function usual,
                enum st_matrix_function *out, struct st_error *e)
{
	static const char *const words[] = {
#define F(id, name) name,
	        ST_MATRIX_FUNCTIONS(F)
#undef F
	};
	unsigned which = usual;
	if (a->func && st_option_word("func", a->func, words, ST_MATRIX_FUNCTION_COUNT, &which, e))
		return ST_FAILED;
	*out = (enum st_matrix_function)which;
	return ST_OK;
}

/* Makes the matrix of the only profile. usual: the function without --func. */
static st_status
matrix_load(const struct st_plot_arguments *a, enum st_matrix_function usual, struct st_matrix *m,
            struct st_error *e)
{
	*m = (struct st_matrix){0};
	if (st_plot_count_files(a, 1, 1, e))
		return ST_FAILED;
	static const char *const rows[] = {"function", "address"};
	unsigned by = 0;
	if (a->by && st_option_word("by", a->by, rows, 2, &by, e))
		return ST_FAILED;
	const size_t usual_rows = by ? MATRIX_RANGES : MATRIX_ROWS;
	struct st_matrix_choice choice = {.name = a->files.v[0],
	                                  .metric = a->metric,
	                                  .of = a->of,
	                                  .per = a->per,
	                                  .addresses = by != 0,
	                                  .top = a->top < 0 ? usual_rows : (size_t)a->top};
	if (matrix_function(a, usual, &choice.function, e))
		return ST_FAILED;
	struct st_profile *p = st_show_load(a->files.v[0], e);
	st_status status = p ? st_matrix_make(m, p, &choice, e) : ST_FAILED;
	st_profile_free(p);
	if (!status && a->accumulate)
		st_matrix_accumulate(m);
	return status;
}

/* Returns --title, or "live memory of a.db". malloc'ed; NULL: no memory. */
static char *
matrix_title(const struct st_plot_arguments *a, const struct st_matrix *m)
{
	return a->title ? strdup(a->title)
	                : st_text_of("%s%s of %s", a->accumulate ? "accumulated " : "", m->metric,
	                             st_base_name(a->files.v[0]));
}

static char *
matrix_note(const struct st_plot_arguments *a, const struct st_matrix *m, bool bars)
{
	const bool lines = bars && m->spread && (a->grouped || m->rows.n == 1);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	if (lines)
		fprintf(out, "Thick: 95 %% interval of the %s; thin: least to greatest value.",
		        a->func);
	if (m->range_bytes) {
		char text[2 * ST_NUMBER_SIZE];
		fprintf(out,
		        "A row is %s of addresses, which begin at its name; addresses without heap "
		        "memory have no row.",
		        st_measured_text(text, "B", (double)m->range_bytes));
	}
	if (m->left_out)
		fprintf(out, "%s%s no row%s.", lines ? " " : "",
		        ST_COUNT(m->left_out, "location has", "locations have"),
		        m->others ? ": (others) has the sum" : "; -n 0 shows all");
	return st_text_end(&built);
}

static st_status
matrix_draw_bars(const struct st_plot_arguments *a, const struct st_matrix *m,
                 const struct st_plot_words *words, FILE *out)
{
	char text[2 * ST_NUMBER_SIZE];
	char **parts = calloc(m->n + 1, sizeof *parts);
	st_status status = parts ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < m->n && !status; i++)
		if (!(parts[i] = strdup(st_measured_text(text, m->x_unit, m->x[i]))))
			status = ST_FAILED;
	const struct st_plot_bars bars = {.words = *words,
	                                  .parts = (const char *const *)parts,
	                                  .n_parts = m->n,
	                                  .names = (const char *const *)m->rows.v,
	                                  .n_series = m->rows.n,
	                                  .values = m->values,
	                                  .spread = m->spread,
	                                  .stacked = !a->grouped};
	if (!status)
		st_plot_bars(&bars, out);
	for (size_t i = 0; parts && i < m->n; i++)
		free(parts[i]);
	free(parts);
	return status;
}

static st_status
matrix_draw_flow(const struct st_plot_arguments *a, const struct st_matrix *m,
                 const struct st_plot_words *words, FILE *out)
{
	const struct st_plot_flow flow = {.words = *words,
	                                  .x = m->x,
	                                  .n = m->n,
	                                  .names = (const char *const *)m->rows.v,
	                                  .n_series = m->rows.n,
	                                  .values = m->values,
	                                  .stacked = a->stacked || m->adds_up};
	st_plot_flow(&flow, out);
	return ST_OK;
}

/* A column begins at its x and ends where the next one begins; the last is as wide as the one
 * before it. */
static st_status
matrix_draw_heat(const struct st_plot_arguments *a, const struct st_matrix *m,
                 const struct st_plot_words *words, FILE *out)
{
	double *x = malloc((m->n + 2) * sizeof *x);
	if (!x)
		return ST_FAILED;
	memcpy(x, m->x, m->n * sizeof *x);
	x[m->n] = m->n > 1 ? 2 * m->x[m->n - 1] - m->x[m->n - 2] : m->x[0] + 1;
	const struct st_plot_heat heat = {.words = *words,
	                                  .rows = (const char *const *)m->rows.v,
	                                  .n_rows = m->rows.n,
	                                  .x = x,
	                                  .n_columns = m->n,
	                                  .values = m->values,
	                                  .unit = m->unit};
	(void)a;
	st_plot_heat(&heat, out);
	free(x);
	return ST_OK;
}

/* Draws the matrix with its title and its note. */
static st_status
matrix_draw(const struct st_plot_arguments *a, const struct st_matrix *m, FILE *out,
            matrix_drawing *draw, struct st_error *e)
{
	char *title = matrix_title(a, m), *note = matrix_note(a, m, draw == matrix_draw_bars);
	const struct st_plot_words words = {.title = title,
	                                    .x = m->x_name,
	                                    .y = m->metric,
	                                    .x_unit = m->x_unit,
	                                    .y_unit = m->unit,
	                                    .note = note};
	const st_status status = title && note ? draw(a, m, &words, out) : ST_FAILED;
	free(title);
	free(note);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture") : ST_OK;
}

static st_status
matrix_check_bars(const struct st_plot_arguments *a, const struct st_matrix *m, struct st_error *e)
{
	return m->n <= MATRIX_BARS ? ST_OK
	                           : st_fail(e, ST_EXIT_FAILED,
	                                     "%s has %s different values of %s, too many for "
	                                     "bars: strobe plot "
	                                     "flow draws lines over them",
	                                     a->files.v[0], ST_NUMBER(m->n), m->x_name);
}

st_status
st_plot_bars_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct st_matrix m;
	st_status status = matrix_load(a, ST_MATRIX_SUM, &m, e);
	/* A bar for each of thousands of snapshots would be too narrow to be seen. */
	if (!status && m.adds_up)
		st_matrix_thin(&m, MATRIX_SNAPSHOTS);
	if (!status)
		status = matrix_check_bars(a, &m, e);
	if (!status)
		status = matrix_draw(a, &m, out, matrix_draw_bars, e);
	st_matrix_free(&m);
	return status;
}

static st_status
matrix_plot(const struct st_plot_arguments *a, enum st_matrix_function usual, matrix_drawing *draw,
            FILE *out, struct st_error *e)
{
	struct st_matrix m;
	st_status status = matrix_load(a, usual, &m, e);
	if (!status)
		status = matrix_draw(a, &m, out, draw, e);
	st_matrix_free(&m);
	return status;
}

st_status
st_plot_flow_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return matrix_plot(a, ST_MATRIX_MEAN, matrix_draw_flow, out, e);
}

st_status
st_plot_heat_over(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return matrix_plot(a, ST_MATRIX_SUM, matrix_draw_heat, out, e);
}
