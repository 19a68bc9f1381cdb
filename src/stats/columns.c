/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

st_status
st_columns_begin(struct st_columns *c, size_t p)
{
	*c = (struct st_columns){.p = p};
	c->r = calloc((p + 1) * (p + 1), sizeof *c->r);
	c->row = calloc(p + 1, sizeof *c->row);
	return c->r && c->row ? ST_OK : ST_FAILED;
}

void
st_columns_free(struct st_columns *c)
{
	free(c->r);
	free(c->row);
	*c = (struct st_columns){0};
}

void
st_columns_add(struct st_columns *c, const double *x, double y, double weight)
{
	const long double root = sqrtl(weight), distance = (long double)y - c->mean;
	for (size_t i = 0; i < c->p; i++)
		c->row[i] = root * x[i];
	c->row[c->p] = root * y;
	for (size_t i = 0; i <= c->p; i++)
		if (c->row[i] != 0)
			st_ls_rotate(c->r + i * (c->p + 1), c->row, i, c->p);
	c->n++;
	c->weight += weight;
	c->log_weights += logl(weight);
	c->mean += distance * weight / c->weight;
	c->tss += weight * distance * ((long double)y - c->mean);
}

st_status
st_columns_solve(const struct st_columns *c, const size_t *chosen, size_t k, struct st_ls *out,
                 struct st_error *e)
{
	struct st_ls_rows rows;
	long double row[ST_LS_MOST + 1] = {0};
	st_ls_begin(&rows, k);
	for (size_t i = 0; i <= c->p; i++) {
		const long double *const from = c->r + i * (c->p + 1);
		for (size_t j = 0; j < k; j++)
			row[j] = from[chosen[j]];
		row[k] = from[c->p];
		for (size_t j = 0; j <= k; j++)
			if (row[j] != 0)
				st_ls_rotate(rows.r[j], row, j, k);
	}
	rows.n = c->n;
	rows.mean = c->mean;
	rows.tss = c->tss;
	return st_ls_solve(&rows, out, e);
}
