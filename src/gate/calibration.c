/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/calibration.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "collect/collect.h"
#include "job/projectfile.h"
#include "profile/output.h"
#include "report/json.h"
#include "store/traits.h"
#include "store/vcs.h"

static st_status
calibration_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the calibrations");
}

void
st_gate_calibration_free(struct st_gate_calibration *c)
{
	free(c->machine);
	free(c->benchmark);
	free(c->metric);
	free(c->duet);
	free(c->date);
	free(c->estimates.v);
	*c = (struct st_gate_calibration){0};
}

void
st_gate_calibrations_free(struct st_gate_calibrations *c)
{
	for (size_t i = 0; i < c->v.n; i++)
		st_gate_calibration_free(&c->v.v[i]);
	free(c->v.v);
	free(c->path);
	free(c->machine);
	*c = (struct st_gate_calibrations){0};
}

double
st_gate_calibration_exceeded(size_t n)
{
	return 1 / ((double)n + 1);
}

/* ---- reading ---- */

static st_status
calibration_take(struct st_gate_calibrations *all, json_t *item)
{
	const char *text[5];
	json_int_t gates, alarms, pairs;
	struct st_gate_calibration c = {0};
	if (json_unpack(item, "{ss, ss, ss, ss, ss, sI, sI, sI, sF, sF, sF}", "machine", &text[0],
	                "benchmark", &text[1], "metric", &text[2], "duet", &text[3], "date",
	                &text[4], "gates", &gates, "alarms", &alarms, "pairs", &pairs, "alarm",
	                &c.alarm, "limit", &c.limit, "largest", &c.largest) ||
	    gates < 1 || gates > ST_GATE_MOST_GATES || alarms < 0 || alarms > gates || pairs < 0 ||
	    !(c.largest >= 0))
		return ST_FAILED;
	c.gates = (size_t)gates;
	c.alarms = (size_t)alarms;
	c.pairs = (size_t)pairs;
	char **const slots[] = {&c.machine, &c.benchmark, &c.metric, &c.duet, &c.date};
	bool bad = false;
	for (int i = 0; i < 5; i++)
		bad |= !(*slots[i] = strdup(text[i]));
	struct st_gate_calibration *slot = bad ? NULL : ST_PUSH(&all->v);
	if (slot)
		*slot = c;
	else
		st_gate_calibration_free(&c);
	return slot ? ST_OK : ST_FAILED;
}

st_status
st_gate_calibrations_of_bytes(struct st_gate_calibrations *c, const char *path, const char *bytes,
                              size_t n, struct st_error *e)
{
	json_t *root = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL), *item;
	json_t *list = json_object_get(root, "calibrations");
	st_status status = json_is_array(list) ? ST_OK : ST_FAILED;
	size_t i;
	json_array_foreach(list, i, item)
	{
		if (!status)
			status = calibration_take(c, item);
	}
	json_decref(root);
	return status ? st_fail(e, ST_EXIT_FAILED,
	                        "%s has no calibrations that strobe can read: remove it, and make "
	                        "them again with strobe gate --calibrate",
	                        path)
	              : ST_OK;
}

/* The machine as the store knows it, without the environment, which is the same for both sides. */
static char *
calibration_machine(void)
{
	struct st_profile *p = st_profile_new();
	struct st_traits t = {0};
	char *machine = NULL;
	if (!p)
		return NULL;
	st_collect_machine(p);
	p->run.tool = "";
	p->run.environment.n = 0;
	if (!p->out_of_memory && !st_traits_of(&t, p, "")) {
		machine = t.machine;
		t.machine = NULL;
	}
	st_traits_free(&t);
	st_profile_free(p);
	return machine;
}

static st_status
calibrations_locate(struct st_gate_calibrations *c, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	/* A repository that git refuses is no reason to fail a gate: it has no calibrations. */
	if (st_vcs_git(&vcs, NULL))
		vcs = NULL;
	if (!vcs)
		return ST_OK;
	c->path = st_text_of("%s/" ST_GATE_CALIBRATIONS, vcs->data);
	vcs->kind->close(vcs);
	return c->path ? ST_OK : calibration_no_memory(e);
}

st_status
st_gate_calibrations_read(struct st_gate_calibrations *c, struct st_error *e)
{
	struct st_project_file f = {0};
	struct stat found;
	*c = (struct st_gate_calibrations){.machine = calibration_machine()};
	if (!c->machine)
		return calibration_no_memory(e);
	if (calibrations_locate(c, e))
		return ST_FAILED;
	if (!c->path || stat(c->path, &found))
		return ST_OK;
	st_status status = st_project_file_read(&f, c->path, NULL, e);
	if (!status)
		status = st_gate_calibrations_of_bytes(c, c->path, f.bytes, f.n, e);
	st_project_file_free(&f);
	return status;
}

/* ---- keeping ---- */

static bool
calibration_is_of(const struct st_gate_calibration *c, const char *benchmark, const char *metric,
                  const char *duet)
{
	return !strcmp(c->benchmark, benchmark) && !strcmp(c->metric, metric) &&
	       !strcmp(c->duet, duet);
}

char *
st_gate_calibration_differences(const struct st_gate_calibration *c, const char *machine)
{
	return st_traits_differences(c->machine, machine, ", here ");
}

static bool
calibration_is_on(const struct st_gate_calibration *c, const char *machine)
{
	char *differences = st_gate_calibration_differences(c, machine);
	const bool same = !differences;
	free(differences);
	return same;
}

const struct st_gate_calibration *
st_gate_calibration_find(const struct st_gate_calibrations *c, const char *benchmark,
                         const char *metric, const char *duet,
                         const struct st_gate_calibration **other)
{
	*other = NULL;
	for (size_t i = 0; i < c->v.n; i++) {
		const struct st_gate_calibration *one = &c->v.v[i];
		if (!calibration_is_of(one, benchmark, metric, duet))
			continue;
		if (calibration_is_on(one, c->machine))
			return one;
		*other = one;
	}
	return NULL;
}

static json_t *
calibration_json(const struct st_gate_calibration *c)
{
	return json_pack("{so, so, so, so, so, sI, sI, sI, sf, sf, sf}", "machine",
	                 st_json_text(c->machine), "benchmark", st_json_text(c->benchmark),
	                 "metric", st_json_text(c->metric), "duet", st_json_text(c->duet), "date",
	                 st_json_text(c->date), "gates", (json_int_t)c->gates, "alarms",
	                 (json_int_t)c->alarms, "pairs", (json_int_t)c->pairs, "alarm", c->alarm,
	                 "limit", c->limit, "largest", c->largest);
}

static st_status
calibrations_write(const struct st_gate_calibrations *c, struct st_error *e)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->v.n; i++)
		json_array_append_new(list, calibration_json(&c->v.v[i]));
	json_t *root = json_pack("{s{sisi}, so}", "strobe", "version", ST_JSON_VERSION,
	                         "calibrations", 1, "calibrations", list);
	char *text = st_json_document(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17),
	                              "the calibrations", e);
	st_status status = text ? st_output_text(c->path, text, e) : ST_FAILED;
	free(text);
	return status;
}

static st_status
calibrations_make_folder(const char *path, struct st_error *e)
{
	char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
	st_status status = ST_OK;
	if (!folder)
		return calibration_no_memory(e);
	if (mkdir(folder, 0777) && errno != EEXIST)
		status = st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
		                 strerror(errno));
	free(folder);
	return status;
}

/* Whether one of those from `from` on replaces the calibration. */
static bool
calibrations_replace(const struct st_gate_calibrations *c, const struct st_gate_calibration *one,
                     size_t from)
{
	for (size_t i = from; i < c->v.n; i++) {
		const struct st_gate_calibration *made = &c->v.v[i];
		if (calibration_is_of(one, made->benchmark, made->metric, made->duet) &&
		    calibration_is_on(one, made->machine))
			return true;
	}
	return false;
}

st_status
st_gate_calibrations_keep(struct st_gate_calibrations *c, size_t made, struct st_error *e)
{
	const size_t from = c->v.n - made;
	size_t kept = 0;
	for (size_t i = 0; i < c->v.n; i++) {
		struct st_gate_calibration one = c->v.v[i];
		if (i < from && calibrations_replace(c, &one, from))
			st_gate_calibration_free(&one);
		else
			c->v.v[kept++] = one;
	}
	c->v.n = kept;
	return calibrations_make_folder(c->path, e) ? ST_FAILED : calibrations_write(c, e);
}
