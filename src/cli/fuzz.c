/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe fuzz: inputs that make a program work more than their size explains. */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/option.h"
#include "base/parse.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/fuzz.h"
#include "cli/on.h"
#include "cli/progress.h"
#include "profile/output.h"
#include "report/json.h"

enum {
#define O(id, letter, name, argument, shown, help) FUZZ_##id,
	ST_FUZZ_OPTIONS(O)
#undef O
};

enum { MOST_SEED_BYTES = 64 << 20 };

/* ---- options ---- */

static st_status
fuzz_time(const char *option, const char *value, double *seconds, struct st_error *e)
{
	return !st_parse_time(value, seconds) && *seconds > 0 && *seconds <= 1e7
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE, "--%s takes a time such as 5s or 2m, not '%s'",
	                         option, value);
}

static st_status
fuzz_number(const char *option, const char *value, double least, double *number, struct st_error *e)
{
	const char *end;
	return !st_parse_real(value, number, &end) && !*end && *number >= least
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE, "--%s takes a number of at least %g, not '%s'",
	                         option, least, value);
}

static st_status
fuzz_whole(const char *option, const char *value, long least, size_t *number, struct st_error *e)
{
	long parsed;
	if (st_option_number(option, value, least, LONG_MAX, &parsed, e))
		return ST_FAILED;
	*number = (size_t)parsed;
	return ST_OK;
}

static st_status
fuzz_workers(const char *value, size_t *workers, struct st_error *e)
{
	long parsed;
	if (st_option_number("jobs", value, 1, ST_FUZZ_SLOTS, &parsed, e))
		return ST_FAILED;
	*workers = (size_t)parsed;
	return ST_OK;
}

/* The CPUs that strobe may use. */
static size_t
default_workers(void)
{
	cpu_set_t set;
	size_t n = sched_getaffinity(0, sizeof set, &set) ? 1 : (size_t)CPU_COUNT(&set);
	return n < ST_FUZZ_SLOTS ? n : ST_FUZZ_SLOTS;
}

static st_status
fuzz_bytes(const char *value, size_t *bytes, struct st_error *e)
{
	uint64_t size;
	if (st_parse_size(value, &size) || !size || size > MOST_SEED_BYTES)
		return st_fail(e, ST_EXIT_USAGE,
		               "--size takes a number of bytes from 1 to 64M, such as 4k, not '%s'",
		               value);
	*bytes = size;
	return ST_OK;
}

static st_status
fuzz_rules(struct st_fuzz_rules *rules, const char *list, struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = st_rules_add_named(rules, word, e);
	free(copy);
	return status;
}

static st_status
fuzz_strategy(const char *value, enum st_fuzz_strategy *strategy, struct st_error *e)
{
	static const char *const words[] = {
#define S(id, name) name,
	        ST_FUZZ_STRATEGIES(S)
#undef S
	};
	unsigned which;
	if (st_option_word("strategy", value, words, ST_STRATEGY_COUNT, &which, e))
		return ST_FAILED;
	*strategy = (enum st_fuzz_strategy)which;
	return ST_OK;
}

static st_status
fuzz_coverage(const char *value, bool *paths, struct st_error *e)
{
	static const char *const words[] = {"sum", "paths"};
	unsigned which;
	if (st_option_word("coverage", value, words, 2, &which, e))
		return ST_FAILED;
	*paths = which == 1;
	return ST_OK;
}

static st_status
fuzz_add_seed(struct st_fuzz_arguments *a, const char *path, struct st_error *e)
{
	const char **new = ST_PUSH(&a->seeds);
	if (!new)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the seeds");
	*new = path;
	return ST_OK;
}

/* Options of the output. */
static st_status
apply_fuzz_output(struct st_fuzz_arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case FUZZ_resume:
		a->resume = true;
		return ST_OK;
	case FUZZ_on:
		return st_on_take(&a->place, "on", value, e);
	case FUZZ_campaign:
		return st_on_take(&a->place, "campaign", value, e);
	case FUZZ_lease:
		return st_on_take(&a->place, "lease", value, e);
	case FUZZ_node_noise:
		return st_on_take(&a->place, "node-noise", value, e);
	case FUZZ_experiment:
		a->experiment = value;
		return ST_OK;
	case FUZZ_reference:
		a->reference = value;
		return ST_OK;
	case FUZZ_exit_code:
		a->exit_code = true;
		return ST_OK;
	case FUZZ_format:
		a->json = !strcmp(value, "json");
		return a->json || !strcmp(value, "text") ? ST_OK
		                                         : st_bad_format(value, "text and json", e);
	case FUZZ_output:
		a->output = value;
		return ST_OK;
	case FUZZ_quiet:
		a->quiet = true;
		return ST_OK;
	case FUZZ_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
apply_fuzz_option(struct st_fuzz_arguments *a, int option, const char *value, struct st_error *e)
{
	size_t seed;
	switch (option) {
	case FUZZ_seeds:
		return fuzz_add_seed(a, value, e);
	case FUZZ_as:
		a->as = value;
		return ST_OK;
	case FUZZ_time:
		return fuzz_time("time", value, &a->choice.seconds, e);
	case FUZZ_executions:
		return fuzz_whole("executions", value, 1, &a->choice.executions, e);
	case FUZZ_jobs:
		return fuzz_workers(value, &a->choice.workers, e);
	case FUZZ_judge:
		return fuzz_time("judge", value, &a->judge, e);
	case FUZZ_coverage:
		return fuzz_coverage(value, &a->target.paths, e);
	case FUZZ_fresh:
		a->target.fresh = true;
		return ST_OK;
	case FUZZ_hang:
		return fuzz_time("hang", value, &a->target.hang_seconds, e);
	case FUZZ_size:
		return fuzz_bytes(value, &a->choice.most_bytes, e);
	case FUZZ_size_ratio:
		return fuzz_number("size-ratio", value, 1, &a->choice.size_ratio, e);
	case FUZZ_rate:
		return fuzz_number("rate", value, 1, &a->choice.rate, e);
	case FUZZ_rules:
		return fuzz_rules(&a->rules, value, e);
	case FUZZ_regex:
		return st_rules_add_user(&a->rules, value, e);
	case FUZZ_dictionary:
		return st_rules_add_dictionary(&a->rules, value, e);
	case FUZZ_strategy:
		return fuzz_strategy(value, &a->choice.strategy, e);
	case FUZZ_seed:
		if (fuzz_whole("seed", value, 0, &seed, e))
			return ST_FAILED;
		a->choice.seed = seed;
		return ST_OK;
	default:
		return apply_fuzz_output(a, option, value, e);
	}
}

/* ---- the program ---- */

/* Copies the arguments and finds @@ among them. */
static st_status
take_fuzz_program(struct st_fuzz_arguments *a, struct st_error *e)
{
	struct st_fuzz_target *t = &a->target;
	size_t n = 0, found = 0;
	while (a->program[n])
		n++;
	t->argv = calloc(n + 1, sizeof *t->argv);
	if (!t->argv)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the arguments");
	for (size_t i = 0; i < n; i++) {
		t->argv[i] = a->program[i];
		if (i && !strcmp(a->program[i], "@@")) {
			t->at = i;
			found++;
		}
	}
	if (found > 1)
		return st_fail(e, ST_EXIT_USAGE, "@@ stands for the input: give it only once");
	const char *as = a->as ? a->as : found ? "file" : "stdin";
	t->channel = !strcmp(as, "file")       ? ST_CHANNEL_FILE
	             : !strcmp(as, "argument") ? ST_CHANNEL_ARGUMENT
	                                       : ST_CHANNEL_STDIN;
	if (t->channel == ST_CHANNEL_STDIN && strcmp(as, "stdin"))
		return st_fail(e, ST_EXIT_USAGE, "--as takes stdin, file or argument, not '%s'",
		               as);
	if ((t->channel == ST_CHANNEL_STDIN) == (found > 0))
		return st_fail(e, ST_EXIT_USAGE,
		               found ? "with --as stdin, no argument may be @@: remove it, or "
		                       "use --as file"
		                     : "--as %s needs the argument @@, which stands for the "
		                       "input",
		               as);
	return ST_OK;
}

static st_status
parse_fuzz(struct st_fuzz_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("fuzz", argv);
	const char *value;
	*a = (struct st_fuzz_arguments){.choice = {.seed = 1,
	                                           .workers = default_workers(),
	                                           .seconds = 60,
	                                           .rate = 1.5,
	                                           .round_interesting = 20,
	                                           .round_executions = 100},
	                                .target = {.hang_seconds = 10},
	                                .place = ST_BATCH_PLACE("--node-noise"),
	                                .command = argv,
	                                .judge = 60};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		if (option == ST_OPTIONS_OTHER) {
			a->program = o.argv + o.at - 1;
			break;
		}
		if (apply_fuzz_option(a, option, value, e))
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	if (!a->program)
		return st_fail(e, ST_EXIT_USAGE,
		               "no program to fuzz: strobe fuzz -s SEED [options] -- PROGRAM @@");
	if (!a->seeds.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "no seeds: name a file that the program reads, or a folder of such "
		               "files, with -s");
	return st_fuzz_far_check(a, e) ? ST_FAILED : take_fuzz_program(a, e);
}

/* ---- the campaign ---- */

static void
show_fuzz(void *arg, const struct st_fuzz_campaign *c)
{
	char line[480];
	snprintf(
	        line, sizeof line,
	        "%s, %s interesting, %s, %s, at most %.3g times the work of the seeds, %.0f s left",
	        ST_COUNT(c->n_executions, "execution", "executions"), ST_NUMBER(c->n_interesting),
	        ST_COUNT(c->n_hangs, "hang", "hangs"), ST_COUNT(c->n_faults, "fault", "faults"),
	        (double)c->most_work / (double)c->corpus.base,
	        c->choice.seconds - (st_now_raw() - c->began));
	st_progress_line(arg, line);
}

struct fuzz_arg {
	struct st_fuzz_folder folder;
	struct st_progress progress;
};

static void
fuzz_progress(void *arg, const struct st_fuzz_campaign *c)
{
	show_fuzz(&((struct fuzz_arg *)arg)->progress, c);
}

static st_status
fuzz_keep(void *arg, const struct st_fuzz_campaign *c, const struct st_fuzz_input *input,
          const struct st_fuzz_fault *fault, struct st_error *e)
{
	return st_fuzz_folder_keep(&((struct fuzz_arg *)arg)->folder, c, input, fault, e);
}

static st_status
read_seeds(const struct st_fuzz_arguments *a, struct st_fuzz_inputs *seeds, struct st_error *e)
{
	for (size_t i = 0; i < a->seeds.n; i++)
		if (st_fuzz_inputs_read(seeds, a->seeds.v[i], MOST_SEED_BYTES, e))
			return ST_FAILED;
	if (!seeds->n)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the folder %s has no seeds: put files that the program reads into it",
		        a->seeds.v[0]);
	return ST_OK;
}

static st_status
fuzz_write_json(char *text, const char *folder, struct st_error *e)
{
	char path[PATH_MAX];
	struct st_fuzz_bytes bytes = {.v = (uint8_t *)text, .n = strlen(text)};
	if ((size_t)snprintf(path, sizeof path, "%s/fuzz.json", folder) >= sizeof path)
		return st_fail(e, ST_EXIT_FAILED, "the path %s is too long", folder);
	return st_fuzz_bytes_write(&bytes, path, e);
}

static st_status
fuzz_report(const struct st_fuzz_arguments *a, const struct st_fuzz_campaign *c,
            const struct st_findings *findings, struct st_fuzz_functions *functions,
            const char *folder, struct st_error *e)
{
	struct st_safe safe;
	char *json = st_json_document(
	        st_fuzz_json(c, findings, functions, folder, st_fuzz_campaign_seconds(c)),
	        ST_JSON_DOCUMENT, "the result", e);
	if (!json)
		return ST_FAILED;
	st_status status = fuzz_write_json(json, folder, e);
	if (!status && a->json)
		st_print_json_safely(stdout, json);
	FILE *out = !status && !a->json && !a->quiet ? st_safe_begin(&safe, stdout) : NULL;
	if (out) {
		st_fuzz_print(c, findings, functions, folder, out, st_style_of(stdout));
		st_safe_end(&safe);
	}
	free(json);
	if (!status)
		status = st_output_flush(e);
	return status;
}

/* Judges the inputs that were found. After a signal, only writes the result. */
static st_status
fuzz_judge(const struct st_fuzz_arguments *a, struct st_fuzz_campaign *c,
           const struct st_fuzz_folder *folder, bool *found, struct st_error *e)
{
	struct st_findings findings = {0};
	struct st_fuzz_functions *functions = st_fuzz_functions_new(&c->places);
	st_status status = functions ? st_findings_judge(&findings, c, functions, a->judge, e)
	                             : st_fail(e, ST_EXIT_FAILED, "no memory left");
	for (size_t i = 0; i < findings.list.n && !status; i++)
		status = st_fuzz_folder_finding(folder, c, &findings.list.v[i], i + 1, e);
	if (!status)
		status = fuzz_report(a, c, &findings, functions, folder->path, e);
	*found = findings.list.n > 0;
	st_findings_free(&findings);
	st_fuzz_functions_free(functions);
	return status;
}

/* Opens the folder and its journal. */
static st_status
open_fuzz_folder(const struct st_fuzz_arguments *a, struct st_fuzz_campaign *c,
                 struct fuzz_arg *arg, const char *folder, const char *identity, struct st_error *e)
{
	char path[PATH_MAX];
	if ((size_t)snprintf(path, sizeof path, "%s/journal", folder) >= sizeof path)
		return st_fail(e, ST_EXIT_FAILED, "the path %s is too long", folder);
	if (st_fuzz_folder_open(&arg->folder, folder, a->resume, e) ||
	    st_fuzz_journal_open(&c->journal, path, identity, e))
		return ST_FAILED;
	if (a->resume && !a->place.on && !a->quiet && *c->journal.file.dropped)
		fprintf(stderr, "strobe: %s\n", c->journal.file.dropped);
	if (a->resume && !a->place.on && !a->quiet && !c->journal.n_read)
		fprintf(stderr,
		        "strobe: the journal %s has no executions: the campaign starts from the "
		        "beginning\n",
		        path);
	return st_fuzz_folder_log(&arg->folder, e);
}

/* Workers search; this process executes what they have found, so that all counts of the result are
 * its own. */
static st_status
fuzz_search_far(struct st_fuzz_arguments *a, struct st_fuzz_campaign *c, const char *identity,
                struct st_fuzz_shared *shared, struct st_error *e)
{
	const st_status status = st_fuzz_far_search(&a->far, a, identity, shared, e);
	st_fuzz_watch_signals();
	c->n_elsewhere = shared->executions;
	return status;
}

/* Whether the folder has the journal of a controller that was killed after the search. */
static bool
has_fuzz_journal(const char *folder)
{
	char path[PATH_MAX];
	return (size_t)snprintf(path, sizeof path, "%s/journal", folder) < sizeof path &&
	       !access(path, F_OK);
}

/* Executes the seeds, and opens the folder of the result: first, if it is there already. No folder
 * is made, and no worker begins, for a program that does not run or does not survive its seeds. */
static st_status
begin_fuzz(struct st_fuzz_arguments *a, struct st_fuzz_campaign *c, struct st_fuzz_inputs *seeds,
           struct fuzz_arg *arg, const char *folder, const char *identity,
           struct st_fuzz_shared *shared, struct st_error *e)
{
	st_status status = ST_OK;
	if (a->place.on)
		a->resume = a->place.campaign && has_fuzz_journal(folder);
	if (a->resume && a->place.on)
		status = fuzz_search_far(a, c, identity, shared, e);
	if (!status && a->resume)
		status = open_fuzz_folder(a, c, arg, folder, identity, e);
	if (!status)
		status = st_fuzz_campaign_begin(c, seeds->v, seeds->n, e);
	if (!status && a->place.on && !a->resume)
		status = fuzz_search_far(a, c, identity, shared, e);
	if (!status && !a->resume)
		status = open_fuzz_folder(a, c, arg, folder, identity, e);
	return status;
}

static st_status
fuzz_search(struct st_fuzz_arguments *a, struct st_fuzz_campaign *c, struct st_fuzz_inputs *seeds,
            struct fuzz_arg *arg, const char *folder, struct st_error *e)
{
	struct st_fuzz_shared shared = {0};
	char *identity = st_fuzz_identity(c->target, c->rules, &c->choice, seeds->v, seeds->n);
	st_status status = identity ? begin_fuzz(a, c, seeds, arg, folder, identity, &shared, e)
	                            : st_fail(e, ST_EXIT_FAILED, "no memory left");
	if (!status)
		status = a->place.on ? st_fuzz_shared_import(&shared, c, e)
		                     : st_fuzz_campaign_run(c, e);
	if (!status && a->place.on)
		st_fuzz_shared_count_uses(&shared, c);
	st_fuzz_shared_free(&shared);
	free(identity);
	return status;
}

static st_status
fuzz_campaign(struct st_fuzz_arguments *a, struct st_fuzz_inputs *seeds, struct fuzz_arg *arg,
              const char *folder, bool *found, struct st_error *e)
{
	struct st_fuzz_campaign c = {.choice = a->choice,
	                             .target = &a->target,
	                             .rules = &a->rules,
	                             .progress = fuzz_progress,
	                             .keep = fuzz_keep,
	                             .arg = arg};
	st_status status = fuzz_search(a, &c, seeds, arg, folder, e);
	st_progress_erase(&arg->progress);
	if (!status)
		status = fuzz_judge(a, &c, &arg->folder, found, e);
	st_fuzz_campaign_free(&c);
	return status;
}

static st_status
fuzz_command(struct st_fuzz_arguments *a, bool *found, struct st_error *e)
{
	struct st_fuzz_inputs seeds = {0};
	struct fuzz_arg arg = {0};
	const char *base = strrchr(a->target.argv[0], '/');
	char name[NAME_MAX];
	snprintf(name, sizeof name, "strobe.%.200s.%d.fuzz", base ? base + 1 : a->target.argv[0],
	         (int)getpid());
	st_fuzz_watch_signals();
	st_progress_init(&arg.progress, a->quiet);
	st_status status = read_seeds(a, &seeds, e);
	if (!status && !a->rules.builtin.n)
		status = st_rules_add_type(&a->rules, st_fuzz_type_of(&seeds.v[0]), e);
	if (!status)
		status = st_rules_use_tokens(&a->rules, e);
	if (!status && a->experiment) {
		status = st_fuzz_far_work(a, &seeds, e);
		st_fuzz_inputs_free(&seeds);
		return status;
	}
	if (!status)
		status = st_fuzz_target_begin(&a->target, e);
	if (!status)
		status = fuzz_campaign(a, &seeds, &arg, a->output ? a->output : name, found, e);
	st_fuzz_target_end(&a->target);
	st_fuzz_folder_close(&arg.folder);
	st_fuzz_inputs_free(&seeds);
	return status;
}

int
st_fuzz_main(char *const *argv)
{
	struct st_fuzz_arguments a;
	struct st_error e;
	bool found = false;
	int code = ST_EXIT_OK;
	st_status status = parse_fuzz(&a, argv, &e);
	if (!status && a.help)
		st_command_help(stdout, st_command_find("fuzz"), false);
	else if (!status)
		status = fuzz_command(&a, &found, &e);
	if (status)
		code = st_complain(&e);
	else if (st_fuzz_interrupted())
		code = 128 + st_fuzz_interrupted();
	else if (found && a.exit_code)
		code = 1;
	st_fuzz_far_end(a.far, !status && !st_fuzz_interrupted());
	st_rules_free(&a.rules);
	free(a.seeds.v);
	free(a.target.argv);
	return code;
}
