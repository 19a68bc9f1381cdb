/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/kept.h"

#include "profile/profile.h"

/* Copies the texts of a row into the profile. */
#define KEPT_COPY(name) row->name = row->name ? st_profile_text(p, row->name) : NULL;
#define KEPT_LEAVE(name)
#define KEPT_OWN_TEXTS(table) table(KEPT_COPY, KEPT_COPY, KEPT_LEAVE, KEPT_LEAVE)

st_status
st_kept_put_answer(struct st_profile *p, const struct st_kept_answer *a)
{
	struct st_kept_answer *row = ST_PUSH(&p->kept.answers);
	if (!row)
		return ST_FAILED;
	*row = *a;
	KEPT_OWN_TEXTS(ST_KEPT_ANSWER)
	return p->out_of_memory ? ST_FAILED : ST_OK;
}

st_status
st_kept_put_model(struct st_profile *p, const struct st_kept_model *m)
{
	struct st_kept_model *row = ST_PUSH(&p->kept.models);
	if (!row)
		return ST_FAILED;
	*row = *m;
	KEPT_OWN_TEXTS(ST_KEPT_MODEL)
	return p->out_of_memory ? ST_FAILED : ST_OK;
}

st_status
st_kept_put_coefficient(struct st_profile *p, const struct st_kept_coefficient *c)
{
	struct st_kept_coefficient *row = ST_PUSH(&p->kept.coefficients);
	if (!row)
		return ST_FAILED;
	*row = *c;
	KEPT_OWN_TEXTS(ST_KEPT_COEFFICIENT)
	return p->out_of_memory ? ST_FAILED : ST_OK;
}

/* The numbers of the answers that stay; 0: it is removed. */
static size_t
kept_move_answers(struct st_kept *k, const bool *gone, int64_t *numbers)
{
	size_t n = 0;
	for (size_t i = 0; i < k->answers.n; i++) {
		numbers[i] = 0;
		if (gone[i])
			continue;
		k->answers.v[n++] = k->answers.v[i];
		numbers[i] = (int64_t)n;
	}
	return n;
}

static size_t
kept_move_models(struct st_kept *k, const int64_t *answers, int64_t *numbers)
{
	size_t n = 0;
	for (size_t i = 0; i < k->models.n; i++) {
		const int64_t answer = answers[k->models.v[i].answer - 1];
		numbers[i] = 0;
		if (!answer)
			continue;
		k->models.v[n] = k->models.v[i];
		k->models.v[n++].answer = answer;
		numbers[i] = (int64_t)n;
	}
	return n;
}

static size_t
kept_move_coefficients(struct st_kept *k, const int64_t *models)
{
	size_t n = 0;
	for (size_t i = 0; i < k->coefficients.n; i++) {
		const int64_t model = models[k->coefficients.v[i].model - 1];
		if (!model)
			continue;
		k->coefficients.v[n] = k->coefficients.v[i];
		k->coefficients.v[n++].model = model;
	}
	return n;
}

st_status
st_kept_remove(struct st_kept *k, const bool *gone)
{
	int64_t *answers = calloc(k->answers.n + 1, sizeof *answers),
	        *models = calloc(k->models.n + 1, sizeof *models);
	const bool good = answers && models;
	if (good) {
		k->answers.n = kept_move_answers(k, gone, answers);
		k->models.n = kept_move_models(k, answers, models);
		k->coefficients.n = kept_move_coefficients(k, models);
	}
	free(answers);
	free(models);
	return good ? ST_OK : ST_FAILED;
}

/* The first model of an answer with the number, or a later one. */
static size_t
kept_first_model(const struct st_kept *k, int64_t answer)
{
	size_t low = 0, high = k->models.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (k->models.v[middle].answer < answer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t
kept_first_coefficient(const struct st_kept *k, int64_t model)
{
	size_t low = 0, high = k->coefficients.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (k->coefficients.v[middle].model < model)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct st_kept_range
st_kept_models_of(const struct st_kept *k, size_t answer)
{
	const int64_t number = (int64_t)answer + 1;
	return (struct st_kept_range){kept_first_model(k, number), kept_first_model(k, number + 1)};
}

struct st_kept_range
st_kept_coefficients_of(const struct st_kept *k, size_t model)
{
	const int64_t number = (int64_t)model + 1;
	return (struct st_kept_range){kept_first_coefficient(k, number),
	                              kept_first_coefficient(k, number + 1)};
}

void
st_kept_free(struct st_kept *k)
{
	free(k->answers.v);
	free(k->models.v);
	free(k->coefficients.v);
	*k = (struct st_kept){0};
}
