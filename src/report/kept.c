/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/kept.h"

#include <math.h>
#include <time.h>

#include "base/number.h"
#include "check/kept.h"
#include "report/json.h"

st_status
st_kept_show(const struct st_profile *p, size_t answer, const char *file, struct st_kept_shown *out)
{
	const struct st_kept_answer *a = &p->kept.answers.v[answer];
	const enum st_way way = st_kept_way(a);
	if (way == ST_WAY_COUNT || st_kept_choice(&p->kept, answer, &out->choice))
		return ST_FAILED;
	out->subject = (struct st_model_subject){
	        .file = file,
	        .function = a->uid,
	        .x = a->x,
	        .y = a->metric,
	        .unit = a->unit,
	        .left_out = a->rows_left_out > 0 ? (size_t)a->rows_left_out : 0};
	const bool parts = a->segment >= 0 && a->segments > 1 && a->segment < a->segments;
	out->report = (struct st_model_report){.subject = &out->subject,
	                                       .choice = &out->choice,
	                                       .kept = a,
	                                       .way = way,
	                                       .segment = parts ? (size_t)a->segment : 0,
	                                       .n_segments = parts ? (size_t)a->segments : 1};
	return ST_OK;
}

/* Returns false if the time is not known. */
static bool
kept_time(int64_t time_ns, const char *format, char *text, size_t size)
{
	const time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;
	return time_ns > 0 && gmtime_r(&seconds, &tm) && strftime(text, size, format, &tm);
}

void
st_kept_print_source(const struct st_kept_answer *a, FILE *out)
{
	char text[64];
	fprintf(out, "by %s", a->source);
	if (kept_time(a->time_ns, "%Y-%m-%d at %H:%M", text, sizeof text))
		fprintf(out, " on %s UTC", text);
}

static json_t *
kept_text_json(const char *text)
{
	return text ? st_json_text(text) : json_null();
}

json_t *
st_kept_source_json(const struct st_kept_answer *a)
{
	char text[64];
	const bool timed = kept_time(a->time_ns, "%Y-%m-%dT%H:%M:%SZ", text, sizeof text);
	return json_pack("{so, so, so, so, sI, sI}", "source", kept_text_json(a->source), "time",
	                 timed ? json_string(text) : json_null(), "kinds", kept_text_json(a->kinds),
	                 "noise", kept_text_json(a->noise), "parts", (json_int_t)a->parts, "seed",
	                 (json_int_t)a->seed);
}

static void
kept_line(const struct st_report *r, size_t answer, FILE *out)
{
	const struct st_kept_answer *a = &r->profile->kept.answers.v[answer];
	struct st_kept_shown shown;
	fprintf(out, "  %s, %s by %s: ", a->uid, a->metric, a->x);
	if (st_kept_show(r->profile, answer, "", &shown))
		fputs("this version cannot read the models", out);
	else
		st_model_answer(&shown.report, out);
	putc('\n', out);
}

void
st_report_kept(const struct st_report *r, FILE *out)
{
	const size_t n = r->profile->kept.answers.n, shown = r->top && r->top < n ? r->top : n;
	if (!n)
		return;
	fputs("\nmodels that the profile keeps (strobe model --kept prints all of them)\n", out);
	for (size_t i = 0; i < shown; i++)
		kept_line(r, i, out);
	if (shown < n)
		fprintf(out, "  ... and %s more (--top)\n", ST_NUMBER(n - shown));
}

st_status
st_json_add_kept(json_t *root, const struct st_profile *p)
{
	if (!p->kept.answers.n)
		return ST_OK;
	json_t *array = json_array();
	int bad = json_object_set_new(root, "models", array);
	for (size_t i = 0; i < p->kept.answers.n && !bad; i++) {
		struct st_kept_shown shown;
		if (!st_kept_show(p, i, "", &shown))
			bad |= json_array_append_new(array, st_model_json(&shown.report));
	}
	return bad ? ST_FAILED : ST_OK;
}
