/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Families whose parts differ: the words of a list without duplicates, or keys that fall into one
 * bucket of a hash table. A word of a seed is repeated, and some of its letters and digits count
 * up.
 *
 * Which ones is measured: ten words that differ in one position only are executed for each
 * position. A hash that does not read a position puts them all into one bucket, so the program
 * works most for positions that are not read.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fuzz/finding.h"

/* FEWEST_LETTERS: a shorter word is lengthened to this. LARGEST_SEED: of a larger seed, only the
 * word is used. */
enum { WORDS = 10, LONGEST_WORD = 64, FEWEST_LETTERS = 4, LARGEST_SEED = 1 << 15, MOST_SEEDS = 3 };
/* Of the time that is left, these families may take this share. */
static const double share_of_different = 0.5;

static st_status
no_family(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for a family");
}

static bool
is_counting(uint8_t byte)
{
	return isascii(byte) && isalnum(byte);
}

/* Finds the first one of the longest words of letters and digits. *n is 0: there is none. */
static size_t
longest_word(const struct st_fuzz_bytes *b, size_t *n)
{
	size_t best = 0;
	*n = 0;
	for (size_t from = 0, to; from < b->n; from = to + 1) {
		for (to = from; to < b->n && is_counting(b->v[to]); to++)
			;
		if (to - from > *n) {
			best = from;
			*n = to - from;
		}
	}
	return best;
}

st_status
st_fuzz_family_different(struct st_fuzz_family *f, const struct st_fuzz_bytes *b)
{
	size_t whole, from = longest_word(b, &whole);
	const size_t n = whole < LONGEST_WORD ? whole : LONGEST_WORD;
	*f = (struct st_fuzz_family){.times = 1, .repeated = true};
	if (!n)
		return ST_OK;
	/* The byte that follows a word separates it from the next one. */
	const bool separated = from + whole < b->n;
	if (st_fuzz_bytes_splice(&f->token, 0, 0, b->v + from, n))
		return ST_FAILED;
	while (f->token.n < FEWEST_LETTERS)
		if (st_fuzz_bytes_splice(&f->token, f->token.n, 0, b->v + from + n - 1, 1))
			return ST_FAILED;
	if (st_fuzz_bytes_splice(&f->token, f->token.n, 0,
	                         separated ? b->v + from + whole : (const uint8_t *)"\n", 1))
		return ST_FAILED;
	if (b->n > LARGEST_SEED)
		return ST_OK;
	const size_t to = from + whole + separated;
	return st_fuzz_bytes_splice(&f->before, 0, 0, b->v, from) ||
	                       st_fuzz_bytes_splice(&f->behind, 0, 0, b->v + to, b->n - to)
	               ? ST_FAILED
	               : ST_OK;
}

struct position {
	uint64_t work;
	size_t at;
};

static int
by_work_of_position(const void *x, const void *y)
{
	const struct position *a = x, *b = y;
	const int order = (a->work < b->work) - (a->work > b->work);
	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Chooses the positions for which the program works most. *any: the words are no larger than an
 * input of the search, the program ended normally each time, and time is left. */
static st_status
choose_positions(struct st_judging *j, struct st_fuzz_family *f, bool *any, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	struct position positions[LONGEST_WORD];
	struct st_fuzz_execution x = {0};
	struct st_fuzz_bytes input = {0};
	const size_t n = f->token.n - 1, size = f->before.n + WORDS * f->token.n + f->behind.n;
	st_status status = ST_OK;
	*any = size <= c->choice.most_bytes;
	f->n_varied = 1;
	for (size_t i = 0; i < n && *any && !status; i++) {
		f->varied[0] = i;
		status = st_fuzz_family_make(f, WORDS, &input)
		                 ? no_family(e)
		                 : st_judging_execute(j, &input, &x, e);
		positions[i] = (struct position){x.work, i};
		*any = x.end == ST_END_EXIT && !st_judging_is_over(j);
	}
	st_fuzz_bytes_free(&input);
	st_fuzz_execution_free(&x);
	if (status || !*any)
		return status;
	qsort(positions, n, sizeof *positions, by_work_of_position);
	for (f->n_varied = 0; f->n_varied < n && f->n_varied < ST_FAMILY_VARIED; f->n_varied++)
		f->varied[f->n_varied] = positions[f->n_varied].at;
	return ST_OK;
}

/* The witness is the largest member that was measured; the minimal one works twice as much as the
 * seed, or is as large. */
static st_status
choose_witness(struct st_finding *f, struct st_error *e)
{
	const size_t last = f->times.n - 1;
	size_t least = 0;
	while (least < last && f->worked.v[least] < 2 * (double)f->seed_work)
		least++;
	f->work = (uint64_t)f->worked.v[last];
	f->family.times = (size_t)f->times.v[least];
	if (st_fuzz_family_make(&f->family, (size_t)f->times.v[last], &f->witness) ||
	    st_fuzz_family_make(&f->family, f->family.times, &f->minimal))
		return no_family(e);
	return ST_OK;
}

static st_status
judge_different(struct st_judging *j, struct st_finding *f, const struct st_fuzz_bytes *seed,
                struct st_error *e)
{
	bool any;
	f->has_family = true;
	if (st_fuzz_family_different(&f->family, seed))
		return no_family(e);
	if (!f->family.token.n)
		return ST_OK;
	if (choose_positions(j, &f->family, &any, e))
		return ST_FAILED;
	if (!any || st_witness_family_law(j, f, e))
		return any ? ST_FAILED : ST_OK;
	return f->law.superlinear ? choose_witness(f, e) : ST_OK;
}

st_status
st_findings_judge_different(struct st_judging *j, struct st_findings *findings, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	const double until = j->until, now = st_now_raw();
	st_status status = ST_OK;
	j->until = now + (until - now) * share_of_different;
	for (size_t i = 0; i < c->n_seeds && i < MOST_SEEDS && !status && !st_judging_is_over(j);
	     i++) {
		struct st_finding *f = st_findings_add(findings, c, ST_FINDING_SLOW, i);
		if (!f) {
			status = no_family(e);
			break;
		}
		status = judge_different(j, f, &c->corpus.list.v[i].bytes, e);
		if (status || !f->law.superlinear || st_findings_has_law(findings, f))
			st_findings_drop_last(findings);
		else
			status = st_witness_time(j, f, e);
	}
	j->until = until;
	return status;
}
