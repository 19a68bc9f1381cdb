/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: probe-points OUTPUT IMAGE PATTERN PROGRAM [ARGUMENT...]
 * Puts a probe at each point within the functions of the images whose path ends with IMAGE, and
 * writes to OUTPUT, for each: its address, kind, number of visits (-1: it was refused), function,
 * and why it was refused.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "probe/probes.h"

struct counting {
	struct st_probes probes;
	const char *image, *pattern;
	ST_VEC(struct st_probe_point) points; /* by the numbers of those that were wanted */
	FILE *out;
};

static struct st_probe_action
choose_nothing(void *arg, const struct st_probed_image *image, const struct st_function *f)
{
	(void)arg;
	(void)image;
	(void)f;
	return (struct st_probe_action){ST_PROBE_NOTHING, 0};
}

static bool
ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && !strcmp(text + n - m, end);
}

/* One point for each address: where a block begins behind a call there are two. */
static st_status
want_points(struct counting *c, const struct st_probed_image *image, const struct st_function *f,
            struct st_wanted_points *to)
{
	struct st_probe_point_list points = {0};
	const uint8_t refusal = st_probe_list_points(image->planner, f, &points);
	if (refusal) {
		const struct st_probe_site site = {.refusal = refusal};
		fprintf(c->out, "%" PRIx64 " function -1 %s %s\n", f->offset, f->raw_name,
		        st_probe_refusal_text(&site));
	}
	for (size_t i = 0; i < points.list.n; i++) {
		if (i && points.list.v[i].at == points.list.v[i - 1].at)
			continue;
		struct st_wanted_point *w = ST_PUSH(&to->list);
		struct st_probe_point *p = ST_PUSH(&c->points);
		if (!w || !p)
			return ST_FAILED;
		*p = points.list.v[i];
		*w = (struct st_wanted_point){p->at, {ST_PROBE_POINT, 0}};
	}
	free(points.list.v);
	return ST_OK;
}

static st_status
points(void *arg, const struct st_probed_image *image, struct st_wanted_points *to)
{
	struct counting *c = arg;
	size_t n;
	const struct st_function *f = st_image_functions(image->image, &n);
	if (!ends_with(image->path, c->image))
		return ST_OK;
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(c->pattern, f[i].raw_name, 0) && want_points(c, image, &f[i], to))
			return ST_FAILED;
	return ST_OK;
}

static const char *
kind_of(const struct counting *c, uint64_t at)
{
	static const char *const names[] = {"block", "before", "after"};
	for (size_t i = 0; i < c->points.n; i++)
		if (c->points.v[i].at == at)
			return names[c->points.v[i].kind];
	return "?";
}

static uint64_t
visits_of(const struct st_probes *p, uint32_t point)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p->process.area->n_records; i++) {
		const struct st_probe_cell *c = st_probes_cell(p, i, point);
		sum += c ? c->calls : 0;
	}
	return sum;
}

static void
print_all(const struct counting *c)
{
	const struct st_probes *p = &c->probes;
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct st_probed_function *f = &p->functions.v[i];
		if (f->is_point)
			fprintf(c->out, "%" PRIx64 " %s %" PRIu64 " %s\n", f->offset,
			        kind_of(c, f->offset), visits_of(p, i), f->name);
	}
	for (size_t i = 0; i < p->refused.n; i++)
		if (p->refused.v[i].is_point)
			fprintf(c->out, "%" PRIx64 " %s -1 %s %s\n", p->refused.v[i].offset,
			        kind_of(c, p->refused.v[i].offset), p->refused.v[i].name,
			        p->refused.v[i].refused);
	fprintf(c->out, "strays %" PRIu64 " lost %" PRIu64 "\n", p->process.area->strays,
	        p->process.area->no_room);
}

int
main(int argc, char **argv)
{
	struct st_error e;
	struct counting c = {0};
	if (argc < 5)
		return 2;
	c.out = fopen(argv[1], "we");
	c.image = argv[2];
	c.pattern = argv[3];
	c.probes = (struct st_probes){.choose = choose_nothing, .points = points, .arg = &c};
	if (!c.out)
		return 2;
	if (st_probes_start(&c.probes, argv + 4, false, &e) || st_probes_wait(&c.probes, 0, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	print_all(&c);
	fclose(c.out);
	const int status = c.probes.process.status;
	st_probes_free(&c.probes);
	free(c.points.v);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
