/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "collect/collect.h"
#include "import/import.h"
#include "job/environment.h"
#include "profile/profile.h"

/* Files of a run. */
struct run_files {
	char *profile, *output, *errors;
};

static st_status
measure_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for a run of the job");
}

/* ---- the command line of a collector ---- */

struct run_words {
	ST_VEC(char *) v;
	bool failed;
};

static void
words_add(struct run_words *w, const char *word)
{
	char **slot = ST_PUSH(&w->v);
	if (slot)
		*slot = word ? strdup(word) : NULL;
	if (!slot || (word && !*slot))
		w->failed = true;
}

static void
words_add_all(struct run_words *w, char *const *words)
{
	if (!words)
		w->failed = true;
	for (; words && *words; words++)
		words_add(w, *words);
}

static void
words_free(struct run_words *w)
{
	for (size_t i = 0; i < w->v.n; i++)
		free(w->v.v[i]);
	free(w->v.v);
}

/* `strobe time` measures once, since the job repeats; what the job says itself comes after. */
static void
words_add_time(struct run_words *w, const struct st_workload *load)
{
	char size[32];
	words_add(w, "-r1");
	words_add(w, "-w0");
	if (!load)
		return;
	words_add(w, "--workload");
	words_add(w, load->name);
	words_add(w, "--size");
	snprintf(size, sizeof size, "%.17g", st_workload_size(load));
	words_add(w, size);
	if (load->to_stdin) {
		words_add(w, "--stdin");
		words_add(w, load->argument);
	}
}

/* A collector that is a file is the project's of today, not that of another version. */
static void
words_add_program(struct run_words *w, const struct st_job_measuring *m)
{
	const char *name = m->variant->collector->name;
	char *path = strchr(name, '/') && *name != '/' ? st_text_of("%s/%s", m->root, name)
	                                               : strdup(name);
	if (path)
		words_add(w, path);
	else
		w->failed = true;
	free(path);
}

static void
words_collector(struct run_words *w, const struct st_job_measuring *m, const struct run_files *f)
{
	const struct st_job_collector *c = m->variant->collector;
	char **options = st_job_words(c->options), **program = st_job_variant_argv(m->variant);
	if (c->built_in) {
		words_add(w, m->strobe);
		words_add(w, c->name);
		words_add(w, "-q");
		if (!strcmp(c->name, "time"))
			words_add_time(w, m->variant->workload);
	} else {
		words_add_program(w, m);
	}
	words_add_all(w, options);
	if (c->built_in) {
		words_add(w, "-o");
		words_add(w, f->profile);
		words_add(w, "--");
	}
	words_add_all(w, program);
	words_add(w, NULL);
	free(options);
	free(program);
}

/* ---- the description in the profile ---- */

static st_status
profile_set_feature(struct st_profile *p, const char *name, double value)
{
	for (size_t i = 0; i < p->measurements.series.n && !isnan(value); i++) {
		struct st_series *s = &p->measurements.series.v[i];
		if (st_series_feature(s, name))
			continue;
		for (size_t k = 0; k < s->n; k++)
			if (st_series_set(p, s, name, k, value))
				return ST_FAILED;
	}
	return ST_OK;
}

static st_status
profile_add_value(struct st_profile *p, const struct st_workload *load, const char *kind,
                  const char *metric, const char *unit, double value)
{
	const struct st_series_label label = {"workload", load ? load->name : ""};
	const struct st_series_key key = {.kind = kind,
	                                  .metric = metric,
	                                  .unit = unit,
	                                  .image = p->run.command.n ? p->run.command.v[0] : NULL,
	                                  .labels = &label,
	                                  .n_labels = load != NULL};
	struct st_series *s = st_series_of(p, &key);
	return s && st_series_add(s, value) != SIZE_MAX ? ST_OK : ST_FAILED;
}

/* The totals of a run as values, so that they can be modelled by the size. */
static st_status
profile_add_totals(struct st_profile *p, const struct st_workload *load)
{
	const struct st_profile_run *r = &p->run;
	if (profile_add_value(p, load, ST_KIND_TIME, "wall", "ns", (double)r->wall_ns) ||
	    profile_add_value(p, load, ST_KIND_TIME, "user", "ns", (double)r->cpu_user_ns) ||
	    profile_add_value(p, load, ST_KIND_TIME, "system", "ns", (double)r->cpu_system_ns))
		return ST_FAILED;
	for (size_t i = 0; i < p->counters.n; i++) {
		const char *name = p->counters.v[i].name;
		uint64_t sum = 0;
		bool first = true;
		for (size_t k = 0; k < p->counters.n; k++) { /* of all processes, once */
			if (strcmp(p->counters.v[k].name, name) != 0)
				continue;
			first &= k >= i;
			sum += p->counters.v[k].total;
		}
		if (first && profile_add_value(p, load, ST_KIND_COUNT, name, "", (double)sum))
			return ST_FAILED;
	}
	return ST_OK;
}

static void
profile_note_environment(struct st_profile *p, const struct st_job *j, const struct st_load *l)
{
	char frequency[192];
	st_frequency_text("", frequency, sizeof frequency);
	const char *addresses = j->keep_aslr ? "as the system has them" : "not randomised";
	if (isnan(l->others))
		st_profile_note(p, "environment: CPUs %s, addresses %s, %s, load unknown",
		                j->cpu ? j->cpu : "all", addresses, frequency);
	else
		st_profile_note(
		        p,
		        "environment: CPUs %s, addresses %s, %s; others kept %.2f (+- %.2f) "
		        "CPUs busy, the hypervisor took %.2f",
		        j->cpu ? j->cpu : "all", addresses, frequency, l->others, l->error,
		        l->stolen);
}

static st_status
profile_describe(struct st_profile *p, const struct st_job_measuring *m, const struct st_load *l,
                 struct st_error *e)
{
	const struct st_workload *load = m->variant->workload;
	st_status status = ST_OK;
	if (!p->measurements.series.n)
		status = profile_add_totals(p, load);
	for (size_t i = 0; load && i < load->features.n && !status; i++)
		status =
		        profile_set_feature(p, load->features.v[i].name, load->features.v[i].value);
	if (!status)
		status = profile_set_feature(p, "round", (double)m->round);
	if (!status)
		status = profile_set_feature(p, "load", l->others);
	profile_note_environment(p, m->job, l);
	if (m->note)
		st_profile_note(p, "%s", m->note);
	return status || p->out_of_memory ? measure_no_memory(e) : ST_OK;
}

/* So that profiles of one collector with different parameters are not taken for repetitions. */
static void
profile_name_parameters(struct st_profile *p, const struct st_job_collector *c)
{
	struct st_profile_option *o = *c->options ? ST_PUSH(&p->run.tool_options) : NULL;
	if (o)
		*o = (struct st_profile_option){0, "options", st_profile_text(p, c->options)};
	else if (*c->options)
		p->out_of_memory = true;
}

/* The output of a program has only values; the job adds the command and the location. */
static void
profile_describe_import(struct st_profile *p, const struct st_job_measuring *m, double seconds)
{
	const char *name = st_base_name(m->variant->collector->name);
	char **argv = st_job_variant_argv(m->variant);
	struct timespec now;
	st_collect_machine(p);
	clock_gettime(CLOCK_REALTIME, &now);
	p->run.tool = st_profile_text(p, name);
	p->run.tools.n = 0;
	st_profile_add_tool(p, p->run.tool);
	p->run.wall_ns = (int64_t)(seconds * 1e9);
	p->run.start_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - p->run.wall_ns;
	p->run.command.n = 0;
	for (char **word = argv; word && *word; word++) {
		const char **slot = ST_PUSH(&p->run.command);
		if (slot)
			*slot = st_profile_text(p, *word);
		p->out_of_memory |= !slot;
	}
	p->out_of_memory |= !argv;
	free(argv);
}

/* ---- the run ---- */

__attribute__((format(printf, 2, 3))) static void
measured_failed(struct st_job_measured *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	out->failed = true;
	vsnprintf(out->reason, sizeof out->reason, format, ap);
	va_end(ap);
}

/* The last line that the collector wrote to standard error. */
static void
errors_last_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	char next[192];
	*line = '\0';
	while (f && fgets(next, sizeof next, f)) {
		next[strcspn(next, "\n")] = '\0';
		if (*next)
			snprintf(line, (size_t)size, "%s", next);
	}
	if (f)
		fclose(f);
}

static void
measured_no_profile(struct st_job_measured *out, const struct run_files *f,
                    const struct st_child_end *end)
{
	char line[192];
	errors_last_line(f->errors, line, sizeof line);
	if (*line)
		measured_failed(out, "%s", strncmp(line, "strobe: ", 8) ? line : line + 8);
	else
		measured_failed(out, "the collector exited with %d and wrote no result", end->exit);
}

static struct st_profile *
measure_take_profile(const struct st_job_measuring *m, const struct run_files *f,
                     const struct st_child_end *end, struct st_job_measured *out)
{
	const struct st_job_collector *c = m->variant->collector;
	const struct st_import_format *format;
	struct st_error cause;
	struct st_profile *p = NULL;
	if (c->built_in ? access(f->profile, F_OK) : end->exit)
		measured_no_profile(out, f, end);
	else if (c->built_in)
		p = st_profile_load(f->profile, &cause);
	else
		p = st_import_file(f->output, NULL, &format, &cause);
	if (!p && !out->failed)
		measured_failed(out, "%s", cause.text);
	if (p && !c->built_in)
		profile_describe_import(p, m, end->seconds);
	if (p && (!c->built_in || !strcmp(c->name, "time")))
		profile_name_parameters(p, c);
	return p;
}

static st_status
measure_start(const struct st_job_measuring *m, const struct run_files *f, char *const *argv,
              struct st_child_end *end, struct st_job_measured *out, struct st_error *e)
{
	const struct st_workload *load = m->variant->workload;
	char *workload = st_text_of("STROBE_WORKLOAD=%s", load ? load->name : "");
	char *size = st_text_of("STROBE_SIZE=%.17g", load ? st_workload_size(load) : NAN);
	char *const settings[] = {workload, size, NULL};
	const struct st_child c = {
	        .argv = argv,
	        .folder = m->folder,
	        .input = load && load->to_stdin ? load->argument : NULL,
	        .output = f->output,
	        .errors = f->errors,
	        .settings = load ? settings : NULL,
	        .cpus = m->job->cpu ? &m->job->cpus : NULL,
	        .no_aslr = !m->job->keep_aslr,
	        .timeout = m->job->timeout,
	};
	struct st_error cause;
	st_status status = workload && size ? ST_OK : measure_no_memory(e);
	if (!status && st_child_run(&c, end, &cause))
		measured_failed(out, "%s", cause.text);
	free(workload);
	free(size);
	return status;
}

static st_status
measure_keep(const struct st_job_measuring *m, struct st_profile *p, const struct st_load *l,
             struct st_error *e)
{
	return profile_describe(p, m, l, e) ? ST_FAILED : st_profile_save(p, m->profile, e);
}

static st_status
measure_into(const struct st_job_measuring *m, const struct run_files *f, char *const *argv,
             struct st_job_measured *out, struct st_error *e)
{
	const struct st_load_moment then = st_load_now("");
	struct st_child_end end = {0};
	if (measure_start(m, f, argv, &end, out, e))
		return ST_FAILED;
	const struct st_load load = st_load_since("", &then, end.cpu_seconds);
	out->seconds = end.seconds;
	out->interrupted = end.interrupted;
	out->exit = end.exit;
	if (end.timed_out)
		measured_failed(out, "it took longer than the timeout, %g s", m->job->timeout);
	if (out->failed || out->interrupted)
		return ST_OK;
	struct st_profile *p = measure_take_profile(m, f, &end, out);
	st_status status = p ? measure_keep(m, p, &load, e) : ST_OK;
	st_profile_free(p);
	return status;
}

st_status
st_job_measure(const struct st_job_measuring *m, struct st_job_measured *out, struct st_error *e)
{
	struct run_files f = {.profile = st_text_of("%s/part.db", m->scratch),
	                      .output = st_text_of("%s/output", m->scratch),
	                      .errors = st_text_of("%s/errors", m->scratch)};
	struct run_words w = {0};
	*out = (struct st_job_measured){0};
	if (f.profile && f.output && f.errors) {
		unlink(f.profile);
		unlink(f.errors);
		words_collector(&w, m, &f);
	}
	st_status status =
	        !w.v.n || w.failed ? measure_no_memory(e) : measure_into(m, &f, w.v.v, out, e);
	if (f.profile)
		unlink(f.profile);
	words_free(&w);
	free(f.profile);
	free(f.output);
	free(f.errors);
	return status;
}
