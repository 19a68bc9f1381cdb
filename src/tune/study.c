/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tune/study.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/random.h"
#include "base/text.h"

static void
free_program(struct st_study_program *p)
{
	for (char **word = p->argv; word && *word; word++)
		free(*word);
	free((void *)p->argv);
}

void
st_study_free(struct st_study *s)
{
	for (size_t i = 0; i < s->programs.n; i++)
		free_program(&s->programs.v[i]);
	free(s->programs.v);
	free(s->pairs.v);
	free(s->tool);
	free(s->policy);
	*s = (struct st_study){0};
}

struct st_study_program *
st_study_add_program(struct st_study *s, char *const *argv)
{
	size_t n = 0;
	while (argv[n])
		n++;
	struct st_study_program *p = ST_PUSH(&s->programs);
	if (!p || !(p->argv = (char **)calloc(n + 1, sizeof *p->argv)))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!(p->argv[i] = strdup(argv[i])))
			return NULL;
	return p;
}

char *
st_study_command(const struct st_study_program *p)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	for (char **word = p->argv; *word; word++)
		fprintf(out, "%s%s", word == p->argv ? "" : " ", *word);
	return st_text_end(&built);
}

size_t
st_study_steps(const struct st_study *s)
{
	return s->programs.n * s->n_budgets * s->n_periods;
}

size_t
st_study_repetitions(const struct st_study *s)
{
	size_t steps = st_study_steps(s);
	return steps ? s->pairs.n / steps : 0;
}

void
st_study_plan(const struct st_study *s, size_t repetition, struct st_study_step *steps)
{
	size_t n = st_study_steps(s);
	uint64_t state = s->seed;
	state = st_random_next(&state) ^ repetition;
	for (size_t i = 0; i < n; i++) {
		struct st_study_step step = {
		        .program = i / s->n_periods / s->n_budgets,
		        .budget = i / s->n_periods % s->n_budgets,
		        .period = i % s->n_periods,
		        .native_first = st_random_next(&state) & 1,
		};
		size_t at = st_random_below(&state, i + 1);
		steps[i] = steps[at];
		steps[at] = step;
	}
}

void
st_study_write_pair(const struct st_study_pair *p, FILE *out)
{
	fprintf(out, "%zu %zu %zu %zu %a %a %a %a %" PRIu64 " %" PRIu64, p->program, p->budget,
	        p->period, p->repetition, p->native.wall, p->native.cpu, p->measured.wall,
	        p->measured.cpu, p->instructions, p->raw);
}

bool
st_study_read_pair(struct st_study_pair *p, const char *text)
{
	int end = 0;
	*p = (struct st_study_pair){0};
	return sscanf(text, "%zu %zu %zu %zu %la %la %la %la %" SCNu64 " %" SCNu64 "%n",
	              &p->program, &p->budget, &p->period, &p->repetition, &p->native.wall,
	              &p->native.cpu, &p->measured.wall, &p->measured.cpu, &p->instructions,
	              &p->raw, &end) == 10 &&
	       !text[end];
}
