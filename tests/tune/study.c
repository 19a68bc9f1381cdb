/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study.h"

static void
add_program(struct st_study *s)
{
	static char *argv[] = {"work", "caf\xc3\xa9 \"1\"", NULL};
	struct st_study_program *p = st_study_add_program(s, argv);
	if (!p)
		abort();
	p->exit_code = 3;
	p->native = (struct st_study_time){1, 1};
	p->measured = (struct st_study_time){4, 5};
	p->instructions = 100;
	p->raw = 1000;
}

static void
add_repetition(struct st_study *s, size_t repetition, void (*respond)(struct st_study_pair *pair))
{
	struct st_study_step *steps = calloc(st_study_steps(s), sizeof *steps);
	if (!steps)
		abort();
	st_study_plan(s, repetition, steps);
	for (size_t i = 0; i < st_study_steps(s); i++) {
		struct st_study_pair *pair = ST_PUSH(&s->pairs);
		if (!pair)
			abort();
		*pair = (struct st_study_pair){.program = steps[i].program,
		                               .budget = steps[i].budget,
		                               .period = steps[i].period,
		                               .repetition = repetition,
		                               .native = {1, 1}};
		respond(pair);
	}
	free(steps);
}

void
study_make(struct st_study *s, size_t programs, size_t repeat,
           void (*respond)(struct st_study_pair *pair))
{
	*s = (struct st_study){.tool = strdup("branches"),
	                       .policy = strdup("native"),
	                       .seed = UINT64_MAX,
	                       .repeat = repeat,
	                       .complete = true,
	                       .n_budgets = 2,
	                       .n_periods = 2,
	                       .budgets = {0.02, 0.25},
	                       .periods = {0.25, 4}};
	for (size_t i = 0; i < programs; i++)
		add_program(s);
	for (size_t r = 0; r < repeat; r++)
		add_repetition(s, r, respond);
}
