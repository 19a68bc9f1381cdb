/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With --unique: what has been measured of the files that code comes from, and where basic blocks
 * may begin in them. Two sections of bits, the lowest of a byte first, one bit for each byte of
 * those files; st_map.coverage says where a mapping's bits begin.
 *
 * `coverage`: an instruction that begins at the byte has been measured, in this run or in one
 * before; set by the runtime and, from the log, by the controller. `leaders`: a basic block may
 * begin there; set by the controller.
 */
#ifndef STROBE_WIRE_RESULTS_COVERAGE_H
#define STROBE_WIRE_RESULTS_COVERAGE_H

/* Of each of the two sections, which lie one after the other. */
enum { ST_COVERAGE_BYTES = 256 << 20 };

#endif
