/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a campaign with their values, also those that were not given, for its result. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "blow/infer.h"
#include "blow/live.h"
#include "cli/blow.h"

struct settings {
	const struct st_blow_arguments *a;
	struct st_profile *p;
};

__attribute__((format(printf, 3, 4))) static void
setting_add(const struct settings *s, const char *name, const char *format, ...)
{
	va_list values;
	char *text = NULL;
	va_start(values, format);
	if (vasprintf(&text, format, values) < 0)
		text = NULL;
	va_end(values);
	if (text)
		st_profile_add_option(s->p, 0, name, text);
	else
		s->p->out_of_memory = true;
	free(text);
}

/* An option without a value. */
static void
setting_flag(const struct settings *s, const char *name, bool on)
{
	setting_add(s, name, "%s", on ? "yes" : "no");
}

static void
setting_text(const struct settings *s, const char *name, const char *value)
{
	setting_add(s, name, "%s", value ? value : "none");
}

static void
setting_number(const struct settings *s, const char *name, uint64_t n)
{
	setting_add(s, name, "%llu", (unsigned long long)n);
}

/* Seconds; 0: there is no such time. */
static void
setting_time(const struct settings *s, const char *name, double seconds)
{
	if (seconds > 0)
		setting_add(s, name, "%.9gs", seconds);
	else
		setting_text(s, name, NULL);
}

static void
setting_patterns(const struct settings *s, const char *name, const struct st_patterns *patterns)
{
	struct st_text text;
	if (!patterns->n || !st_text_begin(&text)) {
		setting_text(s, name, NULL);
		return;
	}
	for (size_t i = 0; i < patterns->n; i++)
		fprintf(text.out, "%s%s", i ? "," : "", patterns->text[i]);
	char *joined = st_text_end(&text);
	setting_text(s, name, joined);
	free(joined);
}

/* Texts with commas between them. */
struct setting_list {
	struct st_text text;
	bool any;
};

static void
list_add(struct setting_list *l, const char *text)
{
	if (l->text.out)
		fprintf(l->text.out, "%s%s", l->any ? "," : "", text);
	l->any = true;
}

static void
list_end(const struct settings *s, const char *name, struct setting_list *l)
{
	char *joined = l->text.out ? st_text_end(&l->text) : NULL;
	s->p->out_of_memory |= !joined;
	setting_text(s, name, joined && *joined ? joined : NULL);
	free(joined);
}

/* The progress points, and the locations with noise, as the user has named them. */
static void
settings_of_points(const struct settings *s)
{
	const struct st_blow_points *p = &s->a->points;
	const struct st_blow_locations *at = &s->a->locations;
	struct setting_list points = {0}, latencies = {0}, places = {0};
	st_text_begin(&points.text);
	st_text_begin(&latencies.text);
	st_text_begin(&places.text);
	if (p->automatic)
		list_add(&points, ST_BLOW_INFER);
	for (size_t i = 0; i < p->calls.n; i++)
		list_add(&points, p->calls.text[i]);
	for (size_t i = 0; i < p->sites.n; i++)
		list_add(&points, p->sites.v[i]);
	for (size_t i = 0; i < p->sources.n; i++)
		list_add(&points, p->sources.v[i].name);
	for (size_t i = 0; i < p->latencies.n; i++)
		list_add(&latencies, p->latencies.v[i].name);
	for (size_t i = 0; i < at->list.n; i++)
		list_add(&places, at->list.v[i].text);
	list_end(s, "progress", &points);
	list_end(s, "latency", &latencies);
	list_end(s, "at", &places);
	setting_text(s, "where", at->after ? "after" : "before");
}

static void
settings_of_corpus(const struct settings *s)
{
	const struct st_blow_criteria *c = &s->a->options.criteria;
	char list[128] = "";
	for (int i = 0; i < ST_BLOW_CRITERION_COUNT; i++) {
		const char *name = st_blow_criterion_name((enum st_blow_criterion)i);
		const size_t at = strlen(list);
		if (c->which >> i & 1 && !c->all)
			snprintf(list + at, sizeof list - at, "%s%s", at ? "," : "", name);
	}
	char by[64];
	st_blow_targets_text(s->a, by, sizeof by);
	setting_text(s, "by", by);
	setting_patterns(s, "funcs", &s->a->session.region.functions);
	setting_patterns(s, "exclude", &s->a->session.region.excluded);
	settings_of_points(s);
	setting_flag(s, "all", s->a->all);
	setting_text(s, "main", s->a->options.how.main);
	setting_text(s, "criteria", *list ? list : NULL);
	setting_number(s, "called-threshold", c->calls);
	setting_number(s, "call-sites-threshold", c->sites);
	setting_time(s, "min-func-time", (double)c->ns * 1e-9);
	setting_flag(s, "io-functions", c->which >> ST_BLOW_BY_CRITERION_IO & 1 && !c->all);
	setting_flag(s, "locks", c->which >> ST_BLOW_BY_CRITERION_LOCKS & 1 && !c->all);
	setting_text(s, "complexity", s->a->models_file);
	setting_add(s, "probe-overhead", "%.9g", c->probes * 100);
	setting_text(s, "corpus", s->a->corpus);
}

static void
settings_of_noise(const struct settings *s)
{
	const struct st_blow_choice *c = &s->a->options.noise;
	char list[128] = "";
	for (int i = 0; i < ST_BLOW_NOISE_COUNT; i++) {
		const char *name = st_blow_noise_name((enum st_blow_noise_type)i);
		const size_t at = strlen(list);
		if (c->types[i])
			snprintf(list + at, sizeof list - at, "%s%s", at ? "," : "", name);
	}
	setting_text(s, "noise", s->a->options.how.speedup ? "nanosleep" : list);
	setting_time(s, "timed-noise-min", (double)c->timed.least * 1e-6);
	setting_time(s, "timed-noise-max", (double)c->timed.most * 1e-6);
	setting_number(s, "yield-noise-min", c->yield.least);
	setting_number(s, "yield-noise-max", c->yield.most);
	setting_time(s, "busy-waiting-noise-min", (double)c->busy.least * 1e-6);
	setting_time(s, "busy-waiting-noise-max", (double)c->busy.most * 1e-6);
	setting_flag(s, "above-max", c->above);
	setting_add(s, "noise-growth-index", "%.9g", c->growth);
	setting_add(s, "sampling", "%.9g", c->sampling * 100);
	setting_number(s, "repeat", c->repeat);
	setting_add(s, "max-slowdown", "%.9g", s->a->options.most_slower);
	setting_flag(s, "full-analysis", s->a->options.full);
}

static void
settings_of_runs(const struct settings *s)
{
	static const char *const picks[] = {
#define P(id, name) name,
	        ST_BLOW_PICKS(P)
#undef P
	};
	const struct st_blow_options *o = &s->a->options;
	setting_text(s, "pick", picks[o->pick]);
	setting_number(s, "baseline-runs", o->quiet_runs);
	setting_number(s, "native-runs", o->plain_runs);
	setting_number(s, "clock-runs", o->clock_runs);
	if (o->most_runs)
		setting_number(s, "iterations", o->most_runs);
	else
		setting_text(s, "iterations", NULL);
	setting_time(s, "timeout", o->most_seconds);
	setting_time(s, "limit", o->how.limit);
	setting_time(s, "for", o->how.duration);
	setting_time(s, "window", s->a->live ? st_blow_live_seconds(s->a->live) : 0);
	setting_flag(s, "hide-pauses", o->how.hides_pauses);
	setting_number(s, "seed", o->seed);
	setting_text(s, "stdin", o->how.input);
}

void
st_blow_settings_put(const struct st_blow_arguments *a, struct st_profile *p)
{
	const struct settings s = {a, p};
	settings_of_corpus(&s);
	settings_of_noise(&s);
	settings_of_runs(&s);
}
