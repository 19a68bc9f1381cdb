/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/top.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "report/report.h"
#include "report/text.h"

/* Before this a view would only flicker. */
static const double first_seconds = 0.5;
/* Looking takes no more of a processor than this. */
static const double most_share = 0.05;

/* CPU time of ours. */
static double
used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Its functions have been read already, for the runtime. */
static struct st_image *
open_image(void *arg, const char *path)
{
	return st_region_image(arg, path);
}

st_status
st_top_begin(struct st_top *t, const struct st_top_choice *choice, const char *name, uint32_t pid,
             struct st_region *images, struct st_error *e)
{
	char *printable = st_printable(st_base_name(name));
	*t = (struct st_top){.attached = pid != 0,
	                     .choice = *choice,
	                     .begin = st_moment_now(),
	                     .interval = choice->interval,
	                     .next = first_seconds};
	if (!printable || asprintf(&t->what, pid ? "%s (%u)" : "%s", printable, pid) < 0)
		t->what = NULL;
	free(printable);
	if (st_screen_open(&t->screen, pid ? (pid_t)pid : getpid(), e)) {
		free(t->what);
		return -1;
	}
	st_live_init(&t->live, choice->worth, choice->blocks);
	t->live.open = open_image;
	t->live.open_arg = images;
	t->on = true;
	return 0;
}

void
st_top_end(struct st_top *t)
{
	if (!t->on)
		return;
	t->on = false;
	st_screen_close(&t->screen);
	st_live_free(&t->live);
	free(t->what);
}

void
st_top_pause(void *arg, bool begins)
{
	struct st_top *t = arg;
	if (t->on && begins)
		st_screen_give_back(&t->screen);
	else if (t->on)
		t->incomplete = true;
}

static void
draw(struct st_top *t, double elapsed)
{
	const char *no_colour = getenv("NO_COLOR");
	struct st_live_look look = {
	        .command = t->choice.command ? t->choice.command : "paths",
	        .only_places = t->choice.only_places,
	        .what = t->what ? t->what : "",
	        .keys = !t->screen.keys ? NULL
	                : t->of_all     ? "s: of late, q: quit"
	                                : "s: of all, q: quit",
	        .colour = !(no_colour && *no_colour),
	        .of_all = t->of_all,
	        .elapsed = elapsed,
	        .interval = t->period,
	        .tsc_hz = t->choice.hz > 0 ? t->choice.hz
	                                   : st_moments_frequency(t->begin, st_moment_now()),
	        .files = 2};
	struct st_text built;
	if (!st_screen_room(&t->screen, &look.height, &look.width))
		return;
	FILE *out = st_text_begin(&built);
	if (!out)
		return;
	t->incomplete = !st_live_view(&t->live, &look, out);
	char *text = st_text_end(&built);
	if (text)
		st_screen_draw(&t->screen, text);
	free(text);
}

/* True: there is something new to draw. */
static bool
take_keys(struct st_top *t)
{
	bool new = false;
	for (char key; t->on && (key = st_screen_key(&t->screen));) {
		if (key == 'q' && t->attached)
			raise(SIGINT); /* ends the watching */
		if (key == 'q')
			st_top_end(t);
		if (key == 's') {
			t->of_all = !t->of_all;
			new = true;
		}
	}
	return new;
}

void
st_top_refresh(struct st_top *t, double elapsed, void (*look)(void *arg, struct st_live *l),
               void *arg)
{
	const bool new = take_keys(t);
	const double begin = used();
	const bool due = elapsed >= t->next;
	if (!t->on || !st_screen_flush(&t->screen))
		return;
	if (!due && !new && !t->incomplete && !st_screen_changed(&t->screen))
		return;
	if (due) {
		look(arg, &t->live);
		t->period = elapsed - t->last;
		t->last = elapsed;
	}
	draw(t, elapsed);
	const double rest = (used() - begin) / most_share;
	if (due)
		t->next = elapsed + (t->interval > rest ? t->interval : rest);
}

struct looked_at {
	const struct st_process *processes;
	size_t n;
};

static void
look_at_processes(void *arg, struct st_live *l)
{
	const struct looked_at *at = arg;
	st_live_look(l, at->processes, at->n);
}

void
st_top_show(void *arg, const struct st_process *processes, size_t n, double elapsed)
{
	struct st_top *t = arg;
	struct looked_at at = {processes, n};
	if (t->on)
		st_top_refresh(t, elapsed, look_at_processes, &at);
	if (!t->on)
		st_progress_show(t->line, processes, n, elapsed);
}

static bool
is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

st_status
st_top_check(struct st_top_choice *choice, const char *program, struct st_error *e)
{
	static const double least = 0.1; /* seconds */
	if (choice->interval && !choice->chosen)
		return st_fail(e, ST_EXIT_USAGE,
		               "--interval sets how often --top is updated: add --top, or leave "
		               "out --interval");
	if (choice->interval && choice->interval < least)
		return st_fail(e, ST_EXIT_USAGE, "--interval takes %.0f ms at least", least * 1e3);
	if (choice->chosen && program && is_number(program))
		return st_fail(e, ST_EXIT_USAGE,
		               "--top takes no number; for the number of rows, say -n %s", program);
	if (!choice->interval)
		choice->interval = 1;
	return ST_OK;
}
