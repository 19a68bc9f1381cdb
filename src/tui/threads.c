/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of metrics and of threads. */
#include "tui/threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "tui/pages.h"

/* ---- metrics of calling contexts ---- */

static const char *
threads_metric(const struct st_tui *t, size_t i)
{
	return st_tui_calls_metric(&t->calls, i);
}

static size_t
threads_metric_chosen(const struct st_tui *t)
{
	return t->calls.metric;
}

static void
threads_metric_choose(struct st_tui *t, size_t i)
{
	st_tui_calls_forget(&t->calls);
	t->calls.metric = i;
}

const struct st_tui_metrics st_tui_calls_metrics = {threads_metric, threads_metric_chosen,
                                                    threads_metric_choose};

/* ---- menus ---- */

static void
threads_chosen_metric(struct st_tui *t, size_t i)
{
	const struct st_tui_metrics *m = st_tui_top(t)->metrics;
	st_tui_close_pages(t); /* they refer to what the choice forgets */
	m->choose(t, i);
	st_tui_reopen(t);
}

void
st_tui_metric_menu(struct st_tui *t)
{
	const struct st_tui_metrics *m = st_tui_top(t)->metrics;
	if (!m || !m->name(t, 1)) {
		st_tui_say(t,
		           m ? "the profile has one metric only: %s"
		             : "this page has no choice of metrics",
		           m ? m->name(t, 0) : "");
		return;
	}
	struct st_tui_page *menu = st_tui_menu_page("metrics", threads_chosen_metric);
	bool bad = !menu;
	for (size_t i = 0; !bad && m->name(t, i); i++)
		bad = st_tui_menu_add(menu, m->name(t, i), i, i == m->chosen(t));
	st_tui_push_menu(t, menu, bad);
}

/* The values of the menu: 0 for all threads, then the processes, then the threads. */
static void
threads_chosen(struct st_tui *t, size_t value)
{
	const size_t processes = t->profile->processes.n;
	st_tui_close_pages(t);
	st_tui_calls_forget(&t->calls);
	t->calls.threads = !value               ? ST_TUI_ALL_THREADS
	                   : value <= processes ? ST_TUI_ONE_PROCESS
	                                        : ST_TUI_ONE_THREAD;
	t->calls.which = (uint32_t)(!value               ? 0
	                            : value <= processes ? value - 1
	                                                 : value - 1 - processes);
	st_tui_reopen(t);
}

static st_status
threads_add(struct st_tui_page *menu, size_t value, bool chosen, char *text)
{
	const st_status status = text ? st_tui_menu_add(menu, text, value, chosen) : ST_FAILED;
	free(text);
	return status;
}

static bool
threads_fill(const struct st_tui *t, struct st_tui_page *menu)
{
	const struct st_profile *p = t->profile;
	const struct st_tui_calls *c = &t->calls;
	const size_t processes = p->processes.n;
	bool bad = threads_add(menu, 0, false, st_text_of("all threads"));
	for (size_t i = 0; i < processes && processes > 1 && !bad; i++)
		bad = threads_add(menu, 1 + i, c->threads == ST_TUI_ONE_PROCESS && c->which == i,
		                  st_text_of("process %" PRId64 "  %s", p->processes.v[i].pid,
		                             p->processes.v[i].command));
	for (size_t i = 0; i < p->threads.n && !bad; i++)
		bad = threads_add(menu, 1 + processes + i,
		                  c->threads == ST_TUI_ONE_THREAD && c->which == i,
		                  st_text_of("thread %" PRId64 "  %s", p->threads.v[i].tid,
		                             p->threads.v[i].name));
	return bad;
}

void
st_tui_threads_menu(struct st_tui *t)
{
	if (!st_tui_has_threads(t->profile)) {
		st_tui_say(t, "the profile does not tell threads apart, or has one only");
		return;
	}
	struct st_tui_page *menu = st_tui_menu_page("threads", threads_chosen);
	st_tui_push_menu(t, menu, !menu || threads_fill(t, menu));
}
