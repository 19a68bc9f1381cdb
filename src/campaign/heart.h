/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that touches a file as long as the process lives, which shows other machines that it
 * does. */
#ifndef STROBE_CAMPAIGN_HEART_H
#define STROBE_CAMPAIGN_HEART_H

#include <pthread.h>
#include <stdbool.h>

struct st_heart {
	int fd;                  /* of the file */
	double interval;         /* s */
	void (*each)(void *arg); /* called each time, in the thread; NULL: nothing */
	void *arg;
	/* Private. */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool beats, ends;
};

/* The fields above are set. If no thread can be created, the file is not touched. */
void st_heart_begin(struct st_heart *h);
/* Does nothing if it has not begun. */
void st_heart_end(struct st_heart *h);

#endif
