/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual speed-up of a function in a process with probes: its threads are stopped and let go by
 * ptrace. */
#ifndef STROBE_BLOW_VIRTUAL_H
#define STROBE_BLOW_VIRTUAL_H

#include "base/error.h"
#include "probe/probes.h"

struct st_virtual {
	const struct st_probes *probes; /* which have been started, and are not waited for */
	double speedup;                 /* 0 to 1; 0: nobody is stopped */
	/* The function's numbers among the probes; they may become more. */
	size_t (*functions)(void *arg, const uint32_t **numbers);
	void *arg;
	double paid;  /* out: seconds that the first thread has stood still, or been spared */
	double stood; /* out: that all threads have stood still */
};

/* Until the program has ended, which is still to be waited for. 0, or -1 with *e: it runs on as it
 * would have, and is still to be waited for. */
st_status st_virtual_run(struct st_virtual *v, struct st_error *e);

#endif
