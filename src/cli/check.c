/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe check: compares two versions by their profiles. */
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/commands.h"
#include "profile/output.h"
#include "report/check.h"
#include "trace/trace.h"

/* With --exit-code: something costs more; all findings are Unknown. */
enum { EXIT_WORSE = 1, EXIT_UNTOLD = 3 };

/* Adds the exclusive times and calls of the functions that strobe trace has timed. */
static st_status
add_traced_costs(struct st_check_side *side, const struct st_profile *p, const char *metric,
                 struct st_error *e)
{
	struct st_trace t = {0};
	struct st_error none;
	if (!st_profile_has_tool(p, "calltimes") || st_trace_read(&t, p, false, &none))
		return ST_OK;
	st_status status = ST_OK;
	for (size_t i = 0; i < t.functions.n && !status; i++) {
		const struct st_trace_function *f = &t.functions.v[i];
		const struct st_check_cost cost = {.metric = ST_CHECK_TRACED,
		                                   .unit = "ns",
		                                   .image = f->image,
		                                   .build_id = f->build_id,
		                                   .file = f->file,
		                                   .name = f->name,
		                                   .offset = f->offset,
		                                   .cost = (double)f->exclusive_ns,
		                                   .calls = f->calls};
		status = st_check_add_cost(side, &cost, metric);
	}
	st_trace_free(&t);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles")
	              : ST_OK;
}

static st_status
make_side(struct st_check_side *side, const struct st_check_arguments *a,
          struct st_profile *const *profiles, size_t n, struct st_error *e)
{
	for (size_t i = 0; i < n; i++) {
		if (st_check_add_profile(side, profiles[i], a->metric))
			return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
		if (add_traced_costs(side, profiles[i], a->metric, e))
			return ST_FAILED;
	}
	return st_check_end_runs(side)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles")
	               : ST_OK;
}

static st_status
is_comparable(const struct st_check_arguments *a, const struct st_check_group *g,
              const struct st_check_subjects *s, struct st_error *e)
{
	size_t both = 0;
	for (size_t i = 0; i < s->list.n; i++)
		both += s->list.v[i].item[ST_A] && s->list.v[i].item[ST_B];
	if (both)
		return ST_OK;
	for (int side = 0; side < ST_SIDES; side++)
		if (!s->sides[side]->items.n && !a->metric && !a->how.of)
			return st_fail(
			        e, ST_EXIT_FAILED,
			        "%s has nothing that can be compared: neither counts of "
			        "functions nor waits for locks nor measurements; strobe diff "
			        "compares tables of other tools",
			        g->names[side]);
	if (a->metric || a->how.of)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing that %s and %s have in common fits%s%s%s%s; strobe show "
		               "FILE lists the contents of a profile",
		               g->names[ST_A], g->names[ST_B], a->metric ? " --metric " : "",
		               a->metric ? a->metric : "", a->how.of ? " --of " : "",
		               a->how.of ? a->how.of : "");
	return st_fail(e, ST_EXIT_FAILED,
	               "%s and %s have no location and metric in common: are they of the same "
	               "program and collector?",
	               g->names[ST_A], g->names[ST_B]);
}

/* A check; findings are printed, or added to the JSON. */
struct checking {
	const struct st_check_arguments *a;
	struct st_check_json *json;
	FILE *out;
	bool worse, told;
};

static void
note_verdicts(struct checking *c, const struct st_check_result *r)
{
	for (size_t i = 0; i < r->findings.n + r->totals.n; i++) {
		const struct st_finding *f =
		        i < r->findings.n ? &r->findings.v[i] : &r->totals.v[i - r->findings.n];
		c->worse |= st_finding_is_alarm(f->kind);
		c->told |= f->kind != ST_FINDING_UNKNOWN;
	}
}

/* A method, the rule that chose it, and what all methods know of the profiles. */
struct chosen_method {
	enum st_check_method method;
	size_t rule; /* from 1; 0: none */
	const char *machines;
};

static st_status
check_subjects(struct checking *c, const struct st_check_group *g, struct chosen_method chosen,
               const struct st_check_subjects *s, struct st_error *e)
{
	struct st_check_result r;
	st_status status = st_check_run(&r, s, chosen.method, &c->a->how, e);
	const struct st_check_report report = {.result = &r,
	                                       .method = chosen.method,
	                                       .rule = chosen.rule,
	                                       .rules_file = c->a->rules.file.path,
	                                       .how = &c->a->how,
	                                       .title = g->title,
	                                       .machines = chosen.machines,
	                                       .names = {g->names[ST_A], g->names[ST_B]},
	                                       .cutoff = c->a->cutoff,
	                                       .top = (size_t)c->a->top,
	                                       .all = c->a->all,
	                                       .markdown = c->a->format == ST_CHECK_MARKDOWN,
	                                       .style = st_style_of(stdout)};
	if (!status) {
		note_verdicts(c, &r);
		status = c->json ? st_check_json_add(c->json, &report, e)
		                 : st_check_print(&report, c->out, e);
	}
	st_check_result_free(&r);
	return status;
}

/* Outliers are searched among all locations, so --of selects afterwards. */
static bool
needs_all(enum st_check_method method)
{
	return method == ST_CHECK_outliers;
}

static st_status
check_by_method(struct checking *c, const struct st_check_group *g, struct chosen_method chosen,
                const struct st_check_side sides[ST_SIDES], struct st_error *e)
{
	struct st_check_subjects subjects = {0};
	st_status status = ST_OK;
	if (st_check_match(&subjects, sides, needs_all(chosen.method) ? NULL : c->a->how.of))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left to compare the profiles");
	if (!status)
		status = is_comparable(c->a, g, &subjects, e);
	if (!status)
		status = check_subjects(c, g, chosen, &subjects, e);
	st_check_subjects_free(&subjects);
	return status;
}

/* Those that the user named, otherwise those of the rules that fit, otherwise the default. */
static st_status
choose_methods(const struct st_check_arguments *a, const struct st_check_group *g,
               struct st_check_method_list *out, struct st_error *e)
{
	const struct st_check_profiles sides[] = {{g->profiles[ST_A].v, g->profiles[ST_A].n},
	                                          {g->profiles[ST_B].v, g->profiles[ST_B].n}};
	*out = a->methods;
	if (!out->n && st_check_rules_choose(&a->rules, sides, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to choose the methods");
	if (!out->n)
		st_check_method_add(out, ST_CHECK_distribution, 0);
	return ST_OK;
}

static st_status
check_group(struct checking *c, const struct st_check_group *g, struct st_error *e)
{
	struct st_check_side sides[ST_SIDES] = {0};
	struct st_check_method_list methods;
	char *machines = NULL;
	st_status status = choose_methods(c->a, g, &methods, e);
	if (!status)
		status = st_check_machines(g, &machines, e);
	for (int side = 0; side < ST_SIDES && !status; side++)
		status = make_side(&sides[side], c->a, g->profiles[side].v, g->profiles[side].n, e);
	for (size_t i = 0; i < methods.n && !status; i++) {
		const struct chosen_method chosen = {methods.v[i], methods.rules[i], machines};
		if (i && !c->json)
			putc('\n', c->out);
		status = check_by_method(c, g, chosen, sides, e);
	}
	for (int side = 0; side < ST_SIDES; side++)
		st_check_side_free(&sides[side]);
	free(machines);
	return status;
}

static st_status
check_groups(struct checking *c, const struct st_check_groups *groups, struct st_error *e)
{
	for (size_t i = 0; i < groups->v.n; i++) {
		if (i && !c->json)
			putc('\n', c->out);
		if (check_group(c, &groups->v.v[i], e))
			return ST_FAILED;
	}
	for (size_t i = 0; i < groups->left_out.n && !c->json; i++)
		fprintf(c->out, "\n%s\n", groups->left_out.v[i]);
	return ST_OK;
}

static st_status
check_and_print(const struct st_check_arguments *a, const struct st_check_groups *groups, int *code,
                struct st_error *e)
{
	struct checking c = {.a = a};
	struct st_safe safe;
	struct st_check_json json;
	const bool is_json = a->format == ST_CHECK_JSON;
	if (!is_json && !(c.out = st_safe_begin(&safe, stdout)))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to print the result");
	if (is_json)
		st_check_json_begin(c.json = &json);
	st_status status = check_groups(&c, groups, e);
	char *text = is_json ? st_check_json_end(&json, groups->left_out.v, groups->left_out.n,
	                                         status, e)
	                     : NULL;
	if (status && !is_json)
		free(st_text_end(&safe.text));
	if (status || (is_json && !text))
		return ST_FAILED;
	if (is_json)
		st_print_json_safely(stdout, text);
	else
		st_safe_end(&safe);
	free(text);
	if (a->exit_code)
		*code = c.worse ? EXIT_WORSE : c.told ? ST_EXIT_OK : EXIT_UNTOLD;
	return st_output_flush(e);
}

static st_status
run_check(const struct st_check_arguments *a, int *code, struct st_error *e)
{
	struct st_check_groups groups;
	st_status status = st_check_read(a, &groups, e);
	if (!status)
		status = check_and_print(a, &groups, code, e);
	st_check_groups_free(&groups);
	return status;
}

int
st_check_main(char *const *argv)
{
	struct st_check_arguments a;
	struct st_error e;
	int code = ST_EXIT_OK;
	const st_status bad = st_check_parse(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("check"), false);
	else if (bad || run_check(&a, &code, &e))
		code = st_complain(&e);
	st_check_arguments_free(&a);
	return code;
}
