/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives threads of different runs the same number if they were created in the same way. */
#include <stdlib.h>
#include <string.h>

#include "blow/origins.h"

enum { MOST_DEPTH = 64 }; /* of threads that create each other; a damaged line may have a cycle */

static bool
is_same_origin_place(const struct st_blow_place *a, const struct st_blow_place *b)
{
	return a->offset == b->offset && !strcmp(a->image, b->image);
}

static bool
is_same_origin(const struct st_blow_origin *a, const struct st_blow_origin *b)
{
	return a->creator == b->creator && a->nth == b->nth &&
	       is_same_origin_place(&a->start, &b->start) &&
	       is_same_origin_place(&a->call, &b->call);
}

/* The number of the thread of the campaign with that origin, which is taken over if it is new.
 * ST_BLOW_NONE: memory is exhausted. */
static uint32_t
number_of_origin(struct st_blow *b, const struct st_blow_origin *o)
{
	for (size_t i = 0; i < b->threads.n; i++)
		if (is_same_origin(&b->threads.v[i], o))
			return b->threads.v[i].thread;
	struct st_blow_origin new = *o;
	new.thread = (uint32_t)b->threads.n + 1; /* 0: the first thread, which has no origin */
	new.start.image = strdup(o->start.image);
	new.start.function = strdup(o->start.function);
	new.call.image = strdup(o->call.image);
	new.call.function = strdup(o->call.function);
	struct st_blow_origin *slot = st_blow_origin_check(&new) ? NULL : ST_PUSH(&b->threads);
	if (slot)
		*slot = new;
	else
		st_blow_origin_clear(&new);
	return slot ? new.thread : ST_BLOW_NONE;
}

static size_t
place_of_thread(const struct st_blow_run *run, uint32_t thread)
{
	size_t i = 0;
	while (i < run->origins.n && run->origins.v[i].thread != thread)
		i++;
	return i;
}

/* Finds the number of a thread, after that of the thread that has created it. numbers: those that
 * were found, ST_BLOW_NONE: not yet. A thread of which nothing is known is counted by *unknown. */
static st_status
find_number(struct st_blow *b, const struct st_blow_run *run, size_t at, uint32_t *numbers,
            uint32_t *unknown, int depth)
{
	struct st_blow_origin o = run->origins.v[at];
	if (numbers[at] != ST_BLOW_NONE)
		return ST_OK;
	if (o.creator == ST_BLOW_NONE || depth == MOST_DEPTH) {
		o.creator = ST_BLOW_NONE;
		o.nth = (*unknown)++;
	} else if (o.creator) {
		const size_t creator = place_of_thread(run, o.creator);
		if (creator == run->origins.n)
			o.creator = ST_BLOW_NONE;
		else if (find_number(b, run, creator, numbers, unknown, depth + 1))
			return ST_FAILED;
		else
			o.creator = numbers[creator];
	}
	/* In a cycle, a thread may have been found meanwhile. */
	if (numbers[at] == ST_BLOW_NONE)
		numbers[at] = number_of_origin(b, &o);
	return numbers[at] == ST_BLOW_NONE ? ST_FAILED : ST_OK;
}

static void
renumber_thread(const struct st_blow_run *run, const uint32_t *numbers, uint32_t *thread)
{
	const size_t at = *thread ? place_of_thread(run, *thread) : run->origins.n;
	if (at < run->origins.n)
		*thread = numbers[at];
}

st_status
st_blow_match_threads(struct st_blow *b, struct st_blow_run *run)
{
	const size_t n = run->origins.n;
	uint32_t *numbers = malloc((n + 1) * sizeof *numbers), unknown = 0;
	st_status status = numbers ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < n && !status; i++)
		numbers[i] = ST_BLOW_NONE;
	for (size_t i = 0; i < n && !status; i++)
		status = find_number(b, run, i, numbers, &unknown, 0);
	for (size_t i = 0; i < run->samples.n && !status; i++)
		renumber_thread(run, numbers, &run->samples.v[i].thread);
	for (size_t i = 0; i < run->spans.n && !status; i++)
		renumber_thread(run, numbers, &run->spans.v[i].thread);
	free(numbers);
	st_blow_origins_clear(run);
	st_blow_sort_samples(run);
	return status;
}

/* ---- names ---- */

static const struct st_blow_origin *
origin_of_thread(const struct st_blow *b, uint32_t thread)
{
	for (size_t i = 0; i < b->threads.n; i++)
		if (b->threads.v[i].thread == thread)
			return &b->threads.v[i];
	return NULL;
}

/* "worker", or "worker 2" for the second one of those that are created in the same way. */
static void
print_short_name(const struct st_blow *b, uint32_t thread, FILE *out)
{
	const struct st_blow_origin *o = origin_of_thread(b, thread);
	if (!thread)
		fputs("main", out);
	else if (!o || !*o->start.function)
		fprintf(out, "thread %u", thread);
	else if (o->nth)
		fprintf(out, "%s %u", o->start.function, o->nth + 1);
	else
		fputs(o->start.function, out);
}

void
st_blow_print_thread(const struct st_blow *b, uint32_t thread, FILE *out)
{
	const struct st_blow_origin *o = origin_of_thread(b, thread);
	print_short_name(b, thread, out);
	if (!thread || !o || o->creator == ST_BLOW_NONE)
		return;
	fputs(" (created by ", out);
	print_short_name(b, o->creator, out);
	if (*o->call.function)
		fprintf(out, " in %s", o->call.function);
	fputc(')', out);
}
