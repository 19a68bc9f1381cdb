/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A defect of tests/fuzz/seeded.md, built in so that the fuzzer can show that it finds it. */
#ifndef STROBE_BASE_SEEDED_H
#define STROBE_BASE_SEEDED_H

#ifndef ST_SEEDED_BUG
#define ST_SEEDED_BUG 0
#endif
#define SEEDED(n) (ST_SEEDED_BUG == (n))

#endif
