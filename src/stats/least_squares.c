/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/least_squares.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

void
st_ls_begin(struct st_ls_rows *rows, size_t p)
{
	*rows = (struct st_ls_rows){.p = p};
}

void
st_ls_add(struct st_ls_rows *rows, const double *x, double y)
{
	long double row[ST_LS_MOST + 1];
	const long double distance = (long double)y - rows->mean;
	for (size_t i = 0; i < rows->p; i++)
		row[i] = x[i];
	row[rows->p] = y;
	for (size_t i = 0; i < rows->p; i++)
		if (row[i] != 0)
			st_ls_rotate(rows->r[i], row, i, rows->p);
	long double *const rest = &rows->r[rows->p][rows->p];
	*rest = sqrtl(*rest * *rest + row[rows->p] * row[rows->p]);
	rows->n++;
	rows->mean += distance / (long double)rows->n;
	rows->tss += distance * ((long double)y - rows->mean);
}

/* Whether each column has something that those before it do not have. */
static bool
ls_is_determined(const struct st_ls_rows *rows)
{
	const long double nothing = 1e-16L;
	for (size_t k = 0; k < rows->p; k++) {
		long double length = 0;
		for (size_t i = 0; i <= k; i++)
			length = hypotl(length, rows->r[i][k]);
		if (!(fabsl(rows->r[k][k]) > nothing * length) || !isfinite(length))
			return false;
	}
	return true;
}

static void
solve_ls_triangle(const struct st_ls_rows *rows, const long double *right, long double *b)
{
	for (size_t i = rows->p; i-- > 0;) {
		long double rest = right[i];
		for (size_t k = i + 1; k < rows->p; k++)
			rest -= rows->r[i][k] * b[k];
		b[i] = rest / rows->r[i][i];
	}
}

/* The inverse of the triangle times its transpose. */
static void
invert_ls_triangle(const struct st_ls_rows *rows, struct st_ls *out)
{
	long double inverse[ST_LS_MOST][ST_LS_MOST] = {0};
	for (size_t k = 0; k < rows->p; k++) {
		long double unit[ST_LS_MOST] = {0}, column[ST_LS_MOST];
		unit[k] = 1;
		solve_ls_triangle(rows, unit, column);
		for (size_t i = 0; i < rows->p; i++)
			inverse[i][k] = column[i];
	}
	for (size_t i = 0; i < rows->p; i++)
		for (size_t j = 0; j < rows->p; j++) {
			long double sum = 0;
			for (size_t k = 0; k < rows->p; k++)
				sum += inverse[i][k] * inverse[j][k];
			out->inverse[i][j] = (double)sum;
		}
}

st_status
st_ls_solve(const struct st_ls_rows *rows, struct st_ls *out, struct st_error *e)
{
	long double right[ST_LS_MOST] = {0}, b[ST_LS_MOST] = {0};
	*out = (struct st_ls){.n = rows->n, .p = rows->p};
	if (rows->n < rows->p)
		return st_fail(e, ST_EXIT_FAILED, "%zu points cannot determine %zu parameters",
		               rows->n, rows->p);
	if (!ls_is_determined(rows))
		return st_fail(e, ST_EXIT_FAILED,
		               "the points do not determine the parameters: too few of their x "
		               "differ");
	for (size_t i = 0; i < rows->p; i++)
		right[i] = rows->r[i][rows->p];
	solve_ls_triangle(rows, right, b);
	invert_ls_triangle(rows, out);
	out->tss = (double)rows->tss;
	out->sse = (double)(rows->r[rows->p][rows->p] * rows->r[rows->p][rows->p]);
	out->s = rows->n > rows->p ? sqrt(out->sse / (double)(rows->n - rows->p)) : NAN;
	for (size_t i = 0; i < rows->p; i++) {
		out->b[i] = (double)b[i];
		out->se[i] = out->s * sqrt(out->inverse[i][i]);
	}
	return ST_OK;
}

double
st_ls_leverage(const struct st_ls *fit, const double *x)
{
	double sum = 0;
	for (size_t i = 0; i < fit->p; i++)
		for (size_t j = 0; j < fit->p; j++)
			sum += x[i] * fit->inverse[i][j] * x[j];
	return sum;
}

double
st_ls_p(const struct st_ls *fit, size_t parameter)
{
	return 2 * gsl_cdf_tdist_Q(fabs(fit->b[parameter] / fit->se[parameter]),
	                           (double)(fit->n - fit->p));
}

double
st_student(double level, double df)
{
	return gsl_cdf_tdist_Qinv((1 - level) / 2, df);
}

double
st_aicc(size_t n, double sse, size_t k)
{
	if (n < k + 2)
		return INFINITY;
	return (double)n * log(sse / (double)n) + 2 * (double)k +
	       2 * (double)k * (double)(k + 1) / (double)(n - k - 1);
}

double
st_bic(size_t n, double sse, size_t k)
{
	return (double)n * log(sse / (double)n) + (double)k * log((double)n);
}
