/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The region of interest as far as the controller begins and ends it; and what the runtime asks
 * about images. */
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/supervisor.h"
#include "wire/control.h"

static volatile sig_atomic_t toggles;

static void
on_toggle(int signo)
{
	(void)signo;
	toggles++;
}

void
st_region_begin(const struct st_supervisor *s)
{
	struct sigaction count = {.sa_handler = on_toggle};
	toggles = 0;
	if (s->options->toggle)
		sigaction(s->options->toggle, &count, NULL);
}

struct st_run_options
st_region_continued(struct st_supervisor *s, pid_t pid)
{
	struct st_run_options o = *s->options;
	const struct st_process *known = st_supervisor_newest(s, pid);
	/* A vfork's child had no results: time and signals begin the region in all processes. */
	const struct st_process *before = known ? known : st_supervisor_newest(s, s->main_pid);
	/* Where the program or a function begins it, it has to be begun again. */
	const uint32_t begun = ST_REGION_BY_FUNCTION | ST_REGION_BY_PROGRAM;
	if (!before || !(o.region_by & ST_REGION_BY_CONTROLLER) || (o.region_by & begun))
		return o;
	/* The execve may have come before the process could obey. */
	const struct st_control *c = &before->results->control;
	const bool on = c->region_asked ? c->region_asked == 1 : c->region_on;
	o.region_by &= ~(uint32_t)ST_REGION_OFF_AT_START;
	if (!on)
		o.region_by |= ST_REGION_OFF_AT_START;
	return o;
}

static void
ask_region(const struct st_process *p, bool on)
{
	struct st_results_header *h = (struct st_results_header *)p->results;
	siginfo_t info = {.si_signo = ST_SIGNAL_OWN, .si_code = SI_QUEUE};
	info.si_value.sival_ptr = (void *)ST_OWN_REGION;
	__atomic_store_n(&h->control.region_asked, on ? 1 : 2, __ATOMIC_SEQ_CST);
	syscall(SYS_rt_sigqueueinfo, p->pid, ST_SIGNAL_OWN, &info);
}

static void
ask_all_region(struct st_supervisor *s, bool on)
{
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct st_process *p = &s->processes[i];
		if (!p->gone && p->results->run.state == ST_RUN_CACHE)
			ask_region(p, on);
	}
}

void
st_region_tick(struct st_supervisor *s, double now)
{
	const struct st_run_options *o = s->options;
	const struct st_process *main = st_supervisor_newest(s, s->main_pid);
	const struct st_results_header *h = main ? main->results : s->processes[0].results;
	if (h->run.state != ST_RUN_CACHE)
		return;
	if (o->delay > 0 && !s->region_delayed && now - s->begin >= o->delay) {
		s->region_delayed = true;
		ask_all_region(s, true);
	}
	if (h->control.regions && !s->region_since)
		s->region_since = now;
	if (o->length > 0 && s->region_since && !s->region_over &&
	    now - s->region_since >= o->length) {
		s->region_over = true;
		ask_all_region(s, false);
	}
	if (toggles) {
		bool odd = toggles & 1;
		toggles = 0;
		if (odd)
			ask_all_region(s, !h->control.region_on);
	}
}

double
st_region_next(const struct st_supervisor *s, double now)
{
	const struct st_run_options *o = s->options;
	double next = 1;
	if (o->delay > 0 && !s->region_delayed)
		next = s->begin + o->delay - now;
	if (o->length > 0 && s->region_since && !s->region_over &&
	    s->region_since + o->length - now < next)
		next = s->region_since + o->length - now;
	return next > 0.001 ? next : 0.001;
}

void
st_region_seen(struct st_results_header *h, uint32_t n)
{
	__atomic_store_n(&h->control.images_done, n, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &h->control.images_done, FUTEX_WAKE, 100, NULL, NULL, 0);
}

void
st_region_images(struct st_supervisor *s, struct st_results_header *h)
{
	uint32_t n = __atomic_load_n(&h->maps.n, __ATOMIC_ACQUIRE);
	for (uint32_t i = h->control.images_done; i < n && i < ST_MAX_MAPS && s->options->on_image;
	     i++)
		s->options->on_image(s->options->image_arg, h, i);
	st_region_seen(h, n);
}

void
st_region_leaders(struct st_supervisor *s, struct st_results_header *h)
{
	uint32_t wanted = __atomic_load_n(&h->control.leaders_asked, __ATOMIC_ACQUIRE);
	if (!s->options->on_leaders)
		return;
	uint64_t from = st_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	s->options->on_leaders(s->options->image_arg, h);
	/* A budget pays for it. */
	uint64_t ns = st_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	__atomic_fetch_add(&h->control.debt_ns, ns, __ATOMIC_RELAXED);
	h->control.controller_ns += ns;
	s->leaders_ns += ns;
	__atomic_store_n(&h->control.leaders_done, wanted, __ATOMIC_RELEASE);
}
