/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/result.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/profile.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "trace/reduce.h"

static double
seconds_of_timeval(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* The profile of a run without anything that was measured. */
static struct st_profile *
describe_ended(const struct st_ebpf_run *run, struct st_error *e)
{
	const struct st_session *s = run->request->session;
	const char *tools[ST_MAX_TOOLS];
	for (size_t i = 0; i < s->tools.n; i++)
		tools[i] = s->tools.tools[i].name;
	const struct st_run ended = {.seconds = run->end - run->begin,
	                             .cpu_user = seconds_of_timeval(&run->usage.ru_utime),
	                             .cpu_system = seconds_of_timeval(&run->usage.ru_stime),
	                             .exit_code = s->pid ? -1
	                                          : WIFEXITED(run->status)
	                                                  ? WEXITSTATUS(run->status)
	                                                  : 128 + WTERMSIG(run->status)};
	const struct st_profile_origin origin = {
	        .tool = s->tools.text,
	        .argv = s->program,
	        .options = s->given,
	        .follow = s->follow,
	        .start_ns = (int64_t)run->start.tv_sec * 1000000000 + run->start.tv_nsec,
	        .tools = tools,
	        .n_tools = s->tools.n,
	        .tool_options = s->tools.options.v,
	        .n_tool_options = s->tools.options.n};
	struct st_profile *p = st_profile_collect(&ended, &origin, e);
	if (!p)
		return NULL;
	st_profile_add_option(p, 0, "engine", "ebpf");
	p->run.slowdown =
	        (struct st_slowdown){0}; /* what the kernel's probes cost is not measured */
	if (!s->pid && WIFSIGNALED(run->status))
		p->run.signal = WTERMSIG(run->status);
	return p;
}

static void
add_the_process(struct st_profile *p, const struct st_ebpf_run *run)
{
	const struct st_session *s = run->request->session;
	struct st_profile_process *process = ST_PUSH(&p->processes);
	if (!process) {
		p->out_of_memory = true;
		return;
	}
	process->pid = run->pid;
	process->ppid = s->pid ? 0 : getpid();
	process->command = st_profile_text(p, s->program[0]);
	process->state = !s->pid ? ST_RUN_EXITED : run->has_ended ? ST_RUN_CACHE : ST_RUN_DETACHED;
	process->wall_ns = p->run.wall_ns;
	process->exited = !s->pid && WIFEXITED(run->status);
	process->exit = process->exited ? WEXITSTATUS(run->status) : 0;
	process->signal = p->run.signal;
	process->core_dumped = process->signal && WCOREDUMP(run->status);
}

/* Where the functions are in the source, as far as debug information tells. */
static void
add_source_lines(const struct st_ebpf_choice *c, struct st_trace *t)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		struct st_trace_function *f = &t->functions.v[i];
		struct st_line line;
		for (size_t k = 0; k < c->images.n; k++)
			if (c->images.v[k].path == f->image &&
			    !st_image_function_line(c->images.v[k].image, f->offset, &line)) {
				f->file = line.file;
				f->line = line.line;
			}
	}
}

static void
note_run(struct st_profile *p, const struct st_ebpf_run *run)
{
	size_t stepped = 0;
	const struct st_ebpf_choice *c = run->choice;
	for (size_t i = 0; i < c->probes.n; i++)
		stepped += !c->probes.v[i].is_refused && c->probes.v[i].is_stepped;
	if (stepped)
		st_profile_note(p,
		                "the kernel single-steps the first instruction of %zu of the %zu "
		                "functions that were probed: about 10 us of each of their calls "
		                "are in the times of their callers",
		                stepped, c->probes.n);
	if (run->has_executed)
		st_profile_note(p,
		                "the process executed another program%s%s, which is not traced: "
		                "name that program itself, or use --engine probe",
		                run->executed ? ", " : "", run->executed ? run->executed : "");
	if (run->n_late)
		st_profile_note(p,
		                "%zu of the files were loaded while the program ran: their "
		                "functions are traced from then on, the first of them %.1f s after "
		                "the beginning",
		                run->n_late, run->late_since);
}

static st_status
fill_profile(struct st_ebpf_run *run, struct st_profile *p, struct st_error *e)
{
	struct st_ebpf_choice *c = run->choice;
	struct st_trace t;
	if (run->no_memory || c->no_memory || st_trace_aggregate_end(run->to, &t))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the trace");
	add_source_lines(c, &t);
	t.engine = "ebpf";
	t.lost_records = run->lost;
	t.refused.v = c->refused.v;
	t.refused.n = c->refused.n;
	t.refused.cap = c->refused.cap;
	memset(&c->refused, 0, sizeof c->refused);
	st_status status = st_trace_add_left_out(run->request->reduction, &t);
	if (!status)
		status = st_trace_put(&t, p);
	st_trace_free(&t);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the trace") : ST_OK;
}

st_status
st_ebpf_result(struct st_ebpf_run *run, struct st_trace_outcome *out, struct st_error *e)
{
	struct st_session *s = run->request->session;
	struct st_profile *p = describe_ended(run, e);
	if (!p)
		return ST_FAILED;
	add_the_process(p, run);
	if (fill_profile(run, p, e)) {
		st_profile_free(p);
		return ST_FAILED;
	}
	note_run(p, run);
	out->profile = p;
	out->pid = (uint32_t)run->pid;
	out->exit_code = s->pid ? ST_EXIT_OK : (int)p->run.exit;
	out->missing = p->notes.n;
	st_region_note_unknown(&s->region, p);
	out->n_missing = p->notes.n - out->missing;
	out->unmatched = st_region_fits_nothing(&s->region, true);
	size_t matched = 0;
	for (size_t i = 0; i < run->request->usdt->n; i++)
		matched += run->request->usdt->matched[i];
	if (run->request->usdt->n && !matched)
		out->unmatched = "usdt";
	return ST_OK;
}
