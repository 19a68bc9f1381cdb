/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The status that a function returns if it can fail. Hosted code only. */
#ifndef STROBE_BASE_STATUS_H
#define STROBE_BASE_STATUS_H

/* Both compilers warn where the result is not looked at; each spells that differently. */
#ifdef __clang__
#define ST_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ST_MUST_CHECK [[nodiscard]]
#endif

/* The cause, if there is more to say than "out of memory", is in the struct st_error that the
 * function was given. `if (st_something())` is the branch of a failure. */
typedef enum ST_MUST_CHECK { ST_OK = 0, ST_FAILED = -1 } st_status;

/* For what is tried, and whose failure changes nothing: the comment says why. */
#define ST_IGNORE(call)                                                                            \
	do {                                                                                       \
		if (call) {                                                                        \
		}                                                                                  \
	} while (0)

#endif
