/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tune/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/*
 * The result for a program: "program EXIT WALL CPU WALL CPU INSTRUCTIONS RAW", the times natively
 * and measured; then, for each image, "image BUILD-ID", and for each instruction of the reference
 * its offset and length in hexadecimal.
 */

char *
st_tune_ask_program(size_t program)
{
	return st_text_of("program %zu", program);
}

char *
st_tune_ask_pair(const struct st_study_step *step, size_t repetition)
{
	return st_text_of("pair %zu %zu %zu %zu %d", step->program, step->budget, step->period,
	                  repetition, step->native_first);
}

static st_status
part_damaged(const char *path, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "the result of a worker in %s is damaged", path);
}

/* ---- a program without a budget ---- */

static void
part_write_program(const struct st_study_program *p, const struct st_covered *reference, FILE *out)
{
	fprintf(out, "program %d %a %a %a %a %" PRIu64 " %" PRIu64 "\n", p->exit_code,
	        p->native.wall, p->native.cpu, p->measured.wall, p->measured.cpu, p->instructions,
	        p->raw);
	for (size_t i = 0; i < reference->images.n; i++) {
		const struct st_covered_image *image = &reference->images.v[i];
		fprintf(out, "image %s\n", image->build_id);
		for (size_t k = 0; k < image->insns.n; k++)
			fprintf(out, "%" PRIx64 " %" PRIx32 "\n", image->insns.v[k].offset,
			        image->insns.v[k].length);
	}
}

static bool
part_read_program(struct st_study_program *p, const char *line)
{
	return sscanf(line, "program %d %la %la %la %la %" SCNu64 " %" SCNu64, &p->exit_code,
	              &p->native.wall, &p->native.cpu, &p->measured.wall, &p->measured.cpu,
	              &p->instructions, &p->raw) == 7;
}

static st_status
part_open(const char *path, FILE **f, struct st_error *e)
{
	*f = fopen(path, "re");
	return *f ? ST_OK
	          : st_fail(e, ST_EXIT_FAILED, "cannot read the result of a worker in %s: %s", path,
	                    strerror(errno));
}

static bool
part_read_instruction(struct st_covered_image *image, const char *line)
{
	struct st_covered_insn insn = {.times = 1};
	if (!image || sscanf(line, "%" SCNx64 " %" SCNx32, &insn.offset, &insn.length) != 2)
		return false;
	struct st_covered_insn *slot = ST_PUSH(&image->insns);
	if (slot)
		*slot = insn;
	return slot != NULL;
}

static bool
part_read_reference(struct st_covered *reference, FILE *f)
{
	struct st_covered_image *image = NULL;
	char *line = NULL;
	size_t room = 0;
	bool good = true;
	while (good && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "image ", 6))
			good = (image = st_covered_image(reference, line + 6, "")) != NULL;
		else
			good = part_read_instruction(image, line);
	}
	free(line);
	return good;
}

/* reference: NULL if it is not needed. */
static st_status
part_take_program(struct st_study_program *p, struct st_covered *reference, const char *path,
                  struct st_error *e)
{
	FILE *f;
	char *line = NULL;
	size_t room = 0;
	if (part_open(path, &f, e))
		return ST_FAILED;
	bool good = getline(&line, &room, f) > 0 && part_read_program(p, line);
	free(line);
	if (good && reference)
		good = part_read_reference(reference, f);
	fclose(f);
	if (good && reference)
		st_covered_sort(reference);
	return good ? ST_OK : part_damaged(path, e);
}

st_status
st_tune_take_program(struct st_study *s, size_t program, const char *path, struct st_error *e)
{
	return part_take_program(&s->programs.v[program], NULL, path, e);
}

static st_status
part_program(struct st_study *s, struct st_tune_how *how, size_t program, FILE *out,
             struct st_error *e)
{
	struct st_covered reference = {0};
	const st_status status = st_tune_program(s, how, program, &reference, e);
	if (!status)
		part_write_program(&s->programs.v[program], &reference, out);
	st_covered_free(&reference);
	return status;
}

/* ---- pairs ---- */

static st_status
part_pair(struct st_study *s, struct st_tune_how *how, const struct st_study_step *step,
          size_t repetition, const char *path, FILE *out, struct st_error *e)
{
	struct st_covered reference = {0};
	struct st_study_pair pair = {0};
	st_status status = part_take_program(&s->programs.v[step->program], &reference, path, e);
	if (!status)
		status = st_tune_pair(s, how, step, repetition, &reference, &pair, e);
	if (!status)
		st_study_write_pair(&pair, out);
	st_covered_free(&reference);
	return status;
}

st_status
st_tune_take_pair(struct st_study *s, const char *path, struct st_error *e)
{
	FILE *f;
	char *line = NULL;
	size_t room = 0;
	struct st_study_pair pair;
	if (part_open(path, &f, e))
		return ST_FAILED;
	const bool read = getline(&line, &room, f) > 0;
	if (read)
		line[strcspn(line, "\n")] = '\0';
	const bool good = read && st_study_read_pair(&pair, line) && pair.program < s->programs.n &&
	                  pair.budget < s->n_budgets && pair.period < s->n_periods &&
	                  pair.repetition < s->repeat;
	free(line);
	fclose(f);
	struct st_study_pair *slot = good ? ST_PUSH(&s->pairs) : NULL;
	if (slot)
		*slot = pair;
	return slot ? ST_OK : part_damaged(path, e);
}

st_status
st_tune_part(struct st_study *s, struct st_tune_how *how, const char *asked, const char *reference,
             FILE *out, struct st_error *e)
{
	struct st_study_step step = {0};
	size_t repetition;
	int first, end = 0;
	if (sscanf(asked, "program %zu%n", &step.program, &end) == 1 && !asked[end] &&
	    step.program < s->programs.n)
		return part_program(s, how, step.program, out, e);
	if (sscanf(asked, "pair %zu %zu %zu %zu %d%n", &step.program, &step.budget, &step.period,
	           &repetition, &first, &end) != 5 ||
	    asked[end] || step.program >= s->programs.n || step.budget >= s->n_budgets ||
	    step.period >= s->n_periods || !reference)
		return st_fail(e, ST_EXIT_USAGE, "'%s' is no part of this study", asked);
	step.native_first = first != 0;
	return part_pair(s, how, &step, repetition, reference, out, e);
}
