/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/share.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Inputs that are shared at most, and of these, inputs that the program does not survive: each of
 * them may take as long as a hang. */
enum { MOST_SHARED = 256, MOST_FATAL = 4, MOST_CHAIN = 100000, MOST_SHARED_BYTES = 64 << 20 };

static st_status
share_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the inputs that are shared");
}

/* ---- a set of inputs ---- */

static bool
share_has(const struct st_fuzz_shared *s, const struct st_fuzz_bytes *bytes)
{
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_fuzz_bytes *b = &s->list.v[i].bytes;
		if (b->n == bytes->n && (!b->n || !memcmp(b->v, bytes->v, b->n)))
			return true;
	}
	return false;
}

/* Takes the input over, also if that fails. */
static st_status
share_add(struct st_fuzz_shared *s, struct st_fuzz_input *input, struct st_error *e)
{
	const bool known = share_has(s, &input->bytes);
	struct st_fuzz_input *slot = known ? NULL : ST_PUSH(&s->list);
	if (slot)
		*slot = *input;
	else
		st_fuzz_input_free(input);
	return slot || known ? ST_OK : share_no_memory(e);
}

static st_status
share_copy(struct st_fuzz_shared *s, const struct st_fuzz_input *from, double ratio,
           struct st_error *e)
{
	struct st_fuzz_input copy = {.seed = from->seed, .parent = from->seed, .ratio = ratio};
	bool good = !st_fuzz_bytes_copy(&copy.bytes, &from->bytes);
	for (size_t i = 0; good && i < from->chain.n; i++) {
		size_t *rule = ST_PUSH(&copy.chain);
		good = rule != NULL;
		if (rule)
			*rule = from->chain.v[i];
	}
	if (good)
		return share_add(s, &copy, e);
	st_fuzz_input_free(&copy);
	return share_no_memory(e);
}

/* ---- uses of rules ---- */

static st_status
share_add_uses(struct st_fuzz_rule_uses *uses, size_t rule, size_t tried, size_t hits)
{
	while (uses->n <= rule)
		if (!ST_PUSH(uses))
			return ST_FAILED;
	uses->v[rule].tried += tried;
	uses->v[rule].hits += hits;
	return ST_OK;
}

static st_status
share_take_uses(struct st_fuzz_shared *s, const struct st_fuzz_campaign *c,
                const struct st_fuzz_rule_uses *imported)
{
	for (size_t i = 0; i < c->hits.n; i++) {
		const bool some = i < imported->n;
		if (share_add_uses(&s->uses, i, c->tried.v[i] - (some ? imported->v[i].tried : 0),
		                   c->hits.v[i] - (some ? imported->v[i].hits : 0)))
			return ST_FAILED;
	}
	return ST_OK;
}

void
st_fuzz_shared_count_uses(const struct st_fuzz_shared *s, struct st_fuzz_campaign *c)
{
	for (size_t i = 0; i < s->uses.n && i < c->hits.n; i++) {
		c->tried.v[i] = s->uses.v[i].tried;
		c->hits.v[i] = s->uses.v[i].hits;
	}
}

/* "rules", and two numbers for each. */
static bool
share_read_uses(struct st_fuzz_shared *s, const char *line)
{
	size_t tried, hits;
	int end = 0;
	line += strlen("rules");
	for (size_t i = 0;
	     i < ST_RULE_COUNT + MOST_CHAIN && sscanf(line, " %zu %zu%n", &tried, &hits, &end) == 2;
	     i++) {
		line += end;
		if (share_add_uses(&s->uses, i, tried, hits))
			return false;
	}
	return *line == '\n';
}

/* ---- taking ---- */

st_status
st_fuzz_shared_take(struct st_fuzz_shared *s, const struct st_fuzz_campaign *c,
                    const struct st_fuzz_shared *imported, struct st_error *e)
{
	s->executions += c->n_executions;
	if (share_take_uses(s, c, &imported->imported))
		return share_no_memory(e);
	for (size_t i = c->n_seeds; i < c->corpus.list.n; i++)
		if (c->corpus.list.v[i].chain.n &&
		    share_copy(s, &c->corpus.list.v[i], c->corpus.list.v[i].ratio, e))
			return ST_FAILED;
	for (size_t i = 0; i < c->faults.n; i++)
		if (c->faults.v[i].input.chain.n &&
		    share_copy(s, &c->faults.v[i].input, INFINITY, e))
			return ST_FAILED;
	return ST_OK;
}

/* Of equal ratios, the shorter input and then the order of the bytes decide, so that the choice
 * does not depend on the order in which inputs came. */
static int
shared_order(const void *x, const void *y)
{
	const struct st_fuzz_input *a = x, *b = y;
	if (a->ratio < b->ratio || a->ratio > b->ratio)
		return a->ratio > b->ratio ? -1 : 1;
	if (a->bytes.n != b->bytes.n)
		return a->bytes.n < b->bytes.n ? -1 : 1;
	return a->bytes.n ? memcmp(a->bytes.v, b->bytes.v, a->bytes.n) : 0;
}

void
st_fuzz_shared_choose(struct st_fuzz_shared *s)
{
	size_t kept = 0, fatal = 0;
	if (s->list.n)
		qsort(s->list.v, s->list.n, sizeof *s->list.v, shared_order);
	for (size_t i = 0; i < s->list.n; i++) {
		const bool dies = isinf(s->list.v[i].ratio);
		if (kept < MOST_SHARED && (!dies || fatal < MOST_FATAL)) {
			fatal += dies;
			s->list.v[kept++] = s->list.v[i];
		} else {
			st_fuzz_input_free(&s->list.v[i]);
		}
	}
	s->list.n = kept;
}

void
st_fuzz_shared_free(struct st_fuzz_shared *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		st_fuzz_input_free(&s->list.v[i]);
	free(s->list.v);
	free(s->uses.v);
	free(s->imported.v);
	*s = (struct st_fuzz_shared){0};
}

/* ---- files ---- */

void
st_fuzz_shared_write(const struct st_fuzz_shared *s, bool fatal, FILE *out)
{
	fprintf(out, "executions %zu\nrules", s->executions);
	for (size_t i = 0; i < s->uses.n; i++)
		fprintf(out, " %zu %zu", s->uses.v[i].tried, s->uses.v[i].hits);
	fputc('\n', out);
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_fuzz_input *input = &s->list.v[i];
		if (!fatal && isinf(input->ratio))
			continue;
		fprintf(out, "input %a %zu %zu", input->ratio, input->seed, input->bytes.n);
		for (size_t k = 0; k < input->chain.n; k++)
			fprintf(out, " %zu", input->chain.v[k]);
		fputc('\n', out);
		fwrite(input->bytes.v, 1, input->bytes.n, out);
		fputc('\n', out);
	}
}

static bool
share_read_chain(struct st_fuzz_input *input, const char *text)
{
	char *end;
	while (*text == ' ' && input->chain.n < MOST_CHAIN) {
		const unsigned long rule = strtoul(text, &end, 10);
		size_t *slot = end == text ? NULL : ST_PUSH(&input->chain);
		if (!slot)
			return false;
		*slot = rule;
		text = end;
	}
	return input->chain.n && *text == '\n';
}

static bool
share_read_bytes(struct st_fuzz_input *input, size_t n, FILE *f)
{
	char *bytes = n <= MOST_SHARED_BYTES ? malloc(n + 1) : NULL;
	const bool good = bytes && fread(bytes, 1, n + 1, f) == n + 1 && bytes[n] == '\n' &&
	                  !st_fuzz_bytes_splice(&input->bytes, 0, 0, bytes, n);
	free(bytes);
	return good;
}

static bool
share_read_input(struct st_fuzz_input *input, const char *line, FILE *f)
{
	size_t n = 0;
	int end = 0;
	return sscanf(line, "input %la %zu %zu%n", &input->ratio, &input->seed, &n, &end) == 3 &&
	       share_read_chain(input, line + end) && share_read_bytes(input, n, f);
}

static st_status
share_read_all(struct st_fuzz_shared *s, FILE *f, const char *path, struct st_error *e)
{
	char *line = NULL;
	size_t room = 0, executions;
	bool good = getline(&line, &room, f) > 0 &&
	            sscanf(line, "executions %zu", &executions) == 1 &&
	            getline(&line, &room, f) > 0 && !strncmp(line, "rules", 5) &&
	            share_read_uses(s, line);
	st_status status = ST_OK;
	s->executions += good ? executions : 0;
	while (good && !status && getline(&line, &room, f) > 0) {
		struct st_fuzz_input input = {0};
		good = share_read_input(&input, line, f);
		input.parent = input.seed;
		if (good)
			status = share_add(s, &input, e);
		else
			st_fuzz_input_free(&input);
	}
	free(line);
	return good ? status
	            : st_fail(e, ST_EXIT_FAILED,
	                      "the inputs of a worker in %s are damaged: name another folder "
	                      "with --campaign",
	                      path);
}

st_status
st_fuzz_shared_read(struct st_fuzz_shared *s, const char *path, struct st_error *e)
{
	FILE *f = fopen(path, "rbe");
	if (!f)
		return st_fail(e, ST_EXIT_FAILED, "cannot read the inputs of a worker in %s: %s",
		               path, strerror(errno));
	const st_status status = share_read_all(s, f, path, e);
	fclose(f);
	return status;
}

/* ---- import ---- */

static bool
share_fits(const struct st_fuzz_campaign *c, const struct st_fuzz_input *input)
{
	bool fits = input->seed < c->n_seeds && input->chain.n > 0;
	for (size_t i = 0; i < input->chain.n && fits; i++)
		fits = input->chain.v[i] < c->hits.n;
	return fits;
}

/* Takes the input over. */
static st_status
share_execute(struct st_fuzz_shared *s, struct st_fuzz_campaign *c, struct st_fuzz_input *input,
              struct st_fuzz_execution *x, struct st_error *e)
{
	const size_t rule = input->chain.v[input->chain.n - 1], hits = c->hits.v[rule];
	st_status status;
	if (st_fuzz_campaign_is_replayed(c)) {
		status = st_fuzz_campaign_replay(c, x, e);
	} else {
		status = st_fuzz_execute(c->target, &input->bytes, &c->places, x, e);
		if (status || st_fuzz_interrupted())
			return status;
		status = st_fuzz_campaign_record_child(c, input, x, e);
	}
	input->parent = input->seed;
	bool new;
	if (!status && st_fuzz_known_add(&c->known, &input->bytes, &new))
		return share_no_memory(e);
	if (status || st_fuzz_campaign_take(c, input, rule, x, e))
		return ST_FAILED;
	return share_add_uses(&s->imported, rule, 1, c->hits.v[rule] - hits) ? share_no_memory(e)
	                                                                     : ST_OK;
}

st_status
st_fuzz_shared_import(struct st_fuzz_shared *s, struct st_fuzz_campaign *c, struct st_error *e)
{
	struct st_fuzz_execution x = {0};
	st_status status = ST_OK;
	for (size_t i = 0; i < s->list.n && !status && !st_fuzz_interrupted(); i++) {
		struct st_fuzz_input *input = &s->list.v[i];
		status = share_fits(c, input)
		                 ? share_execute(s, c, input, &x, e)
		                 : st_fail(e, ST_EXIT_FAILED,
		                           "a worker has sent an input of another campaign: name "
		                           "another folder with --campaign");
		st_fuzz_input_free(input);
		*input = (struct st_fuzz_input){0};
	}
	st_fuzz_execution_free(&x);
	return status;
}
