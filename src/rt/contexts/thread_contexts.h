/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread's calling contexts: data that rt.h embeds. */
#ifndef STROBE_RT_CONTEXTS_THREAD_CONTEXTS_H
#define STROBE_RT_CONTEXTS_THREAD_CONTEXTS_H

#include "tools/forest.h"

struct thread_contexts {
	struct forest *forest; /* forest.c; NULL: none yet */
	strobe_walk walk;      /* the cursor, which translated code moves */
};

#endif
