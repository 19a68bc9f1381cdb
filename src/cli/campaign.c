/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe campaign: how far a campaign is, and its workers. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/parse.h"
#include "batch/batch.h"
#include "campaign/status.h"
#include "cli/commands.h"
#include "cli/on.h"
#include "cli/stored.h"
#include "job/campaign.h"
#include "report/json.h"
#include "report/text.h"
#include "timing/timing.h"

enum {
#define O(id, letter, name, argument, shown, help) CAMPAIGN_##id,
	ST_CAMPAIGN_OPTIONS(O)
#undef O
};

struct campaign_arguments {
	const char *verb, *folder;
	long cpu;
	bool json, quiet, help;
};

/* ---- status ---- */

static bool
campaign_is_complete(const struct st_campaign_status *s)
{
	return s->tasks && s->finished == s->tasks && !s->controlled;
}

static const char *
campaign_state(const struct st_campaign_status *s)
{
	size_t alive = s->controlled;
	for (size_t i = 0; i < s->workers.n; i++)
		alive += !s->workers.v[i].lost;
	if (campaign_is_complete(s))
		return "complete";
	return s->cancelled ? "cancelled" : alive ? "running" : "interrupted";
}

static void
print_noise(struct st_table *t, double noise)
{
	if (isnan(noise))
		st_table_cell(t, "-");
	else
		st_table_cell(t, "%.2g %%", noise * 100);
}

static st_status
campaign_print_workers(const struct st_campaign_status *s, FILE *to)
{
	static const struct st_table_column columns[] = {
	        {"node", true}, {"CPU", false}, {"noise", false}, {"state", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	if (!t)
		return ST_FAILED;
	for (size_t i = 0; i < s->workers.n; i++) {
		const struct st_campaign_worker *w = &s->workers.v[i];
		st_table_cell(t, "%s", w->host);
		if (w->cpu < 0)
			st_table_cell(t, "-");
		else
			st_table_cell(t, "%d", w->cpu);
		print_noise(t, w->noise);
		if (w->lost)
			st_table_cell(t, "lost");
		else
			st_table_cell(t, "reported %.0f s ago", w->silent);
	}
	st_table_print(t, to, st_style_of(stdout));
	st_table_free(t);
	return ST_OK;
}

static st_status
campaign_print(const struct st_campaign *c, const struct st_campaign_status *s, FILE *to)
{
	const bool batch = st_batch_is(c->about);
	fprintf(to, "campaign: %s\n", c->folder);
	const bool more =
	        batch && s->controlled && !json_integer_value(json_object_get(c->about, "planned"));
	fprintf(to, "state: %s; %s of %s a result%s, %s given up\n", campaign_state(s),
	        ST_NUMBER(s->finished),
	        ST_COUNT(s->tasks, batch ? "task has" : "run has",
	                 batch ? "tasks have" : "runs have"),
	        more ? " so far (the command may add tasks)" : "",
	        ST_COUNT(s->given_up, "was", "were"));
	if (!isnan(s->left) && s->finished < s->tasks)
		fprintf(to, "time left: about %.0f s\n", s->left);
	st_status status = s->workers.n ? campaign_print_workers(s, to) : ST_OK;
	for (size_t i = 0; i < s->bad.n; i++)
		fprintf(to, "in quarantine: %s\n", s->bad.v[i]);
	return status;
}

static json_t *
campaign_json(const struct st_campaign *c, const struct st_campaign_status *s)
{
	json_t *workers = json_array(), *bad = json_array();
	for (size_t i = 0; i < s->workers.n; i++) {
		const struct st_campaign_worker *w = &s->workers.v[i];
		json_array_append_new(
		        workers, json_pack("{so, so, so, so, sf, sb}", "name",
		                           st_json_text(w->name), "node", st_json_text(w->host),
		                           "cpu", w->cpu < 0 ? json_null() : json_integer(w->cpu),
		                           "noise", st_json_real(w->noise), "silent", w->silent,
		                           "lost", (int)w->lost));
	}
	for (size_t i = 0; i < s->bad.n; i++)
		json_array_append_new(bad, st_json_text(s->bad.v[i]));
	return json_pack("{s:{si, ss}, so, ss, so, so, so, so, so, so}", "strobe", "version",
	                 ST_JSON_VERSION, "tool", "campaign", "folder", st_json_text(c->folder),
	                 "state", campaign_state(s), "runs", st_json_count(s->tasks), "finished",
	                 st_json_count(s->finished), "given_up", st_json_count(s->given_up),
	                 "seconds_left", st_json_real(s->left), "workers", workers, "quarantine",
	                 bad);
}

static st_status
campaign_show_status(const struct campaign_arguments *a, const struct st_campaign *c,
                     struct st_error *e)
{
	struct st_campaign_status s;
	struct st_safe safe;
	st_status status = st_campaign_status_of(&s, c, e);
	if (!status && a->json) {
		status = st_stored_print_json(campaign_json(c, &s), e);
	} else if (!status) {
		FILE *to = st_safe_begin(&safe, stdout);
		if (!to || campaign_print(c, &s, to))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left to print the campaign");
		if (to)
			st_safe_end(&safe);
	}
	st_campaign_status_free(&s);
	return status;
}

/* ---- cancel ---- */

static st_status
campaign_cancel(const struct campaign_arguments *a, const struct st_campaign *c, struct st_error *e)
{
	struct st_campaign_status s;
	struct st_safe safe;
	st_status status = st_campaign_status_of(&s, c, e);
	const bool complete = !status && campaign_is_complete(&s);
	st_campaign_status_free(&s);
	if (!status && !complete)
		status = st_campaign_cancel(c, e);
	FILE *to = status || a->quiet || a->json ? NULL : st_safe_begin(&safe, stdout);
	if (to && complete)
		fprintf(to, "complete: %s; nothing was cancelled\n", c->folder);
	else if (to)
		fprintf(to, "cancelled: %s; to continue: strobe campaign resume %s\n", c->folder,
		        c->folder);
	if (to)
		st_safe_end(&safe);
	return status;
}

/* ---- resume ---- */

/* Becomes the command that the campaign is of. */
static st_status
campaign_resume(const struct campaign_arguments *a, const struct st_campaign *c, struct st_error *e)
{
	const char *directory = json_string_value(json_object_get(c->about, "directory"));
	const json_t *words = json_object_get(c->about, "command");
	const json_t *options_at = json_object_get(c->about, "options_at");
	const size_t n = json_array_size(words);
	const size_t at = options_at ? (size_t)json_integer_value(options_at) : n;
	const char **argv = calloc(n + 3, sizeof *argv), **word = argv;
	if (!argv)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the campaign");
	for (size_t i = 0; i <= n; i++) {
		if (i == at && a->json)
			*word++ = "--format=json";
		if (i == at && a->quiet)
			*word++ = "--quiet";
		if (i < n)
			*word++ = json_string_value(json_array_get(words, i));
	}
	if (!n || !argv[0] || !directory)
		st_cause(e, ST_EXIT_FAILED, "%s/campaign.json has no command to run", c->folder);
	else if (chdir(directory))
		st_cause(e, ST_EXIT_FAILED, "cannot use %s: %s", directory, strerror(errno));
	else if (execv(argv[0], (char *const *)(uintptr_t)argv))
		st_cause(e, ST_EXIT_FAILED, "cannot run %s: %s", argv[0], strerror(errno));
	free(argv);
	return ST_FAILED;
}

/* ---- worker ---- */

static st_status
campaign_worker(const struct campaign_arguments *a, struct st_error *e)
{
	char strobe[PATH_MAX];
	if (st_on_strobe(strobe, sizeof strobe, e))
		return ST_FAILED;
	st_timing_watch_signals();
	struct st_campaign c;
	st_status status = st_campaign_open(&c, a->folder, e);
	const bool batch = !status && st_batch_is(c.about);
	st_campaign_close(&c);
	if (status)
		return ST_FAILED;
	return batch ? st_batch_work(a->folder, (int)a->cpu, e)
	             : st_job_campaign_work(a->folder, (int)a->cpu, strobe, e);
}

/* ---- arguments ---- */

static st_status
apply_campaign_option(struct campaign_arguments *a, int option, const char *value,
                      struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		if (a->folder)
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe campaign takes one folder; '%s' is one too many",
			               value);
		*(a->verb ? &a->folder : &a->verb) = value;
		return ST_OK;
	case CAMPAIGN_cpu:
		if (st_parse_between(value, 0, CPU_SETSIZE - 1, &a->cpu))
			return st_fail(e, ST_EXIT_USAGE,
			               "--cpu takes the number of a CPU, not '%s'", value);
		return ST_OK;
	case CAMPAIGN_format:
		return st_stored_format(value, &a->json, e);
	case CAMPAIGN_quiet:
		a->quiet = true;
		return ST_OK;
	case CAMPAIGN_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
parse_campaign(struct campaign_arguments *a, char *const *argv, struct st_error *e)
{
	static const char *const verbs[] = {"status", "resume", "cancel", "worker"};
	struct st_options o = st_command_options("campaign", argv);
	const char *value;
	bool known = false;
	*a = (struct campaign_arguments){.cpu = -1};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_campaign_option(a, option, value, e))
			return ST_FAILED;
	for (size_t i = 0; a->verb && i < sizeof verbs / sizeof *verbs; i++)
		known |= !strcmp(a->verb, verbs[i]);
	if (a->help)
		return ST_OK;
	if (!known)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe campaign takes status, resume, cancel or worker, not '%s'",
		               a->verb ? a->verb : "");
	if (!a->folder)
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe campaign %s takes the folder of a campaign", a->verb);
	return ST_OK;
}

static st_status
campaign_do(const struct campaign_arguments *a, struct st_error *e)
{
	struct st_campaign c;
	if (!strcmp(a->verb, "worker"))
		return campaign_worker(a, e);
	st_status status = st_campaign_open(&c, a->folder, e);
	if (!status && !strcmp(a->verb, "status"))
		status = campaign_show_status(a, &c, e);
	else if (!status && !strcmp(a->verb, "resume"))
		status = campaign_resume(a, &c, e);
	else if (!status)
		status = campaign_cancel(a, &c, e);
	st_campaign_close(&c);
	return status;
}

int
st_campaign_main(char *const *argv)
{
	struct campaign_arguments a;
	struct st_error e;
	if (parse_campaign(&a, argv, &e))
		return st_complain(&e);
	if (a.help) {
		st_command_help(stdout, st_command_find("campaign"), false);
		return ST_EXIT_OK;
	}
	return campaign_do(&a, &e) ? st_complain(&e) : ST_EXIT_OK;
}
