/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays of tools that grow. The old space is not released, since memory of the runtime is not. */
#ifndef STROBE_TOOLS_GROW_H
#define STROBE_TOOLS_GROW_H

#include <strobe/tool.h>

/* Gives an array that has n elements space for `wanted` ones, and sets `room` to that. False: there
 * is no memory, and nothing has changed. */
#define TOOLS_GROW(array, n, room, wanted)                                                         \
	({                                                                                         \
		__typeof__(room) grown_room = (wanted);                                            \
		__typeof__(array) grown = strobe_allocate(grown_room * sizeof *grown);             \
		for (__typeof__(n) grown_at = 0; grown && grown_at < (n); grown_at++)              \
			grown[grown_at] = (array)[grown_at];                                       \
		if (grown) {                                                                       \
			(array) = grown;                                                           \
			(room) = grown_room;                                                       \
		}                                                                                  \
		grown != NULL;                                                                     \
	})

#endif
