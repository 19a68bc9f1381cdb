/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe blow that choose the targets of experiments other than functions:
 * locations, calling contexts, lines and blocks. */
#include <stdlib.h>
#include <string.h>

#include "blow/contexts.h"
#include "cli/blow.h"
#include "control/program.h"
#include "session/region.h"

static const char *const target_names[] = {
#define T(id, name) [ST_BLOW_TARGET_##id] = name,
        ST_BLOW_TARGETS(T)
#undef T
};

st_status
st_blow_take_by(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	char *copy = strdup(value), *rest = copy;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	a->options.criteria.by = 0;
	for (char *word; !status && (word = strsep(&rest, ","));) {
		unsigned i = 0;
		while (i < ST_BLOW_TARGET_COUNT && strcmp(word, target_names[i]) != 0)
			i++;
		if (i == ST_BLOW_TARGET_COUNT)
			status = st_fail(e, ST_EXIT_USAGE,
			                 "--by takes function, context, line and block, with "
			                 "commas between them, not '%s'",
			                 word);
		else
			a->options.criteria.by |= 1u << i;
	}
	free(copy);
	return status;
}

void
st_blow_targets_text(const struct st_blow_arguments *a, char *text, size_t room)
{
	const uint32_t by =
	        a->options.criteria.by ? a->options.criteria.by : 1u << ST_BLOW_TARGET_FUNCTION;
	*text = '\0';
	for (unsigned i = 0; i < ST_BLOW_TARGET_COUNT; i++) {
		const size_t at = strlen(text);
		if (by >> i & 1)
			snprintf(text + at, room - at, "%s%s", at ? "," : "", target_names[i]);
	}
}

static size_t
count_call_locations(const struct st_blow_locations *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->list.n; i++)
		n += l->list.v[i].caller != NULL;
	return n;
}

/* Lines and blocks are sampled, and probes on functions would hide callers from the samples. */
static st_status
check_sampled(const struct st_blow_arguments *a, struct st_error *e)
{
	const uint32_t probed = 1u << ST_BLOW_TARGET_FUNCTION | 1u << ST_BLOW_TARGET_CONTEXT;
	const struct st_blow_criteria *c = &a->options.criteria;
	const bool names = a->session.region.functions.n || a->corpus;
	if (c->by & probed || count_call_locations(&a->locations) || (!c->by && names))
		return st_fail(e, ST_EXIT_USAGE,
		               "lines and blocks cannot be tried together with functions or "
		               "calls: make a campaign for each");
	if (a->has_criteria || a->options.how.main)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is about calls of functions, and lines and blocks are chosen "
		               "by samples: leave it out",
		               a->has_criteria ? "criteria" : "main");
	if (a->timeline && strcmp(a->timeline, "none") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--timeline records calls of functions, and lines and blocks have "
		               "none: leave it out");
	return ST_OK;
}

static st_status
check_causal_targets(struct st_blow_arguments *a, struct st_error *e)
{
	struct st_blow_how *how = &a->options.how;
	struct st_blow_criteria *c = &a->options.criteria;
	const size_t calls = count_call_locations(&a->locations);
	how->sampled = c->by & (1u << ST_BLOW_TARGET_LINE | 1u << ST_BLOW_TARGET_BLOCK);
	how->samples = how->sampled || calls < a->locations.list.n;
	how->contexts = calls || c->by >> ST_BLOW_TARGET_CONTEXT & 1;
	if (a->locations.after)
		return st_fail(e, ST_EXIT_USAGE,
		               "--where is about noise, and --mode causal makes none: leave out "
		               "one of them");
	for (size_t i = 0; i < a->locations.list.n; i++)
		if (st_blow_location_is_block(&a->locations.list.v[i]))
			return st_fail(
			        e, ST_EXIT_USAGE,
			        "--at %s is for noise: --mode causal speeds up the blocks of "
			        "the functions of --funcs with --by block",
			        a->locations.list.v[i].text);
	if (how->samples) {
		how->lines = &a->locations;
		a->timeline = a->timeline ? a->timeline : "none";
		return check_sampled(a, e);
	}
	if (calls)
		how->called = c->called = &a->locations;
	return ST_OK;
}

st_status
st_blow_check_targets(struct st_blow_arguments *a, struct st_error *e)
{
	struct st_blow_how *how = &a->options.how;
	struct st_blow_criteria *c = &a->options.criteria;
	if (c->by && !how->causal)
		return st_fail(e, ST_EXIT_USAGE,
		               "--by is for virtual speed-ups: leave it out, or use --mode causal");
	c->only_inside = a->locations.list.n && !a->session.region.functions.n && !a->corpus &&
	                 !a->has_criteria && !c->by;
	if (a->locations.list.n && how->speedup)
		return st_fail(e, ST_EXIT_USAGE,
		               "--at is for single locations, and --mode speed-up puts noise into "
		               "all functions except one: leave out one of them");
	if (how->causal)
		return check_causal_targets(a, e);
	if (a->locations.list.n)
		how->locations = &a->locations;
	how->after = a->locations.after;
	return st_blow_locations_check(&a->locations, e);
}

/* If the user has named functions, their callers are functions of the program, or with --all any.
 */
st_status
st_blow_choose_callers(struct st_blow_arguments *a, struct st_error *e)
{
	struct st_region *r = &a->caller_session.region;
	bool by_env = false;
	if (!a->options.how.contexts && !a->points.automatic)
		return ST_OK;
	a->callers = (struct st_trace_request){.session = &a->caller_session,
	                                       .excluded = &a->session.region.excluded,
	                                       .own = !a->all};
	a->options.how.callers = &a->callers;
	if (a->all)
		return ST_OK;
	if (a->pid)
		return st_blow_own_image(a, r, e);
	if (st_program_image(a->session.program[0], a->program, sizeof a->program, &by_env, e))
		return ST_FAILED;
	return st_patterns_add_path(&r->images, "images", a->program, e);
}

/* ---- locations, after the selection ---- */

/* Calls of --at are those of a context, which were made in the run that selects functions. */
static st_status
check_context_names(const struct st_blow *b, const struct st_blow_locations *l, struct st_error *e)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct st_blow_locations one = {.list = {.v = &l->list.v[i], .n = 1}};
		bool found = false;
		for (size_t k = 0; k < b->functions.n && !found; k++)
			found = b->functions.v[k].traits & ST_BLOW_IS_CONTEXT &&
			        st_blow_locations_call(&one, b, &b->functions.v[k]);
		if (!found)
			return st_fail(
			        e, ST_EXIT_FAILED,
			        "--at %s: no such call returned in the run that selects functions: "
			        "--by context tries all callers of a function",
			        l->list.v[i].text);
	}
	return ST_OK;
}

static st_status
check_sampled_names(const struct st_blow *b, const struct st_blow_locations *l, struct st_error *e)
{
	for (size_t i = 0; i < l->list.n; i++) {
		bool found = false;
		for (size_t k = 0; k < b->functions.n && !found; k++)
			found = b->functions.v[k].traits & ST_BLOW_IS_LINE &&
			        !strcmp(b->functions.v[k].raw_name, l->list.v[i].text);
		if (!found)
			return st_fail(e, ST_EXIT_FAILED,
			               "--at %s: no sample of the run that selects lines was at "
			               "that line: "
			               "use --by line to try the lines that have many samples",
			               l->list.v[i].text);
	}
	return ST_OK;
}

/* Each location needs an instruction that was executed and takes a probe. */
st_status
st_blow_check_location_names(const struct st_blow *b, const struct st_blow_arguments *a,
                             struct st_error *e)
{
	const struct st_blow_locations *l = &a->locations;
	if (a->options.how.samples)
		return check_sampled_names(b, l, e);
	if (a->options.how.called)
		return check_context_names(b, l, e);
	for (size_t i = 0; i < l->list.n; i++) {
		const struct st_blow_location *one = &l->list.v[i];
		const char *why = NULL;
		bool found = false, visited = false;
		for (size_t k = 0; k < b->functions.n; k++) {
			const struct st_blow_function *f = &b->functions.v[k];
			if (!(f->traits & ST_BLOW_IS_INSIDE) || strcmp(f->raw_name, one->text) != 0)
				continue;
			found = true;
			visited |= !f->why && f->calls > 0;
			why = f->why ? f->why : why;
		}
		if (!visited)
			return st_fail(
			        e, found ? ST_EXIT_FAILED : ST_EXIT_USAGE, "--at %s: %s%s",
			        one->text,
			        why     ? "the location takes no probe: "
			        : found ? "it was not executed in the run that selects functions"
			        : st_blow_location_is_block(one)
			                ? "no basic block begins there, or it can take no probe"
			        : one->caller
			                ? "no such call is in the code, or it can take no probe"
			                : "no code belongs to the line: debug information (-g) "
			                  "says which does",
			        why ? why : "");
	}
	return ST_OK;
}
