/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: probe-coverage [-l] FILE...
 * How many functions of each file take a probe, by what way, and why others do not; and how many of
 * them can have their exits patched. -l lists what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/exits.h"

struct counts {
	unsigned functions, islands, loops, padded, refused[ST_REFUSALS];
	unsigned taken, exits, exit_islands, unknown[ST_EXIT_N_REFUSALS];
};

/* What is no function at all: parts of others, labels, stubs of the linker. */
static bool
is_function(const struct st_function *f, const struct st_probe_site *site)
{
	return f->source != ST_SYM_PLT && f->whole == f->offset &&
	       site->refusal != ST_REFUSAL_NO_ENTRY;
}

static void
count_site(struct counts *c, const struct st_function *f, const struct st_probe_site *site,
           bool list)
{
	c->refused[site->refusal]++;
	if (list && site->refusal == ST_REFUSAL_NO_ENTRY)
		printf("  no entry %#llx %s\n", (unsigned long long)site->at, f->name);
	if (!is_function(f, site))
		return;
	c->functions++;
	c->loops += !site->refusal && site->loops;
	c->islands += !site->refusal && site->way == ST_PROBE_ISLAND;
	c->padded += !site->refusal && site->displaced < site->patched;
	if (list && site->refusal)
		printf("  %#llx %s: %s\n", (unsigned long long)site->at, f->name,
		       st_probe_refusal_text(site));
}

static void
print_counts(const char *path, const struct counts *c, double seconds)
{
	static const char *const names[] = {
#define X(name, text) #name,
	        ST_PROBE_REFUSALS(X)
#undef X
	};
	unsigned no = 0;
	for (int i = ST_REFUSAL_SHORT; i <= ST_REFUSAL_UNDECODABLE; i++)
		no += c->refused[i];
	printf("%s: %u functions, %.3f %% take a probe, %u by an island, %u with padding, %u with "
	       "a jump "
	       "back to the entry; %.2f s\n ",
	       path, c->functions, 100.0 * (c->functions - no) / (c->functions ? c->functions : 1),
	       c->islands, c->padded, c->loops, seconds);
	for (int i = 1; i < ST_REFUSALS; i++)
		if (c->refused[i])
			printf(" %s %u", names[i], c->refused[i]);
	printf("\n");
}

static void
count_exits(struct counts *c, struct st_probe_planner *planner, const struct st_function *f,
            struct st_probe_site *site, bool list)
{
	struct st_probe_exits exits;
	if (site->refusal || !is_function(f, site))
		return;
	st_probe_find_exits(planner, f, site, &exits);
	c->taken++;
	c->unknown[exits.refusal]++;
	if (list && exits.refusal)
		printf("  %#llx %s: %s\n", (unsigned long long)site->at, f->name,
		       st_probe_exits_text(&exits));
	for (size_t i = 0; i < exits.list.n; i++) {
		c->exits++;
		c->exit_islands += exits.list.v[i].way == ST_PROBE_ISLAND;
	}
	free(exits.list.v);
}

static void
print_exits(const struct counts *c, double seconds)
{
	static const char *const names[] = {
#define X(name, text) #name,
	        ST_EXIT_REFUSALS(X)
#undef X
	};
	printf("  exits: of %u functions %.2f %% can be patched, %.2f a function, %.2f %% of them "
	       "by an "
	       "island; %.2f s\n ",
	       c->taken, 100.0 * c->unknown[0] / (c->taken ? c->taken : 1),
	       (double)c->exits / (c->unknown[0] ? c->unknown[0] : 1),
	       100.0 * c->exit_islands / (c->exits ? c->exits : 1), seconds);
	for (int i = 1; i < ST_EXIT_N_REFUSALS; i++)
		if (c->unknown[i])
			printf(" %s %u", names[i], c->unknown[i]);
	printf("\n");
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
measure(const char *path, bool list)
{
	struct st_error e;
	struct counts counts = {0};
	size_t n;
	struct st_image *image = st_image_open(path, &e);
	if (!image) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	const struct st_function *v = st_image_functions(image, &n);
	struct st_probe_site *sites = calloc(n + 1, sizeof *sites);
	double begin = now();
	struct st_probe_planner *planner = sites ? st_probe_planner_new(image) : NULL;
	for (size_t i = 0; planner && i < n; i++) {
		st_probe_judge(planner, &v[i], &sites[i]);
		count_site(&counts, &v[i], &sites[i], list);
	}
	print_counts(path, &counts, now() - begin);
	begin = now();
	for (size_t i = 0; planner && i < n; i++)
		count_exits(&counts, planner, &v[i], &sites[i], list);
	print_exits(&counts, now() - begin);
	free(sites);
	bool process;
	struct st_probe_role_of role = st_probe_image_role(image, &process);
	if (role.why)
		printf("  counted only%s: %s\n", process ? ", and all of its process" : "",
		       role.why);
	st_probe_planner_free(planner);
	st_image_close(image);
	return 0;
}

int
main(int argc, char **argv)
{
	int bad = 0, first = argc > 1 && !strcmp(argv[1], "-l") ? 2 : 1;
	for (int i = first; i < argc; i++)
		bad |= measure(argv[i], first == 2);
	return bad;
}
