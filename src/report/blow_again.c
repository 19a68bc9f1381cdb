/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of an experiment that was made again. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "report/blow.h"
#include "report/json.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

void
st_blow_again_print(const struct st_blow *b, const struct st_blow_again_runs *runs, FILE *out)
{
	const struct st_blow_run *before = &b->runs.v[runs->number];
	size_t faults = 0;
	fprintf(out, "experiment %zu again: ", runs->number);
	st_blow_print_noise(b, before, out);
	fprintf(out, "; it was: %s\n",
	        before->fault ? st_blow_fault_name(before->fault) : "no fault");
	for (size_t i = 0; i < runs->list.n; i++) {
		const struct st_blow_run *r = &runs->list.v[i];
		faults += r->fault != ST_BLOW_NO_FAULT;
		fprintf(out, "  run %zu: %s (exit code %d), %.3f ms\n", i + 1,
		        r->fault ? st_blow_fault_name(r->fault) : "no fault", r->exit,
		        (double)r->total_ns / 1e6);
		st_blow_note_print(r->note, true, out);
	}
	fprintf(out, "%s of %s had a fault\n", ST_NUMBER(faults),
	        ST_COUNT(runs->list.n, "run", "runs"));
}

json_t *
st_blow_again_json(const struct st_blow *b, const struct st_blow_again_runs *runs)
{
	const struct st_blow_run *before = &b->runs.v[runs->number];
	json_t *out = json_object(), *strobe = json_object(), *list = json_array();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string(ST_BLOW_TOOL));
	SET(out, "strobe", strobe);
	SET(out, "again", st_json_count(runs->number));
	SET(out, "fault",
	    before->fault ? json_string(st_blow_fault_name(before->fault)) : json_null());
	SET(out, "runs", list);
	for (size_t i = 0; i < runs->list.n; i++) {
		const struct st_blow_run *r = &runs->list.v[i];
		json_t *row = json_object();
		bad |= st_blow_experiment_json(b, r, row);
		SET(row, "total_ns", st_json_count(r->total_ns));
		SET(row, "exit", json_integer(r->exit));
		SET(row, "fault",
		    r->fault ? json_string(st_blow_fault_name(r->fault)) : json_null());
		bad |= st_blow_note_json(r->note, row);
		bad |= json_array_append_new(list, row);
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
