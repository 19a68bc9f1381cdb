/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/text.h"
#include "blow/latency.h"
#include "blow/live.h"
#include "cli/blow.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/on.h"
#include "control/program.h"

enum {
#define O(id, letter, name, argument, shown, help) BLOW_##id,
	ST_BLOW_OPTIONS(O)
#undef O
};

/* ---- values ---- */

enum { MOST_BLOW_RUNS = 1000000 }; /* of one kind */

static st_status
blow_number(const char *name, const char *value, long least, uint64_t *out, struct st_error *e)
{
	long n;
	if (st_option_number(name, value, least, LONG_MAX, &n, e))
		return ST_FAILED;
	*out = (uint64_t)n;
	return ST_OK;
}

static st_status
blow_size(const char *name, const char *value, long least, size_t *out, struct st_error *e)
{
	uint64_t n = 0;
	const st_status status = blow_number(name, value, least, &n, e);
	*out = (size_t)n;
	return status;
}

static st_status
blow_runs(const char *name, const char *value, long least, size_t *out, struct st_error *e)
{
	long n = 0;
	const st_status status = st_option_number(name, value, least, MOST_BLOW_RUNS, &n, e);
	*out = (size_t)n;
	return status;
}

/* Converts a time to multiples of `unit` seconds. */
static st_status
blow_time(const char *name, const char *value, double unit, uint64_t *out, struct st_error *e)
{
	double seconds;
	if (st_parse_time(value, &seconds) || !(seconds / unit >= 1) || seconds > 1e6)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s takes a time such as 5ms or 100us, at least %s and at most "
		               "1e6 s, not '%s'",
		               name, unit < 1e-7 ? "1 ns" : "1us", value);
	*out = (uint64_t)(seconds / unit + 0.5);
	return ST_OK;
}

static st_status
take_timeout(double *seconds, const char *value, struct st_error *e)
{
	if (!st_parse_time(value, seconds) && *seconds >= 0 && *seconds < 1e9)
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "--timeout takes a time such as 30s or 5m, less than 1e9 s, or 0 for no "
	               "limit, not '%s'",
	               value);
}

/* Takes a number greater than `least`. */
static st_status
blow_factor(const char *name, const char *value, double least, double *out, struct st_error *e)
{
	const char *end;
	if (!st_parse_real(value, out, &end) && !*end && *out > least && *out <= 1e9)
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "--%s takes a number greater than %g and at most 1e9, not '%s'", name, least,
	               value);
}

static st_status
take_sampling(double *sampling, const char *value, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || !(percent >= 1) || percent > 100)
		return st_fail(e, ST_EXIT_USAGE,
		               "--sampling takes a percentage from 1 to 100, not '%s'", value);
	*sampling = percent / 100;
	return ST_OK;
}

static st_status
take_probe_overhead(double *share, const char *value, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || !(percent >= 0) || percent > 1e6)
		return st_fail(e, ST_EXIT_USAGE,
		               "--probe-overhead takes a percentage, or 0 for no limit, not '%s'",
		               value);
	*share = percent / 100;
	return ST_OK;
}

static st_status
take_noises(bool *types, const char *value, struct st_error *e)
{
	char *copy = strdup(value), *rest = copy;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	memset(types, 0, ST_BLOW_NOISE_COUNT * sizeof *types);
	for (char *word; !status && (word = strsep(&rest, ","));) {
		enum st_blow_noise_type type;
		if (st_blow_noise_named(word, &type) && type != ST_BLOW_VIRTUAL)
			types[type] = true;
		else
			status = st_fail(e, ST_EXIT_USAGE,
			                 "--noise takes nanosleep, usleep, sleep, yield and busy, "
			                 "with commas between them, not '%s'",
			                 word);
	}
	free(copy);
	return status;
}

static st_status
take_sort(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define S(id, word) word,
	        ST_BLOW_SORTS(S)
#undef S
	};
	unsigned which;
	if (st_option_word("sort", value, words, ST_BLOW_SORT_COUNT, &which, e))
		return ST_FAILED;
	a->view.sort = (enum st_blow_sort)which;
	return ST_OK;
}

static st_status
take_pick(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define P(id, word) word,
	        ST_BLOW_PICKS(P)
#undef P
	};
	unsigned which;
	if (st_option_word("pick", value, words, ST_BLOW_PICK_COUNT, &which, e))
		return ST_FAILED;
	a->options.pick = (enum st_blow_pick)which;
	return ST_OK;
}

static st_status
take_mode(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {ST_BLOW_SLOW_DOWN, ST_BLOW_SPEED_UP, ST_BLOW_CAUSAL};
	unsigned which;
	if (st_option_word("mode", value, words, 3, &which, e))
		return ST_FAILED;
	a->options.how.speedup = which == 1;
	a->options.how.causal = which == 2;
	return ST_OK;
}

static st_status
take_where(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {"before", "after"};
	unsigned which;
	if (st_option_word("where", value, words, 2, &which, e))
		return ST_FAILED;
	a->locations.after = which == 1;
	return ST_OK;
}

static st_status
take_form(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	static const char *const names[] = {"db", "text", "json"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(value, names[i])) {
			a->form = (enum st_blow_form)i;
			a->has_form = true;
			return ST_OK;
		}
	return st_bad_format(value, "db, text and json", e);
}

static st_status
take_main(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	a->stopped = "main";
	a->options.how.main = value;
	if (*value && !strpbrk(value, "*?("))
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "--main takes the name of one function without its arguments, not '%s'; "
	               "--funcs takes patterns",
	               value);
}

/* ---- options ---- */

static st_status
apply_blow_noise(struct st_blow_arguments *a, int option, const char *name, const char *value,
                 struct st_error *e)
{
	struct st_blow_choice *c = &a->options.noise;
	a->noisy = a->typed = name;
	switch (option) {
	case BLOW_noise:
		return take_noises(c->types, value, e);
	case BLOW_timed_noise_min:
		return blow_time(name, value, 1e-6, &c->timed.least, e);
	case BLOW_timed_noise_max:
		return blow_time(name, value, 1e-6, &c->timed.most, e);
	case BLOW_yield_noise_min:
		return blow_number(name, value, 1, &c->yield.least, e);
	case BLOW_yield_noise_max:
		return blow_number(name, value, 1, &c->yield.most, e);
	case BLOW_busy_waiting_noise_min:
		return blow_time(name, value, 1e-6, &c->busy.least, e);
	case BLOW_busy_waiting_noise_max:
		return blow_time(name, value, 1e-6, &c->busy.most, e);
	case BLOW_noise_growth_index:
		return blow_factor(name, value, 1, &c->growth, e);
	default:
		return ST_FAILED; /* *e is filled */
	}
}

/* Applies an option of files and places, or one of noise. */
static st_status
apply_blow_files(struct st_blow_arguments *a, int option, const char *name, const char *value,
                 struct st_error *e)
{
	switch (option) {
	case BLOW_journal:
		a->stopped = name;
		a->journal = value;
		return ST_OK;
	case BLOW_state:
		a->state = value;
		return ST_OK;
	case BLOW_timeline:
		a->timeline = value;
		return ST_OK;
	case BLOW_on:
	case BLOW_campaign:
	case BLOW_lease:
	case BLOW_node_noise:
		return st_on_take(&a->place, name, value, e);
	case BLOW_experiment:
		a->experiment = value;
		return ST_OK;
	case BLOW_reference:
		a->reference = value;
		return ST_OK;
	case BLOW_input:
		a->options.how.input = value;
		return ST_OK;
	default:
		return apply_blow_noise(a, option, name, value, e);
	}
}

static st_status
apply_blow_campaign(struct st_blow_arguments *a, int option, const char *name, const char *value,
                    struct st_error *e)
{
	struct st_blow_options *o = &a->options;
	switch (option) {
	case BLOW_mode:
		return take_mode(a, value, e);
	case BLOW_sampling:
		a->sampled = name;
		return take_sampling(&o->noise.sampling, value, e);
	case BLOW_repeat:
		a->repeats = true;
		return blow_runs(name, value, 1, &o->noise.repeat, e);
	case BLOW_progress:
		return st_blow_points_add(&a->points, value, e);
	case BLOW_latency:
		return st_blow_latency_add(&a->points, value, e);
	case BLOW_pid:
		return st_measure_pid(value, &a->pid, e);
	case BLOW_window:
		return st_region_time(&a->window, name, value, e);
	case BLOW_hide_pauses:
		o->how.hides_pauses = true;
		return ST_OK;
	case BLOW_for:
		a->stopped = name;
		return st_region_time(&o->how.duration, name, value, e);
	case BLOW_funcs:
		return st_patterns_add(&a->session.region.functions, name, value, e);
	case BLOW_exclude:
		return st_patterns_add(&a->session.region.excluded, name, value, e);
	case BLOW_main:
		return take_main(a, value, e);
	case BLOW_at:
		return st_blow_locations_add(&a->locations, value, e);
	case BLOW_by:
		a->stopped = name;
		return st_blow_take_by(a, value, e);
	case BLOW_where:
		return take_where(a, value, e);
	case BLOW_all:
		a->all = true;
		return ST_OK;
	case BLOW_called_threshold:
		return blow_number(name, value, 1, &o->criteria.calls, e);
	case BLOW_criteria:
		return st_blow_take_criteria(a, value, e);
	case BLOW_call_sites_threshold:
		st_blow_add_criterion(a, ST_BLOW_BY_CRITERION_SITES);
		return blow_number(name, value, 1, &o->criteria.sites, e);
	case BLOW_io_functions:
		st_blow_add_criterion(a, ST_BLOW_BY_CRITERION_IO);
		return ST_OK;
	case BLOW_locks:
		st_blow_add_criterion(a, ST_BLOW_BY_CRITERION_LOCKS);
		return ST_OK;
	case BLOW_complexity:
		a->models_file = value;
		st_blow_add_criterion(a, ST_BLOW_BY_CRITERION_COMPLEXITY);
		return ST_OK;
	case BLOW_probe_overhead:
		return take_probe_overhead(&o->criteria.probes, value, e);
	case BLOW_corpus:
		a->corpus = value;
		return ST_OK;
	case BLOW_min_func_time:
		return blow_time(name, value, 1e-9, &o->criteria.ns, e);
	case BLOW_above_max:
		a->noisy = name;
		o->noise.above = true;
		return ST_OK;
	case BLOW_full_analysis:
		a->noisy = a->stopped = name;
		o->full = true;
		return ST_OK;
	case BLOW_pick:
		a->noisy = name;
		return take_pick(a, value, e);
	case BLOW_max_slowdown:
		a->noisy = name;
		return blow_factor(name, value, 1, &o->most_slower, e);
	case BLOW_baseline_runs:
		return blow_runs(name, value, 3, &o->quiet_runs, e);
	case BLOW_native_runs:
		return blow_runs(name, value, 0, &o->plain_runs, e);
	case BLOW_clock_runs:
		a->noisy = name;
		return blow_runs(name, value, 0, &o->clock_runs, e);
	case BLOW_iterations:
		return blow_runs(name, value, 1, &o->most_runs, e);
	case BLOW_timeout:
		return take_timeout(&o->most_seconds, value, e);
	case BLOW_limit:
		a->stopped = name;
		return st_region_time(&o->how.limit, name, value, e);
	case BLOW_seed:
		return blow_number(name, value, 0, &o->seed, e);
	default:
		return apply_blow_files(a, option, name, value, e);
	}
}

/* Applies an option of the output. False: it is another one. */
static bool
apply_blow_view(struct st_blow_arguments *a, int option, const char *value, st_status *status,
                struct st_error *e)
{
	*status = ST_OK;
	switch (option) {
	case BLOW_show_functions_w_time:
		a->shows_time = true;
		a->shows = true;
		break;
	case BLOW_show_functions:
		a->shows = true;
		break;
	case BLOW_from:
		a->from = value;
		break;
	case BLOW_compare:
		a->compared = value;
		break;
	case BLOW_again:
		a->makes_again = true;
		*status = blow_size("again", value, 0, &a->again, e);
		break;
	case BLOW_what_if:
		a->wishes.list.n = 0;
		a->view.wishes = &a->wishes;
		*status = st_blow_wishes_parse(&a->wishes, value, e);
		break;
	case BLOW_sort:
		*status = take_sort(a, value, e);
		break;
	case BLOW_top:
		*status = blow_size("top", value, 0, &a->view.top, e);
		break;
	case BLOW_threads:
		a->view.threads = true;
		break;
	case BLOW_full:
		a->view.full = true;
		break;
	case BLOW_format:
		*status = take_form(a, value, e);
		break;
	case BLOW_output:
		a->output = value;
		break;
	case BLOW_quiet:
		a->quiet = true;
		break;
	case BLOW_help:
		a->help = true;
		break;
	default:
		return false;
	}
	return true;
}

/* ---- checks ---- */

static st_status
check_bounds(const char *kind, struct st_blow_bounds b, struct st_error *e)
{
	return b.least <= b.most
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE,
	                         "--%s-noise-min is more than --%s-noise-max: change one of them",
	                         kind, kind);
}

/* Progress points and forecasts are about virtual speed-ups. */
static st_status
check_progress(const struct st_blow_arguments *a, struct st_error *e)
{
	const struct st_blow_how *how = &a->options.how;
	const bool empty = st_blow_points_empty(&a->points);
	const char *name = !empty ? "progress" : a->view.wishes ? "what-if" : NULL;
	if (a->points.latencies.n && !how->causal)
		return st_fail(e, ST_EXIT_USAGE,
		               "--latency is for virtual speed-ups: leave it out, or use --mode "
		               "causal");
	if (a->points.sources.n && !a->live)
		return st_fail(e, ST_EXIT_USAGE,
		               "--progress %s is a metric of a program that goes on: make the "
		               "experiments in one process with --window or --pid",
		               a->points.sources.v[0].name);
	if (how->duration > 0 && empty)
		return st_fail(e, ST_EXIT_USAGE,
		               "--for ends runs early, and the end of the run then tells nothing: "
		               "name a function whose calls are the work with --progress");
	if (how->duration > 0 && how->limit > 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--for and --limit both end runs: leave out one of them");
	if (a->view.wishes && !how->causal)
		name = "what-if";
	else if (name && (a->pid || a->window > 0))
		name = NULL;
	if (name && !how->causal)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--%s is for virtual speed-ups%s: leave it out, or use --mode causal%s",
		        name, a->view.wishes ? "" : " and windows",
		        a->view.wishes ? "" : ", --window or --pid");
	return ST_OK;
}

/* The strengths of a speed-up follow from the times of functions, and by default only functions
 * with long calls are of interest. */
static st_status
check_speedup(struct st_blow_arguments *a, struct st_error *e)
{
	if (!a->options.how.speedup)
		return a->sampled ? st_fail(e, ST_EXIT_USAGE,
		                            "--sampling is for --mode speed-up: leave it out, or "
		                            "use that mode")
		                  : ST_OK;
	if (a->typed)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--mode speed-up takes its sleeps from the times of functions: leave "
		        "out --%s, or use --sampling",
		        a->typed);
	if (!a->has_criteria)
		a->options.criteria.which = 1u << ST_BLOW_BY_CRITERION_TIME;
	return ST_OK;
}

/* The causal mode has virtual speed-ups in place of noise. */
static st_status
check_mode(struct st_blow_arguments *a, struct st_error *e)
{
	if (a->options.how.hides_pauses && !a->options.how.causal)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--hide-pauses is about the pauses of --mode causal: leave it out, or "
		        "use that mode");
	if (!a->options.how.causal)
		return a->repeats && !a->pid && !(a->window > 0)
		               ? st_fail(e, ST_EXIT_USAGE,
		                         "--repeat is for --mode causal, --window and --pid: "
		                         "leave it out, or use one of them")
		               : ST_OK;
	if (a->noisy)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is about noise in functions, and --mode causal makes none: "
		               "leave out one of them",
		               a->noisy);
	memset(a->options.noise.types, 0, sizeof a->options.noise.types);
	a->options.noise.types[ST_BLOW_VIRTUAL] = true;
	return ST_OK;
}

st_status
st_blow_own_image(struct st_blow_arguments *a, struct st_region *r, struct st_error *e)
{
	char link[64];
	snprintf(link, sizeof link, "/proc/%ld/exe", a->pid);
	if (!realpath(link, a->program))
		return st_fail(e, ST_EXIT_NOT_FOUND, "cannot find the program of process %ld: %s%s",
		               a->pid, strerror(errno),
		               errno == EACCES || errno == EPERM
		                       ? "; use --pid as the user who runs it, or as root"
		                       : "; is it still running?");
	return st_patterns_add_path(&r->images, "images", a->program, e);
}

/* Experiments in windows of one process. */
static st_status
check_live(struct st_blow_arguments *a, struct st_error *e)
{
	static const double least = 0.01;
	const struct st_blow_how *how = &a->options.how;
	const char *with = a->pid ? "pid" : "window";
	if (!a->pid && !(a->window > 0))
		return ST_OK;
	if (a->stopped || how->speedup)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s makes experiments in one process, which %s%s does not do: "
		               "leave out one of them",
		               with, how->speedup ? "--mode speed-up" : "--",
		               how->speedup ? "" : a->stopped);
	if (how->causal && a->locations.list.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "--mode causal speeds up only functions in windows of one process: "
		               "leave out --at or --%s",
		               with);
	if (a->pid && strcmp(how->input, "/dev/null") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--stdin is the input of a program that is run: leave it out with "
		               "--pid");
	if (st_blow_points_empty(&a->points))
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s compares how much work is done in windows of time: name a "
		               "function whose calls are the work with --progress, or have Strobe "
		               "look for one with --progress auto",
		               with);
	if (a->window > 0 && a->window < least)
		return st_fail(e, ST_EXIT_USAGE, "--window takes a time of at least 10ms");
	if (a->pid && !(a->command = st_measure_command(a->pid)))
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (a->pid)
		a->session.program = a->command;
	a->live = st_blow_live_new((pid_t)a->pid, a->window > 0 ? a->window : 0.25);
	a->options.how.live = a->live;
	return a->live ? ST_OK : st_fail(e, ST_EXIT_FAILED, "out of memory");
}

/* The selection times the functions that --funcs matches, or else those of the program's own file.
 */
static st_status
choose_looked_at(struct st_blow_arguments *a, struct st_error *e)
{
	struct st_region *r = &a->session.region;
	bool by_env = false;
	if (st_blow_read_corpus(a, e))
		return ST_FAILED;
	a->options.criteria.all = r->functions.n > 0 && !a->has_criteria;
	a->request = (struct st_trace_request){.session = &a->session,
	                                       .excluded = &r->excluded,
	                                       .own = !a->all && !r->functions.n};
	a->options.how.request = &a->request;
	a->options.how.points = a->options.criteria.points = &a->points;
	if (!a->request.own)
		return st_blow_choose_callers(a, e);
	if (a->pid)
		return st_blow_own_image(a, r, e);
	if (st_program_image(a->session.program[0], a->program, sizeof a->program, &by_env, e))
		return ST_FAILED;
	return st_patterns_add_path(&r->images, "images", a->program, e);
}

static st_status
check_blow_run(struct st_blow_arguments *a, struct st_error *e)
{
	const struct st_blow_choice *c = &a->options.noise;
	if (a->pid && a->session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--pid makes experiments in a running process: leave out the "
		               "program '%s'",
		               a->session.program[0]);
	if (!a->pid && !a->session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "no program to run: strobe blow [options] -- PROGRAM [ARGUMENT...], "
		               "or --pid PID");
	if (a->output && !strcmp(a->output, "-") && (!a->has_form || a->form == ST_BLOW_DB))
		return st_fail(e, ST_EXIT_USAGE,
		               "the result is a database: give -o a file, or use --format json");
	if (check_bounds("timed", c->timed, e) || check_bounds("yield", c->yield, e) ||
	    check_bounds("busy-waiting", c->busy, e))
		return ST_FAILED;
	if (check_live(a, e) || check_speedup(a, e) || check_mode(a, e) ||
	    st_blow_check_targets(a, e) || check_progress(a, e))
		return ST_FAILED;
	if (st_blow_far_check(a, e))
		return ST_FAILED;
	a->options.how.program = a->session.program;
	return choose_looked_at(a, e);
}

static st_status
check_blow_shown(const struct st_blow_arguments *a, struct st_error *e)
{
	if (a->session.program)
		return st_fail(e, ST_EXIT_USAGE,
		               "--from shows an earlier campaign: leave out the program '%s'",
		               a->session.program[0]);
	const char *asked = a->asked ? a->asked : a->makes_again ? NULL : a->ran;
	if (asked)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s is for running a program, and --from runs none: leave out one "
		               "of them",
		               asked);
	if (a->makes_again && (a->compared || a->view.wishes || a->output))
		return st_fail(e, ST_EXIT_USAGE,
		               "--again makes a run and prints what came of it: leave out --%s",
		               a->compared      ? "compare"
		               : a->view.wishes ? "what-if"
		                                : "output");
	if (a->has_form && a->form == ST_BLOW_DB)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s cannot be written as db: say --format text or json", a->from);
	return ST_OK;
}

/* Takes the format from the ending of the file's name, unless --format was given. */
static void
guess_blow_form(struct st_blow_arguments *a)
{
	const char *dot = a->output ? strrchr(st_base_name(a->output), '.') : NULL;
	if (a->has_form || !dot)
		return;
	a->has_form = !strcmp(dot, ".json") || !strcmp(dot, ".txt");
	if (a->has_form)
		a->form = !strcmp(dot, ".json") ? ST_BLOW_JSON : ST_BLOW_TEXT;
}

static void
set_blow_defaults(struct st_blow_arguments *a)
{
	*a = (struct st_blow_arguments){
	        .session = ST_SESSION_DEFAULT,
	        .caller_session = ST_SESSION_DEFAULT,
	        .view = {.top = 50},
	        .place = ST_BATCH_PLACE("--node-noise"),
	        .options = {.how = {.input = "/dev/null"},
	                    .criteria = {.which = 1u << ST_BLOW_BY_CRITERION_CALLS |
	                                          1u << ST_BLOW_BY_CRITERION_TIME,
	                                 .calls = 2,
	                                 .sites = 2,
	                                 .ns = 1000000,
	                                 .probes = 0.05},
	                    .noise = {.timed = {1000, 1000000},
	                              .yield = {1000, 1000000},
	                              .busy = {100, 100000},
	                              .growth = 2,
	                              .sampling = 0.1,
	                              .repeat = 5},
	                    .quiet_runs = 5,
	                    .plain_runs = 5,
	                    .clock_runs = 3,
	                    .most_slower = 2,
	                    .most_seconds = 60,
	                    .seed = 1}};
	a->options.noise.types[ST_BLOW_NANOSLEEP] = a->options.noise.types[ST_BLOW_YIELD] =
	        a->options.noise.types[ST_BLOW_BUSY] = true;
}

st_status
st_blow_parse(struct st_blow_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("blow", argv);
	const char *value;
	set_blow_defaults(a);
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		st_status status;
		if (option == ST_OPTIONS_OTHER) {
			a->session.program = argv + o.at - 1;
			break;
		}
		if (option == ST_OPTIONS_BAD)
			return ST_FAILED;
		if (!apply_blow_view(a, option, value, &status, e)) {
			const char *name = o.options[option].name;
			const bool again = option == BLOW_repeat || option == BLOW_limit ||
			                   option == BLOW_input;
			*(again ? &a->ran : &a->asked) = name;
			status = apply_blow_campaign(a, option, name, value, e);
		}
		if (status || a->help)
			return status;
	}
	guess_blow_form(a);
	if (a->compared && (!a->from || a->view.wishes))
		return st_fail(e, ST_EXIT_USAGE,
		               a->from ? "--compare and --what-if are different reports: leave out "
		                         "one of them"
		                       : "--compare needs a result to compare with: name it with "
		                         "--from");
	if (a->makes_again && !a->from)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--again makes an experiment of an earlier campaign: name its result "
		        "with --from");
	return a->from ? check_blow_shown(a, e) : check_blow_run(a, e);
}

void
st_blow_arguments_free(struct st_blow_arguments *a)
{
	st_blow_live_free(a->live);
	if (a->command)
		free(a->command[0]);
	free(a->command);
	st_session_free(&a->session);
	st_session_free(&a->caller_session);
	st_blow_points_free(&a->points);
	st_blow_locations_free(&a->locations);
	free(a->wishes.list.v);
	free(a->complexities.v);
	st_ann_file_free(&a->models);
}
