/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/heart.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static void *
heart_beat(void *arg)
{
	struct st_heart *h = arg;
	struct timespec until;
	pthread_mutex_lock(&h->lock);
	while (!h->ends) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		const long long ns = until.tv_nsec + (long long)(h->interval * 1e9);
		until.tv_sec += ns / 1000000000;
		until.tv_nsec = ns % 1000000000;
		pthread_cond_timedwait(&h->end, &h->lock, &until);
		futimens(h->fd, NULL);
		if (!h->ends && h->each)
			h->each(h->arg);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

void
st_heart_begin(struct st_heart *h)
{
	pthread_condattr_t clock;
	sigset_t all, before;
	sigfillset(&all);
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* the time of day may be set back */
	pthread_cond_init(&h->end, &clock);
	pthread_condattr_destroy(&clock);
	pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the thread of the work */
	h->beats = !pthread_create(&h->thread, NULL, heart_beat, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
st_heart_end(struct st_heart *h)
{
	if (!h->beats)
		return;
	pthread_mutex_lock(&h->lock);
	h->ends = true;
	pthread_cond_signal(&h->end);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	h->beats = false;
}
