/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/engine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/program.h"
#include "ebpf/attach.h"
#include "ebpf/choose.h"
#include "ebpf/kernel.h"
#include "ebpf/result.h"
#include "ebpf/start.h"
#include "ebpf/wait.h"
#include "session/session.h"
#include "trace/choose.h"
#include "trace/files.h"
#include "trace/rates.h"

/* Nested return probes that the kernel tracks for each thread (MAX_URETPROBE_DEPTH). */
enum { KERNELS_DEPTH = 64 };

/* ---- what is asked for ---- */

static st_status
check_engine(const struct st_trace_request *r, struct st_error *e)
{
	const char *cannot = r->cpu                            ? "--cpu"
	                     : st_trace_rates_sample(r->rates) ? "--every"
	                     : r->window > 0                   ? "--windows"
	                     : r->session->budget.chosen       ? "--budget"
	                     : r->events                       ? "--events"
	                                                       : NULL;
	if (cannot)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is not possible with --engine ebpf: leave it out, or use "
		               "--engine probe",
		               cannot);
	return st_trace_refuse_options(r, "ebpf", e);
}

/* ---- probes ---- */

struct putting {
	struct st_ebpf *kernel;
	struct st_ebpf_choice *choice;
	const char *file;
	struct st_ebpf_point *points;
	const uint32_t *probe_of; /* of each point */
	enum st_ebpf_place place;
};

static int
put(void *arg, size_t first, size_t n)
{
	const struct putting *p = arg;
	return st_ebpf_attach(p->kernel, p->file, p->points + first, n, p->place);
}

static void
refuse_point(void *arg, size_t at, int error)
{
	const struct putting *p = arg;
	struct st_ebpf_choice *c = p->choice;
	struct st_ebpf_probe *probe = &c->probes.v[p->probe_of[at]];
	struct st_trace_refused *refused = probe->is_refused ? NULL : ST_PUSH(&c->refused);
	if (refused)
		*refused = (struct st_trace_refused){.name = probe->name,
		                                     .image = c->images.v[probe->image].path,
		                                     .offset = probe->offset,
		                                     .reason = st_ebpf_refusal(error)};
	else
		c->no_memory |= !probe->is_refused;
	probe->is_refused = true;
}

/* Probes of the functions of one image, from probe `from` on, or of what leaves them. 0, or an
 * errno. */
static int
put_in_image(struct st_ebpf *kernel, struct st_ebpf_choice *c, uint32_t image, size_t from,
             enum st_ebpf_place place, bool is_static)
{
	const bool exits = place == ST_EBPF_AT_INSTRUCTIONS;
	const size_t room = exits ? c->exits.n : c->probes.n;
	struct st_ebpf_point *points = calloc(room + 1, sizeof *points);
	uint32_t *probe_of = calloc(room + 1, sizeof *probe_of);
	struct putting p = {kernel, c, c->images.v[image].file, points, probe_of, place};
	const struct st_ebpf_attempt attempt = {put, refuse_point, &p};
	size_t n = 0;
	int error = points && probe_of ? 0 : ENOMEM;
	for (size_t i = 0; !error && i < room; i++) {
		const uint32_t probe = exits ? c->exits.v[i].probe : (uint32_t)i;
		if (c->probes.v[probe].image != image || probe < from ||
		    c->probes.v[probe].is_refused ||
		    (c->probes.v[probe].role != ST_EBPF_FUNCTION) != is_static)
			continue;
		probe_of[n] = probe;
		points[n++] = (struct st_ebpf_point){.offset = exits ? c->exits.v[i].in_file
		                                                     : c->probes.v[probe].in_file,
		                                     .semaphore = c->probes.v[probe].semaphore,
		                                     .number = probe};
	}
	if (n)
		error = st_ebpf_put_all(&attempt, n);
	free(points);
	free(probe_of);
	return error;
}

/* All probes from `from` on. What leaves a function is first: an entry without it would be taken
 * for one whose return was lost. */
static int
put_probes(struct st_ebpf *kernel, struct st_ebpf_choice *c, size_t from)
{
	int error = 0;
	for (uint32_t i = 0; i < c->images.n && !error; i++) {
		if (c->by_instructions)
			error = put_in_image(kernel, c, i, from, ST_EBPF_AT_INSTRUCTIONS, false);
		if (!error)
			error = put_in_image(
			        kernel, c, i, from,
			        c->by_instructions ? ST_EBPF_AT_ENTRY : ST_EBPF_AT_BOTH, false);
		if (!error)
			error = put_in_image(kernel, c, i, from, ST_EBPF_AT_ENTRY, true);
	}
	return error;
}

static st_status
attach_all(struct st_ebpf *kernel, struct st_ebpf_choice *c, struct st_error *e)
{
	const int error = put_probes(kernel, c, 0);
	if (c->no_memory)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (error)
		return st_fail(e, ST_EXIT_FAILED, "the kernel does not take the probes: %s",
		               strerror(error));
	return ST_OK;
}

/* ---- libraries that are loaded later ---- */

static void
ask_of_returns(void *arg, const char *path)
{
	struct st_ebpf_choice *c = arg;
	c->by_instructions |= st_ebpf_reads_returns(c, path, false);
}

static void
look_at_file(void *arg, const char *path)
{
	st_ebpf_choose(arg, path);
}

static void
look_later(void *arg, double elapsed)
{
	struct st_ebpf_run *run = arg;
	struct st_ebpf_choice *c = run->choice;
	enum { MOST = 256 };
	uint32_t pids[MOST];
	const size_t probes = c->probes.n, images = c->images.n,
	             n = run->request->session->follow ? st_ebpf_processes(run->kernel, pids, MOST)
	                                               : 0;
	if (!n)
		st_trace_files_of_process(run->pid, look_at_file, c);
	for (size_t i = 0; i < n; i++)
		st_trace_files_of_process((pid_t)pids[i], look_at_file, c);
	if (c->probes.n > probes && put_probes(run->kernel, c, probes) == 0) {
		run->n_late += c->images.n - images;
		run->late_since = run->late_since > 0 ? run->late_since : elapsed;
	}
}

/* ---- the run ---- */

static void
say_beginning(const struct st_ebpf_run *run)
{
	char all[ST_NUMBER_SIZE], slow[ST_NUMBER_SIZE];
	const struct st_ebpf_choice *c = run->choice;
	size_t n = 0, stepped = 0;
	for (size_t i = 0; i < c->probes.n; i++) {
		n += !c->probes.v[i].is_refused;
		stepped += !c->probes.v[i].is_refused && c->probes.v[i].is_stepped;
	}
	if (run->request->quiet)
		return;
	fprintf(stderr, "strobe: %s %s probed", st_number(all, n),
	        run->request->no_functions ? n == 1 ? "static probe is" : "static probes are"
	        : n == 1                   ? "function is"
	                                   : "functions are");
	if (stepped)
		fprintf(stderr,
		        "; the kernel single-steps the first instruction of %s, which takes "
		        "about 10 us a call",
		        st_number(slow, stepped));
	fputc('\n', stderr);
}

static st_status
choose_of_program(struct st_ebpf_run *run, struct st_error *e)
{
	char image[PATH_MAX];
	bool by_env;
	struct st_session *s = run->request->session;
	if (st_program_image(s->program[0], image, sizeof image, &by_env, e))
		return ST_FAILED;
	run->choice->by_instructions = st_ebpf_reads_returns(run->choice, image, true);
	st_trace_files_of_program(image, ask_of_returns, run->choice);
	st_trace_files_of_program(image, look_at_file, run->choice);
	return ST_OK;
}

static st_status
start_waiting(struct st_ebpf_run *run, struct st_ebpf_start *start, struct st_error *e)
{
	struct st_ebpf_choice *c = run->choice;
	char **files = calloc(c->images.n + 1, sizeof *files);
	size_t n = 0;
	if (!files)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < c->images.n; i++)
		if (c->images.v[i].image)
			files[n++] = c->images.v[i].file;
	st_status status = st_ebpf_start(start, files, n, e);
	free(files);
	run->pid = start->pid;
	return status;
}

static st_status
trace_program(struct st_ebpf_run *run, struct st_error *e)
{
	char path[PATH_MAX];
	const struct st_session *s = run->request->session;
	struct st_ebpf_start start = {.path = path, .argv = s->program, .own_group = s->own_group};
	if (st_program_find(s->program[0], path, sizeof path, e) || choose_of_program(run, e) ||
	    start_waiting(run, &start, e))
		return ST_FAILED;
	run->kernel = st_ebpf_open(run->pid, s->follow, e);
	if (!run->kernel || attach_all(run->kernel, run->choice, e)) {
		st_ebpf_give_up(&start);
		return ST_FAILED;
	}
	st_ebpf_wait_prepare(run);
	say_beginning(run);
	if (st_ebpf_go(&start, e))
		return ST_FAILED;
	st_ebpf_wait(run);
	return ST_OK;
}

static st_status
trace_process(struct st_ebpf_run *run, struct st_error *e)
{
	char link[64], image[PATH_MAX];
	run->pid = run->choice->pid = run->request->session->pid;
	snprintf(link, sizeof link, "/proc/%d/exe", run->pid);
	const bool has_image = realpath(link, image) != NULL;
	run->choice->by_instructions = has_image && st_ebpf_reads_returns(run->choice, image, true);
	st_trace_files_of_process(run->pid, ask_of_returns, run->choice);
	if (!st_trace_files_of_process(run->pid, look_at_file, run->choice))
		return errno == EACCES || errno == EPERM
		               ? st_fail(e, ST_EXIT_NOT_EXECUTABLE,
		                         "cannot attach to process %d: its mappings are not for "
		                         "this user",
		                         run->pid)
		               : st_fail(e, ST_EXIT_NOT_FOUND, "there is no process %d", run->pid);
	run->kernel = st_ebpf_open(run->pid, false, e);
	if (!run->kernel || attach_all(run->kernel, run->choice, e))
		return ST_FAILED;
	st_ebpf_wait_prepare(run);
	say_beginning(run);
	st_ebpf_wait(run);
	return ST_OK;
}

static st_status
run_engine(const struct st_trace_request *r, struct st_trace_outcome *out, struct st_error *e)
{
	struct st_ebpf_choice choice = {
	        .request = r, .limits = {.depth = (uint64_t)r->depth, .followed = KERNELS_DEPTH}};
	struct st_ebpf_run run = {.request = r,
	                          .choice = &choice,
	                          .to = st_trace_aggregate_new(true),
	                          .look_later = look_later};
	choice.to = run.to;
	choice.chooser = st_trace_chooser_new(r);
	if (!run.to || !choice.chooser)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	st_status status = r->session->pid ? trace_process(&run, e) : trace_program(&run, e);
	if (!status)
		status = st_ebpf_result(&run, out, e);
	free(run.executed);
	st_ebpf_close(run.kernel);
	st_ebpf_choice_free(&choice);
	st_trace_chooser_free(choice.chooser);
	st_trace_aggregate_free(run.to);
	return status;
}

const struct st_trace_engine st_ebpf_engine = {.name = "ebpf",
                                               .needs = "root, or CAP_BPF and CAP_PERFMON",
                                               .check = check_engine,
                                               .run = run_engine};
