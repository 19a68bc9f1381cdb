/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes calibrations (calibration.h), and applies them to the benchmarks of a gate. */
#ifndef STROBE_GATE_CALIBRATE_H
#define STROBE_GATE_CALIBRATE_H

#include "gate/result.h"

/* Runs the gates of a benchmark whose sides are equal, and adds their calibration to the result.
 * 0, or -1 with *e. */
st_status st_gate_calibrate(const struct st_gate_task *t, struct st_gate_result *out,
                            struct st_error *e);
/* Raises the limit of a benchmark to that of its calibration, unless the user has set the limit,
 * and adds a note. 0, or -1 with *e. */
st_status st_gate_calibration_apply(struct st_gate_task *t, struct st_gate_result *out,
                                    struct st_error *e);

/* Write the calibrations that were made. JSON NULL: no memory. */
void st_gate_calibrate_text(const struct st_gate_result *r, FILE *out);
json_t *st_gate_calibrate_json(const struct st_gate_options *o, const struct st_gate_result *r);

#endif
