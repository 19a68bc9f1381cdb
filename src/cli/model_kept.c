/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe model --save and --kept: models in the file of their profile. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/model.h"
#include "cli/model_kept.h"
#include "profile/output.h"

static st_status
kept_refuse(const char *option, const char *why, struct st_error *e)
{
	return st_fail(e, ST_EXIT_USAGE, "%s %s", option, why);
}

static st_status
kept_check_option(const struct st_model_arguments *a, const char *option, struct st_error *e)
{
	if (a->csv)
		return kept_refuse(option, "needs a profile: a text file keeps no models", e);
	if (a->files.n > 1)
		return st_fail(e, ST_EXIT_USAGE, "%s takes one profile; '%s' is one too many",
		               option, a->files.v[1]);
	if (a->smooths.n)
		return kept_refuse(option, "is for models with a formula: leave out --smooth", e);
	return ST_OK;
}

st_status
st_model_kept_check(const struct st_model_arguments *a, struct st_error *e)
{
	if (a->save && a->kept)
		return kept_refuse("--save", "fits models, and --kept fits none: use one of them",
		                   e);
	if (a->kept && a->fit_option)
		return st_fail(e, ST_EXIT_USAGE,
		               "--kept prints models as they were fitted: leave out --%s",
		               a->fit_option);
	if (a->save && kept_check_option(a, "--save", e))
		return ST_FAILED;
	return a->kept ? kept_check_option(a, "--kept", e) : ST_OK;
}

st_status
st_model_save_check(const char *path, struct st_error *e)
{
	struct stat st;
	if (stat(path, &st) && errno == ENOENT)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is stored, and what is stored never changes: write it to a file "
		               "with strobe show %s --extract FILE, save the models there, and add "
		               "the file again",
		               path, path);
	if (!stat(path, &st) && !(st.st_mode & 0222))
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot keep models in %s: the file is read-only; use chmod u+w, or "
		               "a copy",
		               path);
	return st_output_check(path, e);
}

st_status
st_model_keep(struct st_profile *p, const struct st_kept_key *key, const struct st_segments *parts,
              size_t rows_left_out, struct st_error *e)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const int64_t time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	st_status status = st_kept_forget(p, key);
	for (size_t i = 0; i < parts->list.n && !status; i++)
		status = st_kept_add(p, key, &parts->list.v[i], i, parts->list.n, rows_left_out,
		                     time_ns);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to keep the models") : ST_OK;
}

/* Whether --of, --y and --x name the answer. */
static bool
kept_is_asked(const struct st_model_arguments *a, const struct st_kept_answer *answer)
{
	return (!a->y || !strcmp(a->y, answer->metric)) && (!a->x || !strcmp(a->x, answer->x)) &&
	       (!a->of || st_model_is_name(a->of, answer->uid));
}

static st_status
kept_none(const struct st_model_arguments *a, const struct st_profile *p, struct st_error *e)
{
	const char *file = a->files.v[0];
	if (!p->kept.answers.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s keeps no models: strobe model --save %s fits and keeps them",
		               file, file);
	return st_fail(e, ST_EXIT_USAGE,
	               "%s keeps no models that --of, --x and --y name; without these "
	               "options, strobe model --kept prints all",
	               file);
}

st_status
st_model_show_kept(const struct st_model_arguments *a, const struct st_profile *p,
                   void (*show)(void *, const struct st_model_report *, bool), void *into,
                   struct st_error *e)
{
	size_t n = 0;
	for (size_t i = 0; i < p->kept.answers.n; i++)
		n += kept_is_asked(a, &p->kept.answers.v[i]);
	for (size_t i = 0; i < p->kept.answers.n; i++) {
		struct st_kept_shown shown;
		if (!kept_is_asked(a, &p->kept.answers.v[i]))
			continue;
		if (st_kept_show(p, i, a->files.v[0], &shown))
			return st_fail(e, ST_EXIT_FAILED,
			               "%s keeps models of %s that this version cannot read: use "
			               "the strobe that wrote them, or fit them again with --save",
			               a->files.v[0], p->kept.answers.v[i].uid);
		shown.report.at = a->at.v;
		shown.report.n_at = a->at.n;
		shown.report.style = st_style_of(stdout);
		show(into, &shown.report, n > 1);
	}
	return n ? ST_OK : kept_none(a, p, e);
}
