/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explains why a function executes more instructions than in the base. */
#ifndef STROBE_GATE_WHY_H
#define STROBE_GATE_WHY_H

#include <stdio.h>

#include "gate/counts.h"

/* W(identifier, "word"): the main cause of the change. */
#define ST_GATE_WHYS(W)                                                                            \
	W(CALLS, "more calls")                                                                     \
	W(CODE, "other code")                                                                      \
	W(INPUTS, "other inputs")                                                                  \
	W(FIRST, "called for the first time")                                                      \
	W(NEW, "new function")                                                                     \
	W(DEARER, "more expensive calls")                                                          \
	W(LESS, "less")
enum st_gate_why {
#define W(id, name) ST_GATE_WHY_##id,
	ST_GATE_WHYS(W)
#undef W
};
extern const char *const st_gate_whys[];

/* Equal code that executes more in each call has other inputs. DEARER: each call executes more, and
 * the code could not be compared. */
enum st_gate_why st_gate_why(const struct st_gate_function *f);
/* Whether the function itself may be the cause: its code changed, or cannot be compared. */
bool st_gate_is_blamed(const struct st_gate_function *f);
/* Writes a sentence without a full stop: "more calls (10 -> 1,000), most from main, whose code
 * changed; ..."
 */
void st_gate_put_why(const struct st_gate_function *f, FILE *out);
/* "+12.50 %", "new". */
enum { ST_GATE_CHANGE_SIZE = 32 };
const char *st_gate_change(const struct st_gate_count *c, char text[ST_GATE_CHANGE_SIZE]);

#endif
