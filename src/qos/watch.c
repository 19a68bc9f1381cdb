/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "qos/qos.h"
#include "qos/source.h"

static const double shortest = 0.05, longest = 1; /* seconds from poll to poll */
static const double patience = 3;                 /* seconds without a word */

struct st_qos {
	char *source;
	const struct st_qos_kind *kind;
	void *state;
	double interval, begin;
	pthread_t thread;
	bool runs, lost; /* the thread; it did not come back */
	int stop;        /* an eventfd */
	bool disconnect; /* atomic: the thread is asked to */
	double leaves;   /* when the program was asked to end; 0: it was not */
	pthread_mutex_t lock;
	/* Under the lock. */
	struct st_qos_monitor monitor;
	double polled; /* when the last poll ended */
	char *trouble; /* the first one */
	bool told;     /* it has been said */
};

const char *
st_qos_policy_name(enum st_qos_policy policy)
{
	static const char *const names[] = {
#define ST_QOS_POLICY(id, name) name,
	        ST_QOS_POLICIES(ST_QOS_POLICY)
#undef ST_QOS_POLICY
	};
	return names[policy];
}

const char *
st_qos_state_name(enum st_qos_state state)
{
	static const char *const names[] = {
#define ST_QOS_STATE(id, name) name,
	        ST_QOS_STATES(ST_QOS_STATE)
#undef ST_QOS_STATE
	};
	return names[state];
}

const char *
st_qos_form(size_t i)
{
	return st_qos_kinds[i] ? st_qos_kinds[i]->form : NULL;
}

struct st_qos *
st_qos_open(const char *source, const struct st_qos_goal *goal, struct st_error *e)
{
	const char *rest;
	const struct st_qos_kind *kind = st_qos_kind_of(source, &rest);
	st_cause(e, ST_EXIT_FAILED, "out of memory");
	if (!kind) {
		st_cause(e, ST_EXIT_USAGE, "--qos has no source '%s'", source);
		return NULL;
	}
	void *state = kind->open(rest, e);
	struct st_qos *q = state ? calloc(1, sizeof *q) : NULL;
	if (!q) {
		if (state)
			kind->close(state);
		return NULL;
	}
	q->source = strdup(source);
	q->kind = kind;
	q->state = state;
	q->interval = goal->period < shortest  ? shortest
	              : goal->period > longest ? longest
	                                       : goal->period;
	double most = kind->interval ? kind->interval(state) : 0;
	if (most > 0 && q->interval > most)
		q->interval = most;
	q->monitor.goal = *goal;
	q->monitor.budget = st_qos_blind_budget(goal, goal->start);
	q->monitor.patience = patience;
	q->stop = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&q->lock, NULL);
	return q;
}

const char *
st_qos_source(const struct st_qos *q)
{
	return q->source;
}

const struct st_qos_goal *
st_qos_goal(const struct st_qos *q)
{
	return &q->monitor.goal;
}

/* Under the lock. */
static void
note_trouble(struct st_qos *q, const char *why)
{
	if (q->trouble)
		return;
	if (asprintf(&q->trouble, "--qos %s: %s%s", q->source, why,
	             q->monitor.goal.policy == ST_QOS_WATCH
	                     ? ""
	                     : "; the budget is 0 until the source gives a number again") < 0)
		q->trouble = NULL;
}

static void
watch_take(struct st_qos *q, enum st_qos_got got, const struct st_qos_poll *p)
{
	char why[300];
	pthread_mutex_lock(&q->lock);
	q->polled = st_now_raw();
	q->monitor.window = p->window;
	st_qos_monitor_take(&q->monitor, q->polled - q->begin, got, p->value);
	if (q->monitor.state == ST_QOS_FAILED)
		note_trouble(q, p->why);
	if (q->monitor.state == ST_QOS_SILENT) {
		snprintf(why, sizeof why, "it has given no number for %g s%s%s", patience,
		         *p->why ? ": " : "", p->why);
		note_trouble(q, why);
	}
	pthread_mutex_unlock(&q->lock);
}

static void *
watch_watch(void *arg)
{
	struct st_qos *q = arg;
	double next = q->begin;
	do {
		if (__atomic_exchange_n(&q->disconnect, false, __ATOMIC_RELAXED) &&
		    q->kind->disconnect)
			q->kind->disconnect(q->state);
		struct st_qos_poll p = {
		        .now = st_now_raw(), .most = q->interval / 2, .stop = q->stop};
		enum st_qos_got got = q->kind->poll(q->state, &p);
		watch_take(q, got, &p);
		next += q->interval;
		double now = st_now_raw();
		next = next > now ? next : now + q->interval / 2;
	} while (!st_qos_wait(q->stop, POLLIN, next, -1));
	return NULL;
}

void
st_qos_start(struct st_qos *q)
{
	/* Signals are for the thread that waits for the program. */
	sigset_t all, before;
	q->begin = q->polled = st_now_raw();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	q->runs = pthread_create(&q->thread, NULL, watch_watch, q) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void
watch_say(const char *text)
{
	fprintf(stderr, "%sstrobe: ", isatty(STDERR_FILENO) ? "\r\033[K" : "");
	for (; *text; text++) /* parts of it are the source's */
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
	fputc('\n', stderr);
}

/* A program that ends serves nobody any more, as one that starts. It may have thought better of it.
 */
static double
budget_while_it_leaves(const struct st_qos *q, double budget)
{
	const struct st_qos_goal *goal = &q->monitor.goal;
	bool leaves = q->leaves && st_now_raw() - q->leaves < ST_QOS_LONGEST_START;
	return leaves && goal->start > budget ? goal->start : budget;
}

double
st_qos_budget(struct st_qos *q)
{
	double budget = st_qos_blind_budget(&q->monitor.goal, 0);
	/* The lock is held for moments only, whatever the source does. */
	pthread_mutex_lock(&q->lock);
	bool late = q->runs && st_now_raw() - q->polled > patience + q->interval;
	if (late || !q->runs)
		note_trouble(q, q->runs ? "it does not answer" : "no thread can be started for it");
	else
		budget = q->monitor.budget;
	bool tell = q->trouble && !q->told;
	q->told |= tell;
	pthread_mutex_unlock(&q->lock);
	if (tell)
		watch_say(q->trouble);
	return budget_while_it_leaves(q, budget);
}

struct st_qos_row
st_qos_last(struct st_qos *q)
{
	struct st_qos_row row = {.value = NAN};
	pthread_mutex_lock(&q->lock);
	const struct st_qos_monitor *m = &q->monitor;
	if (m->n)
		row = m->rows[m->n - 1];
	if (row.state != ST_QOS_KEPT && row.state != ST_QOS_MISSED)
		row.value = NAN;
	pthread_mutex_unlock(&q->lock);
	return row;
}

void
st_qos_disconnect(struct st_qos *q)
{
	__atomic_store_n(&q->disconnect, true, __ATOMIC_RELAXED);
	q->leaves = st_now_raw();
}

void
st_qos_stop(struct st_qos *q)
{
	struct timespec end;
	if (!q->runs)
		return;
	eventfd_write(q->stop, 1);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 1;
	q->lost = pthread_timedjoin_np(q->thread, NULL, &end) != 0;
	q->runs = false;
}

const struct st_qos_row *
st_qos_rows(const struct st_qos *q, size_t *n)
{
	*n = q->lost ? 0 : q->monitor.n;
	return q->monitor.rows;
}

const char *
st_qos_trouble(const struct st_qos *q)
{
	return q->trouble;
}

void
st_qos_free(struct st_qos *q)
{
	if (!q || q->lost) /* what its thread still uses */
		return;
	q->kind->close(q->state);
	close(q->stop);
	pthread_mutex_destroy(&q->lock);
	free(q->monitor.rows);
	free(q->trouble);
	free(q->source);
	free(q);
}
