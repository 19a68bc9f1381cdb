/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of rules with random changes: each is accepted, or refused with a cause.
 * usage: test_fuzz ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mutate.h"
#include "base/random.h"
#include "gate/rules.h"

static const char seed_text[] =
        "alarm: 1%\nmiss: 5\npairs: 40\nfor: 5m\ncounts: 2\nlimits:\n  time: 2\n  function: 1\n"
        "  least: 0.2\n  instructions: none\n  bytes allocated: 3%\nexceptions:\n"
        "  - {function: 'parse_*', limit: 50, until: 2999-12-31, reason: new syntax}\n"
        "  - {quantity: time, limit: 4, until: 2000-01-01, reason: 'old, ''quoted'''}\n"
        "  - quantity: allocations\n    until: 2999-01-01\n    reason: plain\n";

static const char *const pieces[] = {"-", ": ", "{", "}", "[",  "]",    "'",  "~",   "none", "0",
                                     "%", "\n", " ", "#", "&a", "\xff", "!!", "1e9", ",",    "\""};

static bool
rules_try(const char *bytes, size_t n)
{
	struct st_gate_options o = {.rule = {.alarm = 0.01, .miss = 0.05, .limit = 0.02}};
	struct st_gate_rules r = {0};
	struct st_error e = {0};
	st_gate_limits_default(&o.limits);
	st_status status = st_gate_rules_of_bytes(&r, "mutant", bytes, n, "2026-01-01", &o, &e);
	if (status && (e.code != ST_EXIT_USAGE || !*e.text)) {
		fprintf(stderr, "refused without a cause: %s\n", e.text);
		exit(1);
	}
	if (!status && !(o.rule.limit > 0 && o.limits.function > 0 && o.limits.least > 0)) {
		fprintf(stderr, "taken without limits\n");
		exit(1);
	}
	st_gate_limits_free(&o.limits);
	st_gate_rules_free(&r);
	return !status;
}

int
main(int argc, char **argv)
{
	enum { ROOM = 1 << 12 };
	const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 1000;
	char m[ROOM];
	uint64_t state = 1;
	long taken = 0;
	if (!rules_try(seed_text, sizeof seed_text - 1)) {
		fprintf(stderr, "the file that all others are made of is refused\n");
		return 1;
	}
	for (long i = 0; i < rounds; i++) {
		size_t n = sizeof seed_text - 1;
		memcpy(m, seed_text, n);
		for (uint64_t changes = 1 + st_random_below(&state, 4); changes; changes--)
			n = mutate_text(m, n, ROOM, &state, pieces, sizeof pieces / sizeof *pieces);
		taken += rules_try(m, n);
	}
	printf("%ld of %ld were taken\n", taken, rounds);
	return taken && taken < rounds ? 0 : 1;
}
