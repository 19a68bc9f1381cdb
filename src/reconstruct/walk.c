/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/walk.h"

static struct st_path_thread *
thread_at(const struct st_walk *w, uint32_t thread)
{
	return w->threads.v[thread];
}

static bool
is_thread(const struct st_path_thread *t, uint32_t process, int64_t pid, int64_t tid)
{
	return t->process == process && t->pid == pid && t->tid == tid;
}

uint32_t
st_walk_thread(struct st_walk *w, uint32_t process, int64_t pid, int64_t tid)
{
	if (w->newest < w->threads.n && is_thread(thread_at(w, w->newest), process, pid, tid))
		return w->newest;
	for (w->newest = 0; w->newest < w->threads.n; w->newest++)
		if (is_thread(thread_at(w, w->newest), process, pid, tid))
			return w->newest;
	struct st_path_thread *t = calloc(1, sizeof *t), **slot = t ? ST_PUSH(&w->threads) : NULL;
	if (!slot) {
		free(t);
		return UINT32_MAX;
	}
	*t = (struct st_path_thread){.process = process, .pid = pid, .tid = tid};
	*slot = t;
	return w->newest;
}

/* ---- what follows what ---- */

static bool
is_at(const struct st_place *p, uint32_t image, uint64_t offset)
{
	return p->image == image && p->offset == offset;
}

/* Whether a block can follow another one. */
static bool
can_follow(const struct st_place *before, const struct st_place *after)
{
	const struct st_piece *p = &before->piece;
	bool behind = is_at(after, before->image, p->end);
	bool at_target = is_at(after, before->image, p->target);
	/* The engine ends blocks early, where it is asked to or they become too long. */
	if (after->image == before->image && after->offset > p->start && after->offset < p->end)
		return true;
	switch (p->how) {
	case ST_PIECE_FALLS:
	case ST_PIECE_SYSCALL:
		return behind;
	case ST_PIECE_JUMP:
		return at_target;
	case ST_PIECE_CONDITIONAL:
		return behind || at_target;
	case ST_PIECE_CALL:
		return at_target;
	case ST_PIECE_STOP:
		return false;
	default:
		return true;
	}
}

/* ---- the stack ---- */

/* Calls whose return address is no longer on the stack have ended. True if one ended just now by
 * coming back to where it should. */
static bool
leave_calls(struct st_path_thread *t, const struct st_step *now)
{
	bool back = false;
	while (t->callers.n && t->callers.v[t->callers.n - 1].sp <= now->sp)
		back |= t->callers.v[--t->callers.n].sp == now->sp;
	return back;
}

/* The block is the first one of what the block before called. */
static st_status
enter_call(struct st_walk *w, struct st_path_thread *t, const struct st_step *now)
{
	const struct st_place *caller = &w->code.places.v[t->last.place];
	uint32_t place = st_code_place(&w->code, caller->image, caller->piece.end);
	struct st_step *s = place != UINT32_MAX ? ST_PUSH(&t->callers) : NULL;
	if (s)
		*s = (struct st_step){place, now->sp + 8, now->bp};
	return s ? 0 : -1;
}

/* A call that was under way when the window began has returned. */
static st_status
note_return(struct st_path_thread *t, const struct st_step *now)
{
	if (!t->undecided || (t->returns.n && t->returns.v[t->returns.n - 1].sp >= now->sp))
		return 0;
	struct st_step *s = ST_PUSH(&t->returns);
	if (s)
		*s = *now;
	return s ? 0 : -1;
}

static st_status
follow_stack(struct st_walk *w, struct st_path_thread *t, const struct st_step *now)
{
	enum st_piece_end how = w->code.places.v[t->last.place].piece.how;
	bool back = leave_calls(t, now);
	if (how == ST_PIECE_CALL || how == ST_PIECE_INDIRECT_CALL)
		return enter_call(w, t, now);
	return how == ST_PIECE_RETURN && !back ? note_return(t, now) : 0;
}

/* ---- windows ---- */

/* Says what is certain of the gap before the window at hand. */
static st_status
walk_decide(struct st_walk *w, struct st_path_thread *t)
{
	if (!t->undecided)
		return 0;
	const struct st_gap_ends ends = {t->from, t->callers_before.v, t->callers_before.n,
	                                 t->to,   t->returns.v,        t->returns.n};
	t->undecided = false;
	return st_gap_decide(&t->windows.v[t->windows.n - 2].gap, &w->code, &ends, w->returning);
}

static struct st_window *
window_of(struct st_path_thread *t)
{
	return &t->windows.v[t->windows.n - 1];
}

static st_status
close_window(struct st_walk *w, struct st_path_thread *t, enum st_window_end end)
{
	if (!t->open)
		return 0;
	t->open = false;
	window_of(t)->end = end;
	return walk_decide(w, t);
}

/* The state before the new window becomes the begin of the gap. */
static void
begin_gap(struct st_path_thread *t)
{
	st_steps callers = t->callers_before;
	t->callers_before = t->callers;
	t->callers = callers;
	t->returns.n = 0;
	t->from = t->last;
}

static st_status
open_window(struct st_path_thread *t, const struct st_step *first)
{
	bool gap = t->windows.n && window_of(t)->end == ST_WINDOW_GAP;
	if (!ST_PUSH(&t->windows))
		return -1;
	t->open = true;
	t->undecided = gap;
	if (gap)
		begin_gap(t);
	t->to = *first;
	t->callers.n = 0;
	return 0;
}

int
st_walk_block(struct st_walk *w, uint32_t thread, uint32_t image, uint64_t offset, uint64_t sp,
              uint64_t bp)
{
	struct st_path_thread *t = thread_at(w, thread);
	const struct st_step now = {st_code_place(&w->code, image, offset), sp, bp};
	if (now.place == UINT32_MAX)
		return -1;
	struct st_place *places = w->code.places.v;
	places[now.place].passed = true;
	if (t->open && !can_follow(&places[t->last.place], &places[now.place]) &&
	    close_window(w, t, ST_WINDOW_BREAK))
		return -1;
	if (t->open ? follow_stack(w, t, &now) : open_window(t, &now))
		return -1;
	t->last = now;
	window_of(t)->blocks++;
	return st_fold_push(&w->fold, &window_of(t)->path, now.place);
}

st_status
st_walk_gap(struct st_walk *w, uint32_t thread)
{
	struct st_path_thread *t = thread_at(w, thread);
	if (!t->windows.n)
		t->late = true;
	return close_window(w, t, ST_WINDOW_GAP);
}

st_status
st_walk_signal(struct st_walk *w, uint32_t thread)
{
	return close_window(w, thread_at(w, thread), ST_WINDOW_SIGNAL);
}

static st_status
end_thread(struct st_walk *w, struct st_path_thread *t)
{
	if (close_window(w, t, ST_WINDOW_LAST))
		return -1;
	if (t->windows.n && window_of(t)->end == ST_WINDOW_GAP)
		window_of(t)->gap = (struct st_gap){.from = t->last, .last = true};
	return 0;
}

st_status
st_walk_end(struct st_walk *w)
{
	for (size_t i = 0; i < w->threads.n; i++)
		if (end_thread(w, thread_at(w, (uint32_t)i)))
			return -1;
	return 0;
}

static void
free_thread(struct st_path_thread *t)
{
	for (size_t i = 0; i < t->windows.n; i++) {
		free(t->windows.v[i].path.v);
		st_gap_free(&t->windows.v[i].gap);
	}
	free(t->windows.v);
	free(t->callers.v);
	free(t->callers_before.v);
	free(t->returns.v);
	free(t);
}

void
st_walk_free(struct st_walk *w)
{
	for (size_t i = 0; i < w->threads.n; i++)
		free_thread(w->threads.v[i]);
	free(w->threads.v);
	st_code_free(&w->code);
	st_fold_free(&w->fold);
	*w = (struct st_walk){0};
}
