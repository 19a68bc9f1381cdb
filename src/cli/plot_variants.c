/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plot_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/store.h"

/* Parts of a variant, which ends each with a new line. */
enum { VARIANT_LABELS, VARIANT_COMMAND, VARIANT_COLLECTOR, VARIANT_PARAMETERS, VARIANT_PARTS };

/* The first size that the profile's values have; NAN: none has one. */
static double
variant_size(const struct st_profile *p)
{
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		const double *sizes = st_series_feature(s, ST_FEATURE_SIZE);
		if (sizes && s->n && isfinite(sizes[0]))
			return sizes[0];
	}
	return NAN;
}

/* The number of the word in which two commands of different sizes differ; 0: they are equal, or
 * differ in the program or in several words. */
static size_t
variant_workload_word(const struct st_profile *a, const struct st_profile *b)
{
	const double x = variant_size(a), y = variant_size(b);
	size_t word = 0;
	if (a->run.command.n != b->run.command.n || isnan(x) || isnan(y) || (x <= y && x >= y))
		return 0;
	for (size_t i = 0; i < a->run.command.n; i++) {
		if (!strcmp(a->run.command.v[i], b->run.command.v[i]))
			continue;
		if (word || !i)
			return 0;
		word = i;
	}
	return word;
}

static void
variant_put_command(const struct st_profile *const *profiles, size_t n, size_t i, FILE *out)
{
	const struct st_profile *p = profiles[i];
	for (size_t k = 0; k < p->run.command.n; k++) {
		bool workload = false;
		for (size_t other = 0; other < n && k && !workload; other++)
			workload = variant_workload_word(p, profiles[other]) == k;
		fprintf(out, "%s%s", k ? " " : "",
		        workload ? "*"
		        : k      ? p->run.command.v[k]
		                 : st_base_name(p->run.command.v[k]));
	}
}

static void
variant_put_collector(const struct st_profile_run *r, FILE *out)
{
	for (size_t i = 0; i < r->tools.n; i++)
		fprintf(out, "%s%s", i ? "," : "", r->tools.v[i]);
	if (!r->tools.n)
		fputs(r->tool, out);
	putc('\n', out);
	for (size_t i = 0; i < r->tool_options.n; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", r->tool_options.v[i].name,
		        r->tool_options.v[i].value);
}

/* The parts of a variant that all series of the i-th profile have: all except the labels. */
static char *
variant_of_profile(const struct st_profile *const *profiles, size_t n, size_t i)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	variant_put_command(profiles, n, i, out);
	putc('\n', out);
	variant_put_collector(&profiles[i]->run, out);
	putc('\n', out);
	return st_text_end(&built);
}

/* The label "workload" is no part: a line has the workloads of all sizes. */
static char *
variant_of(const struct st_series *s, const char *of_profile)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	const char *between = "";
	if (!out)
		return NULL;
	for (size_t k = 0; k < s->key.n_labels; k++) {
		if (!strcmp(s->key.labels[k].name, "workload"))
			continue;
		fprintf(out, "%s%s %s", between, s->key.labels[k].name, s->key.labels[k].value);
		between = ", ";
	}
	fprintf(out, "\n%s", of_profile);
	return st_text_end(&built);
}

st_status
st_plot_set_variants(struct st_model_entries *entries, size_t first,
                     const struct st_profile *const *profiles, size_t n, size_t i)
{
	char *of_profile = variant_of_profile(profiles, n, i);
	bool bad = !of_profile;
	for (size_t k = first; k < entries->list.n && !bad; k++) {
		struct st_model_entry *entry = &entries->list.v[k];
		entry->variant = variant_of(entry->series, of_profile);
		bad = !entry->variant;
	}
	free(of_profile);
	return bad ? ST_FAILED : ST_OK;
}

/* The part of a variant, and its length. */
static const char *
variant_part(const struct st_model_entry *g, int part, size_t *length)
{
	const char *at = g->variant;
	for (int i = 0; i < part; i++)
		at = strchr(at, '\n') + 1;
	*length = strcspn(at, "\n");
	return at;
}

static bool
variants_differ(const struct st_model_entry *const *groups, size_t n, int part)
{
	size_t first, other;
	const char *a = variant_part(groups[0], part, &first);
	for (size_t i = 1; i < n; i++) {
		const char *b = variant_part(groups[i], part, &other);
		if (first != other || memcmp(a, b, first) != 0)
			return true;
	}
	return false;
}

char *
st_plot_variant_name(const struct st_model_entry *const *groups, size_t n, size_t i)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	bool locations = false, any = false;
	if (!out)
		return NULL;
	for (size_t k = 1; k < n; k++)
		locations |= strcmp(groups[0]->uid, groups[k]->uid) != 0;
	for (int part = 0; part < VARIANT_PARTS; part++)
		any |= variants_differ(groups, n, part);
	const char *between = "";
	if (locations || !any) {
		fputs(groups[i]->uid, out);
		between = ", ";
	}
	for (int part = 0; part < VARIANT_PARTS; part++) {
		size_t length;
		const char *text = variant_part(groups[i], part, &length);
		if (!length || !variants_differ(groups, n, part))
			continue;
		fprintf(out, "%s%.*s", between, (int)length, text);
		between = ", ";
	}
	return st_text_end(&built);
}

st_status
st_plot_names_of(struct st_plot_names *names, const char *rev, struct st_error *e)
{
	struct st_store s;
	struct st_version v = {0};
	struct st_stored_list l = {0};
	if (st_store_open(&s, e))
		return ST_FAILED;
	st_status status = st_store_version(&s, rev, &v, e);
	if (!status)
		status = st_store_of_version(&s, &v, &l, e);
	if (!status && !l.v.n)
		status =
		        st_fail(e, ST_EXIT_FAILED,
		                "no profile is stored of %s; strobe log -p lists the versions that "
		                "have profiles",
		                rev);
	for (size_t i = 0; i < l.v.n && !status; i++) {
		char hex[ST_HASH_HEX + 1], **slot = ST_PUSH(&names->v);
		if (slot)
			*slot = strdup(st_hash_hex(&l.v.v[i].hash, hex));
		if (!slot || !*slot)
			status = st_store_no_memory(e);
	}
	st_stored_list_free(&l);
	st_version_free(&v);
	st_store_close(&s);
	return status;
}

void
st_plot_names_free(struct st_plot_names *names)
{
	for (size_t i = 0; i < names->v.n; i++)
		free(names->v.v[i]);
	free(names->v.v);
	*names = (struct st_plot_names){0};
}
