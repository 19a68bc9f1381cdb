/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/by_models.h"

#include <math.h>

bool
st_finding_set_new_or_gone(struct st_finding *f)
{
	const struct st_check_subject *s = f->subject;
	if (s->item[ST_A] && s->item[ST_B])
		return false;
	f->kind = s->item[ST_B] ? ST_FINDING_NOT_IN_BASELINE : ST_FINDING_NOT_IN_TARGET;
	f->rate.at = f->to - f->from;
	return true;
}

enum st_finding_kind
st_finding_by_size(double relative, double maybe, double full)
{
	const double size = fabs(relative);
	const enum st_finding_kind kind = size <= maybe  ? ST_FINDING_NO_CHANGE
	                                  : size <= full ? ST_FINDING_MAYBE_DEGRADATION
	                                                 : ST_FINDING_DEGRADATION;
	return relative < 0 ? st_finding_mirror(kind) : kind;
}

/* Returns the number of kept models that the comparison has used. Windows, and models without a
 * formula, are made from the points alone. */
static size_t
count_kept_models(const struct st_check_models *m, enum st_check_method method,
                  const struct st_check_how *how)
{
	if (method == ST_CHECK_local || (method == ST_CHECK_integral && how->smooth))
		return 0;
	return (size_t)m->kept[ST_A] + m->kept[ST_B];
}

st_status
st_check_each_model(struct st_check_result *out, enum st_check_method method,
                    const struct st_check_how *how, st_compare_models *compare)
{
	const struct st_check_subjects *all = out->subjects;
	for (size_t i = 0; i < all->list.n; i++) {
		struct st_finding *f = st_check_add(out, &all->list.v[i], method);
		struct st_check_models m;
		if (!f)
			return ST_FAILED;
		if (st_finding_set_new_or_gone(f))
			continue;
		st_status status = st_check_models_of(&m, f->subject, how->x,
		                                      method == ST_CHECK_order, &f->cause);
		if (!status && !f->cause) {
			status = compare(f, &m, how);
			out->models_kept += count_kept_models(&m, method, how);
		}
		st_check_models_free(&m);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}
