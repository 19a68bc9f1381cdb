/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the matrix of the memory of a program over time, by the function that asked for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/mem.h"
#include "views/matrix.h"
#include "views/metrics.h"

/* Makes rows of the calling paths that snapshots record. row_of: by context; SIZE_MAX: it has no
 * row. */
static st_status
memory_rows(struct st_matrix *m, const struct st_mem *mem, const char *of, size_t *row_of)
{
	for (size_t i = 0; i < mem->contexts.n; i++)
		row_of[i] = SIZE_MAX;
	for (size_t i = 0; i < mem->shares.n; i++) {
		const uint32_t at = mem->shares.v[i].context;
		const struct st_mem_context *c = &mem->contexts.v[at];
		const char *name = mem->frames.v[st_mem_site(mem, c)].function;
		if (c->mapped || row_of[at] != SIZE_MAX || (of && !st_metrics_fit(of, name)))
			continue;
		row_of[at] = st_matrix_row(m, name);
		if (row_of[at] == SIZE_MAX)
			return ST_FAILED;
	}
	return ST_OK;
}

/* Adds the row (others): live memory less the sum of the rows. */
static st_status
memory_rest(struct st_matrix *m, const struct st_mem *mem, size_t rows)
{
	double all = 0;
	for (size_t i = 0; i < m->n; i++) {
		double rest = (double)mem->snapshots.v[i].live;
		for (size_t row = 0; row < rows; row++)
			rest -= m->values[row * m->n + i];
		m->values[rows * m->n + i] = fmax(rest, 0);
		all += fmax(rest, 0);
	}
	if (!(all > 0))
		return ST_OK;
	char **slot = ST_PUSH(&m->rows);
	if (!slot || !(*slot = strdup("(others)")))
		return ST_FAILED;
	m->others = true;
	return ST_OK;
}

/* Cuts the rows first, so that (others) is the last row and includes those that are cut. */
static st_status
memory_cut(struct st_matrix *m, const struct st_mem *mem, size_t top, bool rest)
{
	if (m->rows.n && st_matrix_cut(m, top, false))
		return ST_FAILED;
	double *grown = reallocarray(m->values, (m->rows.n + 1) * (m->n + 1), sizeof *grown);
	if (!grown)
		return ST_FAILED;
	m->values = grown;
	return rest ? memory_rest(m, mem, m->rows.n) : ST_OK;
}

static st_status
memory_fill(struct st_matrix *m, const struct st_mem *mem, const struct st_matrix_choice *c)
{
	size_t *row_of = calloc(mem->contexts.n + 1, sizeof *row_of);
	st_status status = row_of ? memory_rows(m, mem, c->of, row_of) : ST_FAILED;
	m->n = mem->snapshots.n;
	m->x = calloc(m->n + 1, sizeof *m->x);
	m->values = calloc((m->rows.n + 1) * (m->n + 1), sizeof *m->values);
	if (!m->x || !m->values)
		status = ST_FAILED;
	for (size_t i = 0; i < m->n && !status; i++)
		m->x[i] = (double)mem->snapshots.v[i].ns;
	for (size_t i = 0; i < mem->shares.n && !status; i++) {
		const struct st_mem_share *s = &mem->shares.v[i];
		if (row_of[s->context] != SIZE_MAX)
			m->values[row_of[s->context] * m->n + s->snapshot] += (double)s->live;
	}
	free(row_of);
	return status ? ST_FAILED : memory_cut(m, mem, c->top, !c->of);
}

static st_status
memory_none(const struct st_matrix_choice *c, const struct st_mem *mem, struct st_error *e)
{
	if (mem->snapshots.n < 2)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s has fewer than two snapshots, because the program ended too soon: "
		        "strobe mem --interval 100us takes more of them",
		        c->name);
	if (!c->of)
		return st_fail(e, ST_EXIT_FAILED, "%s has no live memory in any snapshot", c->name);
	return st_fail(e, ST_EXIT_USAGE,
	               "none of the paths with the greatest peaks in %s asks for memory in '%s'",
	               c->name, c->of);
}

st_status
st_matrix_of_memory(struct st_matrix *m, const struct st_profile *p,
                    const struct st_matrix_choice *choice, struct st_error *e)
{
	struct st_mem mem = {0};
	*m = (struct st_matrix){.x_unit = "ns", .adds_up = true};
	if (choice->metric && strcmp(choice->metric, "live") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "snapshots of memory have only live bytes: leave out --metric %s",
		               choice->metric);
	if (choice->per && strcmp(choice->per, "time") != 0 && strcmp(choice->per, "snapshot") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "snapshots of memory are over time: leave out --per %s",
		               choice->per);
	if (st_mem_read(&mem, p, e)) {
		st_mem_free(&mem);
		return ST_FAILED;
	}
	m->metric = strdup("live memory");
	m->unit = strdup("B");
	m->x_name = strdup("time");
	st_status status = m->metric && m->unit && m->x_name ? ST_OK : ST_FAILED;
	const bool addresses = !status && choice->addresses;
	if (!status && !addresses)
		status = memory_fill(m, &mem, choice);
	if (status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	else if (addresses)
		status = st_matrix_of_addresses(m, &mem, choice, e);
	if (!status && (m->n < 2 || !m->rows.n))
		status = memory_none(choice, &mem, e);
	st_mem_free(&mem);
	return status;
}
