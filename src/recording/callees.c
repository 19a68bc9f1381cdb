/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/callees.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const metric_names[] = {
#define M(id, name, unit, what) name,
        ST_RECORD_METRICS(M)
#undef M
};

/* The function with this action, as the process has it; NULL: there is none. */
static const struct st_recorded *
callee_of_action(const struct st_recording_targets *t, uint32_t action)
{
	if (action >= t->probes->functions.n)
		return NULL;
	const struct st_probed_function *f = &t->probes->functions.v[action];
	for (size_t i = 0; i < t->list.n; i++)
		if (t->list.v[i].image == f->image && t->list.v[i].entry == f->offset)
			return &t->list.v[i];
	return NULL;
}

static bool
is_name_taken(const struct st_callee_columns *c, const struct st_recorded *f, const char *name)
{
	for (size_t i = 0; i < f->table.features.n; i++)
		if (!strcmp(f->table.features.v[i].name, name))
			return true;
	for (size_t i = 0; i < c->list.n; i++)
		if (!strcmp(c->list.v[i].name, name))
			return true;
	return false;
}

/* Returns "calls_of_CALLEE" or "METRIC_in_CALLEE" as an identifier: the parameters of the callee
 * are left out, and other characters become "_". Overloads get numbers. NULL: no memory. */
static char *
callee_column_name(const struct st_callee_columns *c, const struct st_recorded *f,
                   const char *prefix, const char *callee)
{
	const char *const shown = *callee ? callee : "others";
	for (unsigned number = 1;; number++) {
		char *name = NULL, suffix[16] = "";
		if (number > 1)
			snprintf(suffix, sizeof suffix, "_%u", number);
		if (asprintf(&name, "%s%.*s%s", prefix, (int)strcspn(shown, "("), shown, suffix) <
		    0)
			return NULL;
		for (char *at = name; *at; at++)
			if (!isalnum((unsigned char)*at))
				*at = '_';
		if (!is_name_taken(c, f, name))
			return name;
		free(name);
	}
}

static st_status
add_column(struct st_callee_columns *c, const struct st_recorded *f, const char *callee,
           const char *prefix, struct st_callee_column column)
{
	column.callee = callee;
	column.name = callee_column_name(c, f, prefix, callee);
	struct st_callee_column *to = column.name ? ST_PUSH(&c->list) : NULL;
	if (!to) {
		free(column.name);
		return ST_FAILED;
	}
	*to = column;
	return ST_OK;
}

static st_status
add_columns_of(struct st_callee_columns *c, const struct st_recording_targets *t,
               const struct st_recorded *f, const char *callee, uint32_t at)
{
	char prefix[64];
	struct st_callee_column column = {.calls = true, .at = at};
	st_status status = add_column(c, f, callee, "calls_of_", column);
	column.calls = false;
	for (unsigned m = 0; m < ST_RECORD_METRIC_COUNT && !status; m++) {
		if (!(t->request->metrics & ST_RECORD_OF_CALLEES & 1u << m))
			continue;
		snprintf(prefix, sizeof prefix, "%s_in_", metric_names[m]);
		column.metric = m;
		column.at++;
		status = add_column(c, f, callee, prefix, column);
	}
	return status;
}

st_status
st_callee_columns_find(const struct st_recording_targets *t, const struct st_recorded *f,
                       struct st_callee_columns *out)
{
	const struct st_record_function *r = st_recorded_function(t->probes, f);
	const uint32_t words = st_recorded_callee_words(t->request),
	               at = (uint32_t)(sizeof(struct st_record_row) / 8) +
	                    st_recorded_values(&f->table, f->table.ops.n);
	*out = (struct st_callee_columns){0};
	if (!words || !r)
		return ST_OK;
	for (uint32_t i = 0; i < ST_RECORD_MOST_NAMED && r->callees[i]; i++) {
		const struct st_recorded *callee = callee_of_action(t, r->callees[i] - 1);
		if (callee && add_columns_of(out, t, f, callee->table.name, at + i * words))
			return ST_FAILED;
	}
	/* Also if there are no others: the columns say that callees were recorded. */
	return add_columns_of(out, t, f, "", at + ST_RECORD_MOST_NAMED * words);
}

void
st_callee_columns_free(struct st_callee_columns *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		free(c->list.v[i].name);
	free(c->list.v);
	*c = (struct st_callee_columns){0};
}
