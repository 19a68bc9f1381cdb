/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fuzz/finding.h"

enum { MOST_CANDIDATES = 30, MOST_FUNCTIONS = 5, MOST_FAULTS = 5, JOINED = 4 };

const char *
st_finding_kind_name(enum st_finding_kind kind)
{
	static const char *const names[] = {"slow", "hang", "fault"};
	return names[kind];
}

static void
finding_free(struct st_finding *f)
{
	st_fuzz_bytes_free(&f->witness);
	st_fuzz_bytes_free(&f->minimal);
	st_fuzz_difference_free(&f->difference);
	free(f->chain.v);
	if (f->has_family)
		st_fuzz_family_free(&f->family);
	free(f->times.v);
	free(f->worked.v);
	st_fuzz_stack_free(&f->stack);
}

void
st_findings_free(struct st_findings *findings)
{
	for (size_t i = 0; i < findings->list.n; i++)
		finding_free(&findings->list.v[i]);
	free(findings->list.v);
}

static st_status
no_memory_to_judge(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the findings");
}

struct st_finding *
st_findings_add(struct st_findings *findings, const struct st_fuzz_campaign *c,
                enum st_finding_kind kind, size_t number)
{
	struct st_finding *f = ST_PUSH(&findings->list);
	if (!f)
		return NULL;
	const struct st_fuzz_input *seed = &c->corpus.list.v[number];
	f->kind = kind;
	f->seed = number;
	f->seed_bytes = seed->bytes.n;
	f->seed_work = seed->work;
	f->slowdown = (struct st_interval){NAN, NAN, NAN};
	f->seed_seconds = f->witness_seconds = NAN;
	return f;
}

/* A finding with the input as its witness. NULL: no memory. */
static struct st_finding *
add_finding(struct st_findings *findings, const struct st_fuzz_campaign *c,
            enum st_finding_kind kind, const struct st_fuzz_input *input)
{
	struct st_finding *f = st_findings_add(findings, c, kind, input->seed);
	if (!f)
		return NULL;
	f->work = input->work;
	for (size_t i = 0; i < input->chain.n; i++) {
		size_t *link = ST_PUSH(&f->chain);
		if (!link)
			return NULL;
		*link = input->chain.v[i];
	}
	return st_fuzz_bytes_copy(&f->witness, &input->bytes) ? NULL : f;
}

bool
st_findings_has_law(const struct st_findings *findings, const struct st_finding *f)
{
	for (size_t i = 0; i < findings->list.n; i++) {
		const struct st_finding *other = &findings->list.v[i];
		if (other != f && other->law.superlinear && other->function.id == f->function.id)
			return true;
	}
	return false;
}

void
st_findings_drop_last(struct st_findings *findings)
{
	finding_free(&findings->list.v[--findings->list.n]);
}

/* ---- slow inputs ---- */

struct candidate {
	double work_by_byte; /* with paths: how much the path grew that grew most */
	size_t number;
};

static int
by_work(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	int order = (a->work_by_byte < b->work_by_byte) - (a->work_by_byte > b->work_by_byte);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Inputs that made the program work clearly more than the seeds, the most for each byte first.
 * Returns how many; *out is malloc'ed, NULL: no memory. */
static size_t
list_candidates(const struct st_fuzz_campaign *c, struct candidate **out)
{
	size_t n = 0;
	*out = malloc((c->corpus.list.n + 1) * sizeof **out);
	for (size_t i = c->n_seeds; *out && i < c->corpus.list.n; i++) {
		const struct st_fuzz_input *input = &c->corpus.list.v[i];
		const double more = c->target->paths ? input->grown - 1
		                                     : (double)input->work - (double)c->corpus.base;
		if (input->grown > 1 + 2 * c->unsteady && input->grown > 1.1)
			(*out)[n++] = (struct candidate){more / (double)(input->bytes.n + 1), i};
	}
	if (*out)
		qsort(*out, n, sizeof **out, by_work);
	return n;
}

/* The functions that have been judged. */
struct judged {
	uint64_t ids[MOST_FUNCTIONS];
	size_t n;
};

static bool
is_judged(const struct judged *judged, uint64_t id)
{
	for (size_t i = 0; i < judged->n; i++)
		if (judged->ids[i] == id)
			return true;
	return false;
}

/* The function in which the input makes the program do more than its seed does. */
static st_status
find_grown_function(struct st_judging *j, const struct st_fuzz_input *input,
                    struct st_fuzz_hottest *function, struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	struct st_fuzz_execution x = {0}, seed = {0};
	st_status status = st_judging_execute(j, &input->bytes, &x, e);
	if (!status)
		status = st_judging_execute(j, &c->corpus.list.v[input->seed].bytes, &seed, e);
	if (!status && c->target->paths && x.paths.n)
		st_fuzz_path_function(j->functions,
		                      st_fuzz_paths_growth(&c->paths, &x.paths, NULL).path,
		                      function);
	else if (!status && st_fuzz_hottest(j->functions, &x, &seed, function))
		status = no_memory_to_judge(e);
	st_fuzz_execution_free(&x);
	st_fuzz_execution_free(&seed);
	return status;
}

static st_status
judge_slow(struct st_judging *j, struct st_findings *findings, struct judged *judged,
           const struct st_fuzz_input *input, struct st_error *e)
{
	struct st_fuzz_hottest function;
	if (!input->bytes.n) { /* one size shows no growth */
		findings->unsure++;
		return ST_OK;
	}
	if (find_grown_function(j, input, &function, e))
		return ST_FAILED;
	if (st_judging_is_over(j)) {
		findings->left++;
		return ST_OK;
	}
	if (is_judged(judged, function.id))
		return ST_OK;
	judged->ids[judged->n++] = function.id;
	struct st_finding *f = add_finding(findings, j->campaign, ST_FINDING_SLOW, input);
	if (!f)
		return no_memory_to_judge(e);
	f->function = function;
	if (st_witness_explain(j, f, e))
		return ST_FAILED;
	if (st_findings_has_law(findings, f)) {
		st_findings_drop_last(findings);
		return ST_OK;
	}
	if (!f->law.superlinear) {
		findings->linear += f->law.form != ST_LAW_UNKNOWN;
		findings->unsure += f->law.form == ST_LAW_UNKNOWN;
		st_findings_drop_last(findings);
		return ST_OK;
	}
	return st_witness_time(j, f, e);
}

static st_status
judge_candidates(struct st_judging *j, struct st_findings *findings, struct st_error *e)
{
	struct candidate *candidates;
	struct judged judged = {.n = 0};
	for (size_t k = 0; k < findings->list.n && judged.n < MOST_FUNCTIONS; k++)
		if (findings->list.v[k].law.superlinear) /* of a hang */
			judged.ids[judged.n++] = findings->list.v[k].function.id;
	size_t n = list_candidates(j->campaign, &candidates), i = 0;
	st_status status = candidates ? ST_OK : no_memory_to_judge(e);
	for (; i < n && i < MOST_CANDIDATES && judged.n < MOST_FUNCTIONS && !status &&
	       !st_judging_is_over(j);
	     i++)
		status = judge_slow(j, findings, &judged,
		                    &j->campaign->corpus.list.v[candidates[i].number], e);
	if (st_judging_is_over(j))
		findings->left += n - i;
	free(candidates);
	return status;
}

/* ---- faults and hangs ---- */

/* The shortest fault that ended in this way and is not done yet. */
static const struct st_fuzz_fault *
next_fault(const struct st_fuzz_campaign *c, enum st_fuzz_end end, const bool *done, size_t *number)
{
	const struct st_fuzz_fault *best = NULL;
	for (size_t i = 0; i < c->faults.n; i++)
		if (!done[i] && c->faults.v[i].end == end &&
		    (!best || c->faults.v[i].input.bytes.n < best->input.bytes.n)) {
			best = &c->faults.v[i];
			*number = i;
		}
	return best;
}

static void
mark_same_end(const struct st_fuzz_campaign *c, const struct st_fuzz_fault *fault, bool *done)
{
	for (size_t i = 0; i < c->faults.n; i++)
		done[i] = done[i] ||
		          (c->faults.v[i].end == fault->end && c->faults.v[i].code == fault->code);
}

/* Names the function in which a hang was interrupted, if the law gave no function. */
static void
name_hang(struct st_finding *f)
{
	const struct st_fuzz_frame *frame = f->stack.frames.n ? f->stack.frames.v : NULL;
	if (f->kind != ST_FINDING_HANG || f->law.form != ST_LAW_UNKNOWN || !frame ||
	    !frame->function)
		return;
	f->function.name = frame->function;
	f->function.image = frame->image;
}

/* Explains the shortest fault of each signal, or the shortest hang: all hangs end in the same way.
 */
static st_status
judge_faults(struct st_judging *j, struct st_findings *findings, enum st_fuzz_end end,
             struct st_error *e)
{
	struct st_fuzz_campaign *c = j->campaign;
	const struct st_fuzz_fault *fault;
	bool *done = calloc(c->faults.n + 1, sizeof *done);
	st_status status = done ? ST_OK : no_memory_to_judge(e);
	size_t number = 0;
	for (size_t most = MOST_FAULTS;
	     most && !status && (fault = next_fault(c, end, done, &number)); most--) {
		mark_same_end(c, fault, done);
		if (st_judging_is_over(j)) {
			findings->left++;
			continue;
		}
		struct st_finding *f = add_finding(
		        findings, c, end == ST_END_HANG ? ST_FINDING_HANG : ST_FINDING_FAULT,
		        &fault->input);
		if (!f) {
			status = no_memory_to_judge(e);
			break;
		}
		f->signal = fault->code;
		status = st_witness_explain(j, f, e);
		if (!status)
			status = st_witness_stack(j, f, e);
		name_hang(f);
	}
	free(done);
	return status;
}

static st_status
find_differences(const struct st_fuzz_campaign *c, struct st_findings *findings, struct st_error *e)
{
	for (size_t i = 0; i < findings->list.n; i++) {
		struct st_finding *f = &findings->list.v[i];
		if (st_fuzz_difference_find(&f->difference, &c->corpus.list.v[f->seed].bytes,
		                            &f->witness, JOINED))
			return no_memory_to_judge(e);
	}
	return ST_OK;
}

st_status
st_findings_judge(struct st_findings *findings, struct st_fuzz_campaign *c,
                  struct st_fuzz_functions *functions, double seconds, struct st_error *e)
{
	struct st_judging j = {c, functions, st_now_raw() + seconds};
	const size_t before = c->n_executions;
	st_status status = judge_faults(&j, findings, ST_END_HANG, e);
	if (!status)
		status = judge_candidates(&j, findings, e);
	if (!status && !st_judging_is_over(&j))
		status = st_findings_judge_different(&j, findings, e);
	if (!status)
		status = judge_faults(&j, findings, ST_END_SIGNAL, e);
	if (!status)
		status = find_differences(c, findings, e);
	findings->executions = c->n_executions - before;
	findings->interrupted = st_fuzz_interrupted() != 0;
	return status;
}
