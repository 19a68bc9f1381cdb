/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of calibrations with random changes: each is accepted with calibrations that make sense, or
 * refused with a cause.
 * usage: fuzz_calibrations ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mutate.h"
#include "base/random.h"
#include "gate/calibration.h"

#define ENTRY(machine, metric, gates)                                                              \
	"{\"machine\": \"" machine "\", \"benchmark\": \"./old\", \"metric\": \"" metric           \
	"\", \"duet\": \"alternate\", \"date\": \"2026-11-26\", \"gates\": " gates                 \
	", \"alarms\": 1, \"pairs\": 300, \"alarm\": 0.01, \"limit\": 0.02, \"largest\": 0.034}"
static const char seed_text[] =
        "{\"strobe\": {\"version\": 1, \"calibrations\": 1}, \"calibrations\": [" ENTRY(
                "cpu=A\\ncores=2\\n", "cpu", "20") ", " ENTRY("cpu=B\\n", "wall", "7") "]}";

static const char *const pieces[] = {"-", "1e99", "{", "}",  "[",    "]", "null", "0",
                                     ",", ":",    "9", "\"", "\\u0", "x", "\xff", "true"};

static void
fail_calibrations(const char *cause)
{
	fprintf(stderr, "%s\n", cause);
	exit(1);
}

static bool
try_calibrations(const char *bytes, size_t n)
{
	struct st_gate_calibrations all = {.machine = strdup("cpu=A\ncores=2\n")};
	const struct st_gate_calibration *other;
	struct st_error e = {0};
	st_status status = st_gate_calibrations_of_bytes(&all, "mutant", bytes, n, &e);
	if (status && !*e.text)
		fail_calibrations("refused without a cause");
	for (size_t i = 0; i < all.v.n && !status; i++) {
		const struct st_gate_calibration *c = &all.v.v[i];
		if (!c->gates || c->alarms > c->gates || !(c->largest >= 0))
			fail_calibrations("taken with values that are impossible");
		st_gate_calibration_find(&all, c->benchmark, c->metric, c->duet, &other);
	}
	st_gate_calibrations_free(&all);
	return !status;
}

static void
test_find(void)
{
	struct st_gate_calibrations all = {.machine = strdup("cpu=A\ncores=2\n")};
	const struct st_gate_calibration *other, *found;
	struct st_error e;
	if (st_gate_calibrations_of_bytes(&all, "seed", seed_text, sizeof seed_text - 1, &e))
		fail_calibrations("the file that all others are made of is refused");
	found = st_gate_calibration_find(&all, "./old", "cpu", "alternate", &other);
	if (found != &all.v.v[0] || found->gates != 20 || other)
		fail_calibrations("the calibration of this machine is not found");
	if (st_gate_calibration_find(&all, "./old", "wall", "alternate", &other) ||
	    other != &all.v.v[1])
		fail_calibrations("the calibration of the other machine is not found");
	if (st_gate_calibration_find(&all, "./new", "cpu", "alternate", &other) || other)
		fail_calibrations("a calibration of another benchmark is found");
	st_gate_calibrations_free(&all);
}

int
main(int argc, char **argv)
{
	enum { ROOM = 1 << 12 };
	const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 1000;
	char m[ROOM];
	uint64_t state = 1;
	long taken = 0;
	test_find();
	for (long i = 0; i < rounds; i++) {
		size_t n = sizeof seed_text - 1;
		memcpy(m, seed_text, n);
		for (uint64_t changes = 1 + st_random_below(&state, 4); changes; changes--)
			n = mutate_text(m, n, ROOM, &state, pieces, sizeof pieces / sizeof *pieces);
		taken += try_calibrations(m, n);
	}
	printf("%ld of %ld were taken\n", taken, rounds);
	return taken && taken < rounds ? 0 : 1;
}
