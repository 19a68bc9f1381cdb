/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop whose tasks do nothing but take time: many STROBE PLACE FOLDER TASKS LEASE PROGRAM
 *
 * Hands tasks 0, 1, .. to workers, each of which runs "PROGRAM NUMBER", and takes the results in
 * their order; the program exits with NUMBER % 100. When it was killed, the same command goes on.
 * Prints how long that took, and how long the runs took by themselves, in seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "batch/batch.h"
#include "timing/timing.h"

enum { EXITS = 100 };

static st_status
many_add(struct st_batch *b, const char *program, size_t task, struct st_error *e)
{
	char number[32];
	size_t got;
	char *const argv[] = {(char *)(uintptr_t)program, number, NULL};
	json_t *json = st_batch_task_new();
	snprintf(number, sizeof number, "%zu", task);
	if (!st_batch_task_run(json, &(struct st_batch_command){.argv = argv})) {
		json_decref(json);
		return st_fail(e, ST_EXIT_FAILED, "no memory left");
	}
	return st_batch_add(b, json, &got, e);
}

static st_status
many_take(struct st_batch *b, size_t task, double *seconds, struct st_error *e)
{
	struct st_batch_result r;
	if (st_batch_wait(b, task, &r, e))
		return ST_FAILED;
	st_status status = ST_OK;
	if (r.reason)
		status = st_fail(e, ST_EXIT_FAILED, "%s", r.reason);
	else if (r.n != 1 || r.runs[0].exit != (int)(task % EXITS))
		status = st_fail(e, ST_EXIT_FAILED, "task %zu has the result of another one", task);
	else
		*seconds += r.runs[0].wall * 1e-9;
	st_batch_result_free(&r);
	return status;
}

static st_status
many_run(struct st_batch *b, char *const *argv, struct st_error *e)
{
	const size_t tasks = strtoul(argv[4], NULL, 10);
	const double begin = st_now_raw();
	double seconds = 0;
	for (size_t i = 0; i < tasks; i++)
		if (many_add(b, argv[6], i, e))
			return ST_FAILED;
	for (size_t i = 0; i < tasks; i++)
		if (many_take(b, i, &seconds, e))
			return ST_FAILED;
	printf("{\"seconds\": %.6f, \"runs\": %.6f}\n", st_now_raw() - begin, seconds);
	return ST_OK;
}

int
main(int argc, char **argv)
{
	struct st_batch *b = NULL;
	struct st_error e;
	if (argc != 7)
		return 2;
	const struct st_batch_options options = {
	        .place = {.on = argv[2], .campaign = argv[3], .lease = strtod(argv[5], NULL)},
	        .strobe = argv[1],
	        .tool = "many",
	        .identity = argv[6],
	        .command = argv + 7};
	st_status status = st_batch_open(&b, &options, &e);
	if (!status)
		status = many_run(b, argv, &e);
	free(st_batch_close(b, !status));
	if (status)
		fprintf(stderr, "many: %s\n", e.text);
	return status ? 125 : 0;
}
