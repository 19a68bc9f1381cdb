/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/ahead.h"
#include "symbol/symbol.h"

/* ---- the options of the run ---- */

/* JSON may go into a pipe or a terminal. */
static bool
is_place(const char *output)
{
	struct stat st;
	return output && (stat(output, &st) || S_ISREG(st.st_mode));
}

void
st_session_open_rows(struct st_row_files *rows, const struct st_session *w)
{
	*rows = (struct st_row_files){0};
	bool beside = is_place(w->output.path);
	rows->prefix = beside ? strdup(w->output.path) : st_session_output_prefix(w->output.name);
	for (size_t i = 0; i < w->tools.n; i++)
		rows->tools[i] = w->tools.tools[i].name;
	struct st_row_place place = {.before = rows->prefix,
	                             .behind = beside || w->output.form ? "" : ".db",
	                             .with_pid = !beside};
	if (rows->prefix)
		rows->writer = st_row_writer_new(&place, rows->tools, w->tools.n);
	rows->sink = (struct st_row_sink){.begin = st_row_writer_begin,
	                                  .take = st_row_writer_take,
	                                  .end = st_row_writer_end,
	                                  .arg = rows->writer};
}

/* Whole stacks are worth their price where the result is by function. */
static void
take_stacks(struct st_session_run *r)
{
	const bool waits = st_toolset_takes_waits(&r->session->tools);
	r->stacks = r->keep_blocks && (r->hz || waits) ? st_stacks_new() : NULL;
	if (!r->stacks)
		return;
	r->options.on_stack = st_stacks_take;
	r->options.take_waits = waits;
	r->options.on_moved = st_stacks_moved;
	r->options.stack_arg = r->stacks;
}

static void
on_process(void *arg, pid_t pid)
{
	(void)arg;
	st_held_look_at(pid);
}

static void
on_turn(void *arg, const struct st_process *processes, size_t n)
{
	struct st_session_run *r = arg;
	st_held_look(&r->held, processes, n);
	st_ahead_look(r->ahead, processes, n);
}

/* Debug information is fetched from servers at the end: that may take long, and one thread does
 * it. */
static void
read_ahead(struct st_session_run *r)
{
	if (r->session->asks_servers)
		return;
	bool lines = r->keep_blocks || st_toolset_shows(&r->session->tools, ST_VALUE_LINE),
	     functions = lines || st_toolset_shows(&r->session->tools, ST_VALUE_PLACE);
	r->ahead = st_ahead_new(functions, lines);
}

void
st_session_close_rows(struct st_row_files *rows)
{
	st_row_writer_free(rows->writer);
	free(rows->prefix);
	*rows = (struct st_row_files){0};
}

static void
make_options(struct st_session_run *r)
{
	struct st_session *s = r->session;
	r->options = (struct st_run_options){.argv = s->pid ? NULL : s->program,
	                                     .tools = s->tools.tools,
	                                     .n_tools = s->tools.n,
	                                     .follow = s->follow,
	                                     .follow_exec = !s->pid,
	                                     .own_group = s->own_group,
	                                     .sample_hz = r->hz,
	                                     .stress = s->stress};
	st_region_apply(&s->region, &s->tools, &r->options);
	st_qos_complete(&s->qos, &s->budget);
}

static st_status
begin_logs(struct st_session_run *r, struct st_error *e)
{
	struct st_session *s = r->session;
	if (st_unique_begin(&r->unique, &s->unique, s->output.name, &r->options, e))
		return -1;
	if (!st_keep_begin(&r->keep, &s->keep, &s->region, s->output.name, (uint32_t)s->pid,
	                   &r->options, e) &&
	    !st_qos_apply(&s->qos, &r->options, e))
		return 0;
	st_keep_end(&r->keep);
	st_unique_end(&r->unique);
	return -1;
}

st_status
st_session_begin(struct st_session_run *r, struct st_session *s, struct st_error *e)
{
	/* If no tool asks for samples: enough to estimate the slowdown. */
	uint32_t liked = st_toolset_sample_hz(&s->tools);
	*r = (struct st_session_run){.session = s,
	                             .hz = s->sample_hz >= 0 ? (uint32_t)s->sample_hz
	                                   : liked           ? liked
	                                                     : 250,
	                             .keep_blocks = st_toolset_keeps_blocks(&s->tools)};
	if (st_session_output_check(&s->output, (uint32_t)s->pid, e))
		return -1;
	make_options(r);
	if (st_budget_apply(&s->budget, &r->options, e) ||
	    st_sampling_apply(&s->sampling, s->unique.chosen, &r->options, e) || begin_logs(r, e))
		return -1;
	take_stacks(r);
	read_ahead(r);
	r->options.on_process = on_process;
	r->options.on_turn = on_turn;
	r->options.turn_arg = r;
	st_session_open_rows(&r->rows, s);
	r->options.rows = r->rows.writer ? &r->rows.sink : NULL;
	clock_gettime(CLOCK_REALTIME, &r->start);
	return 0;
}

void
st_session_listen(struct st_session_run *r, const struct st_session_listener *l)
{
	r->options.progress = l->progress;
	r->options.pause = l->pause;
	r->options.progress_arg = l->arg;
	r->options.attached = l->attached;
}

/* ---- the run ---- */

st_status
st_session_execute(struct st_session_run *r, struct st_error *e)
{
	const struct st_session *s = r->session;
	return s->pid ? st_attach_process(s->pid, s->seconds, &r->options, &r->run, e)
	              : st_run_program(&r->options, &r->run, e);
}

uint32_t
st_session_pid(const struct st_session_run *r)
{
	return r->run.n_processes ? r->run.processes[0].pid : 0;
}

/* ---- what came of it ---- */

static struct st_profile *
session_collect(struct st_session_run *r, struct st_error *e)
{
	const struct st_session *s = r->session;
	size_t n_counters;
	struct st_profile_declared *counters = st_toolset_counters(&s->tools, &n_counters);
	const struct st_profile_origin origin = {.tool = s->tools.text,
	                                         .argv = s->program,
	                                         .options = s->given,
	                                         .sample_hz = r->hz,
	                                         .follow = r->options.follow,
	                                         .keep_blocks = r->keep_blocks,
	                                         .start_ns = (int64_t)r->start.tv_sec * 1000000000 +
	                                                     r->start.tv_nsec,
	                                         .stacks = r->stacks,
	                                         .qos = r->options.qos,
	                                         .tools = r->rows.tools,
	                                         .n_tools = s->tools.n,
	                                         .tool_options = s->tools.options.v,
	                                         .n_tool_options = s->tools.options.n,
	                                         .counters = counters,
	                                         .n_counters = n_counters,
	                                         .ahead = r->ahead};
	struct st_profile *p = st_profile_collect(&r->run, &origin, e);
	free(counters);
	return p;
}

st_status
st_session_collect(struct st_session_run *r, struct st_session_outcome *out, struct st_error *e)
{
	struct st_session *s = r->session;
	struct st_profile *p = session_collect(r, e);
	*out = (struct st_session_outcome){.profile = p};
	if (!p)
		return -1;
	st_toolset_note_failures(&s->tools, &r->run, p);
	st_region_note_lists(&s->region, &r->run, p);
	out->missing = p->notes.n;
	out->unmatched = st_region_note(&s->region, &r->run, p);
	out->n_missing = p->notes.n - out->missing;
	st_unique_report(&r->unique, &r->run, p);
	st_keep_report(&r->keep, &r->run, p);
	if (r->rows.writer && st_row_writer_finish(r->rows.writer, p))
		st_profile_note(p, "no memory left to check the rows: they may be incomplete");
	return 0;
}

void
st_session_end(struct st_session_run *r)
{
	st_keep_end(&r->keep);
	st_unique_end(&r->unique);
	st_qos_free(r->options.qos);
	st_ahead_free(r->ahead);
	st_held_free(&r->held);
	st_session_close_rows(&r->rows);
	st_stacks_free(r->stacks);
	st_run_free(&r->run);
}

void
st_session_free(struct st_session *s)
{
	st_region_free(&s->region);
	st_toolset_free(&s->tools);
}
