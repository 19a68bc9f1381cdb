/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress of a campaign: its results and its workers. */
#ifndef STROBE_CAMPAIGN_STATUS_H
#define STROBE_CAMPAIGN_STATUS_H

#include "base/vec.h"
#include "campaign/campaign.h"

struct st_campaign_worker {
	char name[320], host[256];
	int cpu;       /* -1: not pinned */
	double noise;  /* a share; NAN: not calibrated (yet) */
	double silent; /* s since it reported */
	bool lost;
};

struct st_campaign_status {
	size_t tasks, finished, given_up;
	bool cancelled;
	bool controlled; /* a controller lives, which may add tasks */
	double left;     /* s, by the pace of the results so far; NAN: unknown, or cancelled */
	ST_VEC(struct st_campaign_worker) workers;
	ST_VEC(char *) bad; /* "n1: reason" */
};

/* 0, or -1: memory is exhausted. The caller frees in both cases. */
st_status st_campaign_status_of(struct st_campaign_status *s, const struct st_campaign *c,
                                struct st_error *e);
void st_campaign_status_free(struct st_campaign_status *s);

#endif
