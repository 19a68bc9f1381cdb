/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of rules that choose methods, with random changes: each is accepted, or refused with a
 * cause; rules that are accepted choose methods that exist.
 * usage: fuzz_rules ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mutate.h"
#include "base/random.h"
#include "cli/check_rules.h"
#include "profile/tables.h"

static const char seed_text[] =
        "apply: all\nrules:\n  - collector: 'tr*'\n    feature: size\n    methods: [integral, "
        "best-model-order]\n  - {command: sort, profiles: 4, methods: distribution}\n"
        "  - {metric: instructions, methods: [exclusive-time-outliers]}\n"
        "  - methods: [average-amount, distribution]\n";

static const char *const pieces[] = {"-", ": ", "{", "}", "[",  "]",    "'",  "~",   "all", "0",
                                     "*", "\n", " ", "#", "&a", "\xff", "!!", "1e9", ",",   "\""};

static void
fail_rules(const char *cause)
{
	fprintf(stderr, "%s\n", cause);
	exit(1);
}

/* An empty profile fits all rules without conditions on its values. */
static void
choose_by(const struct st_check_rules *r, struct st_profile *p)
{
	const struct st_check_profiles sides[] = {{&p, 1}, {&p, 1}};
	struct st_check_method_list l = {0};
	if (st_check_rules_choose(r, sides, &l))
		fail_rules("no memory to choose");
	for (size_t i = 0; i < l.n; i++) {
		if (l.v[i] >= ST_CHECK_METHOD_COUNT || !l.rules[i] || l.rules[i] > r->v.n)
			fail_rules("chosen by no rule");
		for (size_t k = 0; k < i; k++)
			if (l.v[k] == l.v[i])
				fail_rules("a method was chosen twice");
	}
}

static bool
try_rules(const char *bytes, size_t n, struct st_profile *p)
{
	struct st_check_rules r = {0};
	struct st_error e = {0};
	st_status status = st_check_rules_of_bytes(&r, "mutant", bytes, n, &e);
	if (status && (e.code != ST_EXIT_USAGE || !*e.text))
		fail_rules("refused without a cause");
	if (!status && !r.v.n)
		fail_rules("taken without rules");
	if (!status)
		choose_by(&r, p);
	st_check_rules_free(&r);
	return !status;
}

/* Whether the only rule, with a condition on the metric, fits a pair of the profile. */
static bool
fits_metric(struct st_profile *p, const char *text)
{
	const struct st_check_profiles sides[] = {{&p, 1}, {&p, 1}};
	struct st_check_method_list l = {0};
	struct st_check_rules r = {0};
	struct st_error e = {0};
	if (st_check_rules_of_bytes(&r, "metric", text, strlen(text), &e) ||
	    st_check_rules_choose(&r, sides, &l))
		fail_rules("a rule with a metric is refused");
	st_check_rules_free(&r);
	return l.n == 1;
}

/* The metric of functions is that of the collector which measured them. */
static void
test_metrics(struct st_profile *p)
{
	enum { COLUMNS = 9 };
	static const struct st_profile_column columns[COLUMNS] = {
	        ST_KEY("function", TEXT), ST_KEY("place", TEXT), ST_KEY("kind", TEXT),
	        ST_SUM("peak"),           ST_SUM("bytes"),       ST_SUM("calls"),
	        ST_SUM("live"),           ST_SUM("blocks"),      ST_SUM("short_lived")};
	static const char counted[] = "rules: [{metric: instructions, methods: integral}]",
	                  traced[] = "rules: [{metric: exclusive*, methods: integral}]",
	                  allocated[] = "rules: [{metric: bytes*, methods: integral}]";
	struct st_profile_value row[COLUMNS] = {0};
	for (int i = 0; i < 3; i++)
		row[i] = st_profile_value_text(p, "f");
	if (fits_metric(p, counted) || fits_metric(p, traced) || fits_metric(p, allocated))
		fail_rules("an empty profile fits a metric");
	st_profile_add_tool(p, "calltimes");
	if (!fits_metric(p, traced) || fits_metric(p, counted))
		fail_rules("the metric of strobe trace does not choose");
	struct st_profile_table *t =
	        st_profile_table_add(p, "mem", "sites", "memory", 3, COLUMNS, columns);
	if (!t || st_profile_table_add_row(t, row) || !fits_metric(p, allocated) ||
	    fits_metric(p, counted))
		fail_rules("the metric of strobe mem does not choose");
}

int
main(int argc, char **argv)
{
	enum { ROOM = 1 << 12 };
	const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 1000;
	struct st_profile *p = st_profile_new();
	char m[ROOM];
	uint64_t state = 1;
	long taken = 0;
	if (p)
		p->run.tool = p->run.cpu = p->run.machine = p->run.kernel = "";
	if (!p || !try_rules(seed_text, sizeof seed_text - 1, p))
		fail_rules("the file that all others are made of is refused");
	for (long i = 0; i < rounds; i++) {
		size_t n = sizeof seed_text - 1;
		memcpy(m, seed_text, n);
		for (uint64_t changes = 1 + st_random_below(&state, 4); changes; changes--)
			n = mutate_text(m, n, ROOM, &state, pieces, sizeof pieces / sizeof *pieces);
		taken += try_rules(m, n, p);
	}
	test_metrics(p);
	st_profile_free(p);
	printf("%ld of %ld were taken\n", taken, rounds);
	return taken && taken < rounds ? 0 : 1;
}
