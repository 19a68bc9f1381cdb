/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a search as a text, which a worker writes and the controller reads:
 *
 *	native READINGS KEPT MEDIAN WORST
 *	instructions N
 *	step READINGS KEPT MEDIAN WORST LEVEL INSTRUCTIONS HOLDS   for each, in the order of runs
 *	covered N                                                  for each further run
 *	end BEST                                                   the number of a step, or -1: none
 */
#include "tune/limit_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void
limit_part_write_quality(const char *word, const struct st_quality *q, FILE *out)
{
	fprintf(out, "%s %zu %zu %a %a", word, q->readings, q->kept, q->median, q->worst);
}

void
st_limit_part_write(const struct st_limit *l, FILE *out)
{
	limit_part_write_quality("native", &l->native, out);
	fprintf(out, "\ninstructions %" PRIu64 "\n", l->instructions);
	for (size_t i = 0; i < l->steps.n; i++) {
		const struct st_limit_step *s = &l->steps.v[i];
		limit_part_write_quality("step", &s->quality, out);
		fprintf(out, " %a %" PRIu64 " %d\n", s->level, s->instructions, s->holds);
	}
	for (size_t i = 0; i < l->n_runs; i++)
		fprintf(out, "covered %" PRIu64 "\n", l->covered[i]);
	fprintf(out, "end %d\n", l->found ? (int)l->best : -1);
}

/* ---- reading ---- */

/* Reads the numbers that follow the word. *length: of the text that was read. */
static bool
limit_part_quality(const char *text, struct st_quality *q, int *length)
{
	*length = 0;
	return sscanf(text, "%zu %zu %la %la%n", &q->readings, &q->kept, &q->median, &q->worst,
	              length) == 4 &&
	       q->kept <= q->readings;
}

static bool
limit_part_step(const char *text, struct st_limit *l)
{
	struct st_limit_step step = {0};
	int length, holds;
	if (!limit_part_quality(text, &step.quality, &length) ||
	    sscanf(text + length, " %la %" SCNu64 " %d", &step.level, &step.instructions, &holds) !=
	            3)
		return false;
	step.holds = holds != 0;
	struct st_limit_step *kept = ST_PUSH(&l->steps);
	if (kept)
		*kept = step;
	return kept != NULL;
}

static bool
limit_part_end(const char *text, struct st_limit *l)
{
	int best;
	if (sscanf(text, "%d", &best) != 1 || best < -1 || best >= (int)l->steps.n)
		return false;
	l->found = best >= 0;
	l->best = best >= 0 ? (size_t)best : 0;
	l->complete = true;
	return true;
}

static bool
limit_part_line(const char *line, struct st_limit *l)
{
	int length;
	if (l->complete)
		return false;
	if (!strncmp(line, "native ", 7))
		return limit_part_quality(line + 7, &l->native, &length);
	if (!strncmp(line, "step ", 5))
		return limit_part_step(line + 5, l);
	if (!strncmp(line, "instructions ", 13))
		return sscanf(line + 13, "%" SCNu64, &l->instructions) == 1;
	if (!strncmp(line, "covered ", 8))
		return l->n_runs < ST_LIMIT_RUNS &&
		       sscanf(line + 8, "%" SCNu64, &l->covered[l->n_runs++]) == 1;
	return !strncmp(line, "end ", 4) && limit_part_end(line + 4, l);
}

st_status
st_limit_part_read(struct st_limit *l, const char *path, struct st_error *e)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool good = true;
	if (!f)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the result of a worker in %s: %s",
		               path, strerror(errno));
	while (good && getline(&line, &room, f) > 0)
		good = limit_part_line(line, l);
	free(line);
	fclose(f);
	return good && l->complete
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED,
	                         "the result of a worker in %s is damaged: name another folder "
	                         "with --campaign",
	                         path);
}
