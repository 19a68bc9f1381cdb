/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "blow/hidden.h"
#include "blow/latency.h"
#include "blow/listed.h"
#include "blow/live_counts.h"
#include "blow/points.h"
#include "blow/sites.h"
#include "blow/virtual.h"
#include "control/attach.h"
#include "timing/timing.h"
#include "trace/probe_results.h"

/* Seconds of the selection: at least, and at most for a progress point to be called. */
static const double select_least = 1, select_most = 30;
static const double remove_patience = 5; /* seconds, for all threads to stop */

/* What a thread has paid for a virtual speed-up. */
struct st_blow_paid {
	int64_t tid;
	double seconds;
};

struct st_blow_live {
	const struct st_blow_how *how;
	struct st_probes probes;
	struct st_blow_listing listing;
	size_t searched;          /* images whose locations have been looked for */
	struct st_blow_kept kept; /* probes that the windows need */
	struct st_blow_counts before, after;
	struct st_virtual_watch *watch;   /* in causal mode */
	ST_VEC(struct st_blow_paid) paid; /* in the last window, by thread */
	bool no_memory;                   /* for these, or for locations */
	struct st_flight *flights;        /* of the latencies */
	struct st_blow_sites sites;
	uint32_t *numbers; /* the probes of the function that is sped up */
	size_t n_numbers;
	double window, tsc_hz;
	pid_t pid;
	int end;         /* pidfd; -1: there is none */
	bool own, ended; /* own: the program was started here */
	bool attached, narrowed;
	bool selected; /* images that are mapped later get no probes; atomic */
};

/* ---- waiting ---- */

/* Waits for the given seconds, or until the process ends or a signal comes. */
static void
look_for_end(struct st_blow_live *l, double seconds)
{
	struct pollfd end = {.fd = l->end, .events = POLLIN};
	const double ns = seconds > 0 ? seconds * 1e9 : 0;
	const struct timespec t = {(time_t)(ns / 1e9),
	                           (long)(ns - (double)(time_t)(ns / 1e9) * 1e9)};
	l->ended |= l->end >= 0 ? ppoll(&end, 1, &t, NULL) == 1
	                        : (nanosleep(&t, NULL), kill(l->pid, 0) != 0 && errno == ESRCH);
}

static void
live_wait(struct st_blow_live *l, double seconds)
{
	const double until = st_now_raw() + seconds;
	for (double left; !st_blow_live_over(l) && (left = until - st_now_raw()) > 0;)
		look_for_end(l, left < 0.1 ? left : 0.1);
}

bool
st_blow_live_ended(const struct st_blow_live *l)
{
	return l->ended;
}

bool
st_blow_live_over(const struct st_blow_live *l)
{
	return l->ended || st_attached_interrupted() || st_timing_interrupted();
}

/* ---- attaching, and the selection ---- */

/* Looks for the locations in the image, once. The functions are chosen before points within them,
 * and a function around a location has to be timed. */
static void
search_live_locations(struct st_blow_live *l, const struct st_probed_image *image)
{
	const size_t number = (size_t)(image - image->probes->images.v);
	if (number < l->searched)
		return;
	l->searched = number + 1;
	l->no_memory |=
	        st_blow_locations_find(l->how->locations, image, &l->listing.found) != ST_OK;
}

static bool
is_around_live_location(const struct st_blow_live *l, const struct st_probed_image *image,
                        const struct st_function *f)
{
	const size_t number = (size_t)(image - image->probes->images.v);
	for (size_t i = 0; i < l->listing.found.list.n; i++) {
		const struct st_blow_found *found = &l->listing.found.list.v[i];
		if (found->image == number && found->around == f->offset)
			return true;
	}
	return false;
}

static struct st_probe_action
choose_live(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	struct st_blow_live *l = arg;
	bool chosen = false;
	if (!__atomic_load_n(&l->selected, __ATOMIC_ACQUIRE)) {
		search_live_locations(l, image);
		chosen = st_blow_is_listed(&l->listing, image, f) ||
		         is_around_live_location(l, image, f);
	}
	return (struct st_probe_action){chosen ? ST_PROBE_TIME : ST_PROBE_NOTHING, 0};
}

static st_status
want_live_points(void *arg, const struct st_probed_image *image, struct st_wanted_points *to)
{
	struct st_blow_live *l = arg;
	const uint32_t number = (uint32_t)(image - image->probes->images.v);
	if (__atomic_load_n(&l->selected, __ATOMIC_ACQUIRE))
		return ST_OK;
	st_status status =
	        l->no_memory ? ST_FAILED : st_blow_sites_add(&l->sites, l->how->points, image, to);
	for (size_t i = 0; i < l->listing.found.list.n && !status; i++)
		if (l->listing.found.list.v[i].image == number)
			status = st_blow_want_location(to, l->listing.found.list.v[i].at);
	return status;
}

/* Overwrites the reason of a failure to attach if it is that the program has ended. */
static st_status
explain_attach(const struct st_blow_live *l, struct st_error *e)
{
	siginfo_t info = {0};
	if (!l->own || waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    info.si_pid != l->pid)
		return ST_FAILED;
	return st_fail(e, ST_EXIT_FAILED,
	               "the program has ended before experiments began: --window is for programs "
	               "that go on, such as servers; leave it out to run the program repeatedly");
}

static st_status
live_attach(struct st_blow_live *l, struct st_error *e)
{
	l->probes = (struct st_probes){
	        .choose = choose_live,
	        .arg = l,
	        .process = {.noisy = true, .memory = -1, .hides_pauses = l->how->hides_pauses}};
	if ((l->how->points && l->how->points->sites.n) || l->how->locations)
		l->probes.points = want_live_points;
	if (st_blow_listing_begin(&l->listing, l->how, &l->probes))
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!l->pid) {
		const pid_t pid = st_blow_live_start(l->how->program, l->how->input, e);
		if (pid < 0)
			return ST_FAILED;
		l->pid = pid;
		l->own = true;
	}
	l->end = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (st_probes_attach(&l->probes, l->pid, e))
		return explain_attach(l, e);
	l->attached = true;
	st_timing_watch_signals(); /* they are noted there, too */
	return st_hidden_check(&l->probes, e);
}

static bool
is_live_point(const struct st_blow_live *l, const struct st_probed_function *f)
{
	return f->is_point
	               ? st_blow_sites_have(&l->sites, l->probes.images.v[f->image].path, f->offset)
	               : st_blow_points_function(l->how->points, f->name, f->name) !=
	                         ST_BLOW_NO_POINT;
}

/* Has a progress point been called, or is there none? */
static bool
has_progressed(struct st_blow_live *l)
{
	struct st_probes *p = &l->probes;
	const struct st_probe_area *a = p->process.area;
	bool progressed = false, any = false;
	/* A library that the process loads meanwhile may have further points. */
	pthread_mutex_lock(&p->installing);
	for (uint32_t k = 0; k < p->functions.n && !progressed; k++) {
		if (!is_live_point(l, &p->functions.v[k]))
			continue;
		any = true;
		for (uint32_t i = 0; i < a->n_records && i < ST_PROBE_MOST_RECORDS; i++) {
			const struct st_probe_cell *c = st_probes_cell(p, i, k);
			progressed |= c && c->calls;
		}
	}
	pthread_mutex_unlock(&p->installing);
	return progressed || !any;
}

/* Reads the functions from the lines that a listing has written. */
static st_status
read_listed(struct st_blow *b, char *lines)
{
	st_status status = ST_OK;
	for (char *rest = lines, *line; !status && (line = strsep(&rest, "\n"));)
		status = *line ? st_blow_read_function(b, line) : ST_OK;
	return status;
}

static st_status
list_live(struct st_blow_live *l, struct st_blow *b, struct st_error *e)
{
	struct st_probing *p = &l->probes.process;
	const struct st_moment now = st_moment_now();
	struct st_trace t;
	char *lines = NULL;
	size_t n;
	FILE *out = open_memstream(&lines, &n);
	p->end = now.ticks;
	l->tsc_hz = p->tsc_hz = st_moments_frequency(p->begin, now);
	/* No image is added from now on, but one may be at the moment. */
	__atomic_store_n(&l->selected, true, __ATOMIC_RELEASE);
	pthread_mutex_lock(&p->busy);
	st_status status = out ? st_trace_of_probes(&t, &l->probes, false) : ST_FAILED;
	if (!status) {
		status = st_blow_list(&l->listing, &t, out);
		st_trace_free(&t);
	}
	pthread_mutex_unlock(&p->busy);
	if (out && fclose(out))
		status = ST_FAILED;
	if (!status)
		status = read_listed(b, lines);
	free(lines);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the functions") : ST_OK;
}

st_status
st_blow_live_select(struct st_blow_live *l, const struct st_blow_how *how, struct st_blow *b,
                    struct st_blow_run *run, struct st_error *e)
{
	l->how = how;
	if (live_attach(l, e))
		return ST_FAILED;
	const double begin = st_now_raw(),
	             least = l->window > select_least ? l->window : select_least;
	st_blow_sources_begin(how->points);
	live_wait(l, least);
	while (!has_progressed(l) && st_now_raw() - begin < select_most && !st_blow_live_over(l))
		live_wait(l, 0.1);
	run->total_ns = (uint64_t)((st_now_raw() - begin) * 1e9);
	if (l->ended)
		return st_fail(e, ST_EXIT_FAILED,
		               "process %d has ended before functions were selected: experiments "
		               "in windows need one that goes on",
		               l->pid);
	if (st_blow_sources_check(how->points, e) ||
	    st_blow_sites_check(&l->sites, how->points, &l->probes, e))
		return ST_FAILED;
	return list_live(l, b, e) || st_blow_check_names(how, e) ? ST_FAILED : ST_OK;
}

/* ---- probes and noise ---- */

/* Keeps the probes that the windows need, and removes the others. */
static st_status
narrow(struct st_blow_live *l, const struct st_blow *b, struct st_error *e)
{
	struct st_probes *p = &l->probes;
	/* Patches may be those of a function that comes to nothing, after the last one. */
	bool *drops = calloc(p->functions.n + 2, sizeof *drops);
	if (!drops || st_blow_keep(&l->kept, p, b, &l->sites, l->how->points, drops)) {
		free(drops);
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the functions");
	}
	pthread_mutex_lock(&p->process.busy);
	/* If the threads do not stop, the probes stay: they cost time, in all windows alike. */
	(void)!st_probing_remove(&p->process, drops, remove_patience);
	pthread_mutex_unlock(&p->process.busy);
	free(drops);
	l->flights = st_blow_flights_new(l->how->points);
	for (size_t i = 0; l->flights && i < l->kept.list.n; i++)
		st_blow_flights_probe(l->flights, l->how->points,
		                      &b->functions.v[l->kept.list.v[i].function],
		                      l->kept.list.v[i].number);
	if (!l->flights)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the functions");
	l->narrowed = true;
	return ST_OK;
}

/* word: st_probe_noise; 0 ends the noise. */
static void
put_noise(struct st_blow_live *l, uint32_t function, uint64_t word)
{
	struct st_probe_area *a = l->probes.process.area;
	/* Twice the time that the noise is meant to last, if Strobe is killed meanwhile. */
	const double seconds = 2 * l->window * (1 + 1.0 / ST_BLOW_LIVE_NOISES);
	__atomic_store_n(&a->noise_until, st_moment_now().ticks + (uint64_t)(seconds * l->tsc_hz),
	                 __ATOMIC_RELEASE);
	for (size_t i = 0; i < l->kept.list.n; i++)
		if (l->kept.list.v[i].function == function)
			__atomic_store_n(&a->noise[l->kept.list.v[i].number], word,
			                 __ATOMIC_RELEASE);
}

/* Whether the noise of the entry is at the returns of a function. */
static bool
is_at_end(const struct st_blow_live *l, const struct st_blow *b, uint32_t function)
{
	return l->how->after && !(b->functions.v[function].traits & ST_BLOW_IS_INSIDE);
}

static uint64_t
cpu_ns_of(pid_t pid)
{
	clockid_t clock;
	struct timespec t = {0};
	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- virtual speed-ups ---- */

static bool
is_live_over(void *arg)
{
	struct st_blow_live *l = arg;
	look_for_end(l, 0);
	return st_blow_live_over(l);
}

static bool
is_within_live(void *arg, uint32_t record)
{
	const struct st_blow_live *l = arg;
	return st_virtual_in_call(&l->probes, record, l->numbers, l->n_numbers);
}

static void
note_live_payer(void *arg, int64_t tid, double seconds)
{
	struct st_blow_live *l = arg;
	struct st_blow_paid *slot = ST_PUSH(&l->paid);
	if (slot)
		*slot = (struct st_blow_paid){tid, seconds};
	l->no_memory |= !slot;
}

/* Keeps the numbers of the function's probes. */
static st_status
number_function(struct st_blow_live *l, uint32_t function)
{
	if (!l->numbers && !(l->numbers = calloc(l->kept.list.n + 1, sizeof *l->numbers)))
		return ST_FAILED;
	l->n_numbers = 0;
	for (size_t i = 0; i < l->kept.list.n; i++)
		if (l->kept.list.v[i].function == function)
			l->numbers[l->n_numbers++] = l->kept.list.v[i].number;
	return ST_OK;
}

/* Waits for a window, with the virtual speed-up of the run. */
static st_status
wait_virtually(struct st_blow_live *l, const struct st_blow_run *run, struct st_error *e)
{
	const bool quiet = run->function == ST_BLOW_NONE;
	struct st_virtual v = {.probes = &l->probes,
	                       .speedup = quiet ? 0 : (double)run->noise.strength / 100,
	                       .within = is_within_live,
	                       .thread_paid = note_live_payer,
	                       .arg = l,
	                       .flights = l->flights,
	                       .n_flights = l->how->points ? l->how->points->latencies.n : 0};
	l->paid.n = 0;
	if (number_function(l, run->function) ||
	    st_virtual_window(l->watch, &v, l->window, is_live_over, e))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the threads");
	return l->no_memory ? st_fail(e, ST_EXIT_FAILED, "no memory left for the threads") : ST_OK;
}

/* The seconds that the thread of the record has paid. */
static double
paid_by_record(const struct st_blow_live *l, uint32_t record)
{
	const int64_t tid = l->probes.process.area->records[record].tid;
	double most = 0;
	for (size_t i = 0; i < l->paid.n; i++)
		if (l->paid.v[i].tid == tid && l->paid.v[i].seconds > most)
			most = l->paid.v[i].seconds;
	return most;
}

/* What the thread that has paid most has paid in the window, ns. */
static uint64_t
most_paid_ns(const struct st_blow_live *l, const struct st_blow_run *run)
{
	double most = 0;
	for (size_t i = 0; i < l->paid.n && run->function != ST_BLOW_NONE; i++)
		most = l->paid.v[i].seconds > most ? l->paid.v[i].seconds : most;
	return (uint64_t)(most * 1e9 + 0.5);
}

/* Adds what the threads have paid to the samples of the function and of progress points. */
static void
put_payments(const struct st_blow_live *l, struct st_blow_run *run)
{
	for (size_t i = 0; i < run->samples.n && run->function != ST_BLOW_NONE; i++)
		run->samples.v[i].noise_ns =
		        (uint64_t)(paid_by_record(l, run->samples.v[i].thread) * 1e9 + 0.5);
}

/* ---- windows ---- */

static st_status
live_pass(struct st_blow_live *l, const struct st_blow_run *run, struct st_error *e)
{
	if (l->how->causal)
		return wait_virtually(l, run, e);
	live_wait(l, l->window);
	return ST_OK;
}

/* Adds the measurements of the window to the run. -1: memory is exhausted. */
static st_status
put_window(struct st_blow_live *l, const struct st_blow *b, struct st_blow_run *run)
{
	if (st_blow_count_samples(&l->before, &l->after, &l->kept, b, l->tsc_hz, run))
		return ST_FAILED;
	if (l->how->causal)
		put_payments(l, run);
	if (l->how->causal && st_blow_flights_end(l->flights, l->how->points, b, run))
		return ST_FAILED;
	return st_blow_sources_end(l->how->points, b, most_paid_ns(l, run), run);
}

static st_status
measure_window(struct st_blow_live *l, const struct st_blow *b, struct st_blow_run *run,
               struct st_error *e)
{
	st_blow_sources_begin(l->how->points);
	const uint64_t cpu = cpu_ns_of(l->pid);
	const double begin = st_now_raw();
	st_status status = st_blow_count(&l->before, &l->kept, &l->probes);
	if (!status && live_pass(l, run, e))
		return ST_FAILED;
	if (!status)
		status = st_blow_count(&l->after, &l->kept, &l->probes);
	run->total_ns = (uint64_t)((st_now_raw() - begin) * 1e9);
	run->cpu_ns = cpu_ns_of(l->pid) - cpu;
	return status || put_window(l, b, run)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the results of a window")
	               : ST_OK;
}

/* Lets the program run between two windows. */
static st_status
settle_window(struct st_blow_live *l, struct st_error *e)
{
	const double seconds = l->window / ST_BLOW_LIVE_NOISES;
	if (l->watch)
		return st_virtual_idle(l->watch, seconds, is_live_over, l, e);
	live_wait(l, seconds);
	return ST_OK;
}

/* Prepares the process for the first window. */
static st_status
begin_windows(struct st_blow_live *l, const struct st_blow *b, struct st_error *e)
{
	if (!l->narrowed && narrow(l, b, e))
		return ST_FAILED;
	if (l->how->causal && !l->watch && !(l->watch = st_virtual_begin(&l->probes, e)))
		return ST_FAILED;
	return ST_OK;
}

st_status
st_blow_live_window(struct st_blow_live *l, const struct st_blow *b, struct st_blow_run *run,
                    struct st_error *e)
{
	const bool noisy = run->function != ST_BLOW_NONE && !l->how->causal;
	if (begin_windows(l, b, e))
		return ST_FAILED;
	l->probes.process.area->yield_ticks =
	        (uint64_t)(st_blow_live_seconds(l) * l->tsc_hz) / ST_BLOW_LIVE_NOISES;
	if (noisy)
		put_noise(
		        l, run->function,
		        st_blow_noise_word(run->noise, is_at_end(l, b, run->function), l->tsc_hz));
	const st_status status =
	        settle_window(l, e) || measure_window(l, b, run, e) ? ST_FAILED : ST_OK;
	if (noisy)
		put_noise(l, run->function, 0);
	return status;
}

/* ---- the end ---- */

double
st_blow_live_seconds(const struct st_blow_live *l)
{
	return l->window;
}

pid_t
st_blow_live_pid(const struct st_blow_live *l)
{
	return l->pid;
}

struct st_blow_live *
st_blow_live_new(pid_t pid, double window)
{
	struct st_blow_live *l = calloc(1, sizeof *l);
	if (l) {
		l->pid = pid;
		l->window = window;
		l->end = -1;
	}
	return l;
}

st_status
st_blow_live_leave(struct st_blow_live *l, struct st_error *e)
{
	st_status status = ST_OK;
	st_virtual_end(l->watch);
	l->watch = NULL;
	if (l->attached) {
		__atomic_store_n(&l->probes.process.area->noise_until, 1, __ATOMIC_RELEASE);
		status = st_probes_detach(&l->probes, 0.001, e);
	}
	l->attached = false;
	if (l->own)
		st_blow_live_stop(l->pid);
	l->own = false;
	return status;
}

void
st_blow_live_free(struct st_blow_live *l)
{
	struct st_error ignored;
	if (!l)
		return;
	ST_IGNORE(st_blow_live_leave(l, &ignored)); /* the caller has done it if it wants to know */
	st_blow_listing_end(&l->listing);
	st_probes_free(&l->probes);
	st_blow_keep_free(&l->kept);
	free(l->numbers);
	free(l->flights);
	free(l->sites.list.v);
	free(l->paid.v);
	free(l->before.v);
	free(l->after.v);
	if (l->end >= 0)
		close(l->end);
	free(l);
}
