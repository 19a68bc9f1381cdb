/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiles that strobe check compares, from files and folders. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/check.h"
#include "import/import.h"

struct st_check_group *
st_check_group_new(struct st_check_groups *all, const char *title, const char *base,
                   const char *target, struct st_error *e)
{
	struct st_check_group *g = ST_PUSH(&all->v);
	if (g) {
		g->title = title ? strdup(title) : NULL;
		g->names[ST_A] = strdup(base ? base : "");
		g->names[ST_B] = strdup(target ? target : "");
	}
	if (g && g->names[ST_A] && g->names[ST_B] && (g->title || !title))
		return g;
	st_cause(e, ST_EXIT_FAILED, "no memory left to compare profiles");
	return NULL;
}

/* A database of SQLite begins with this name. */
static bool
is_database(const char *path)
{
	char first[16] = "";
	FILE *file = fopen(path, "re");
	const bool is = file && fread(first, 1, sizeof first, file) == sizeof first &&
	                !memcmp(first, "SQLite format 3", sizeof first);
	if (file)
		fclose(file);
	return is;
}

st_status
st_check_load(struct st_check_group *g, int side, const char *path, struct st_error *e)
{
	const struct st_import_format *used;
	struct st_profile *p =
	        is_database(path) ? st_profile_load(path, e) : st_import_file(path, NULL, &used, e);
	struct st_profile **slot = p ? ST_PUSH(&g->profiles[side]) : NULL;
	if (slot)
		*slot = p;
	else
		st_profile_free(p);
	if (p && !slot)
		st_cause(e, ST_EXIT_FAILED, "no memory left to compare profiles");
	return slot ? ST_OK : ST_FAILED;
}

static int
is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static st_status
load_folder(struct st_check_group *g, int side, const char *folder, struct st_error *e)
{
	struct dirent **names;
	const int n = scandir(folder, &names, is_visible, alphasort);
	st_status status = ST_OK;
	size_t loaded = 0;
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		struct stat found;
		char *path = st_text_of("%s/%s", folder, names[i]->d_name);
		if (!path)
			status = st_fail(e, ST_EXIT_FAILED, "no memory left");
		if (!status && !stat(path, &found) && S_ISREG(found.st_mode)) {
			status = st_check_load(g, side, path, e);
			loaded++;
		}
		free(path);
		free(names[i]);
	}
	free(names);
	if (!status && !loaded)
		return st_fail(e, ST_EXIT_USAGE, "the folder %s has no profiles", folder);
	return status;
}

/* Otherwise the name is that of a version, which may have several configurations. */
static bool
names_profiles(const char *name)
{
	struct stat found;
	return !stat(name, &found) || st_check_is_stored(name);
}

static st_status
load_named(struct st_check_group *g, int side, const char *name, struct st_error *e)
{
	struct stat found;
	if (!stat(name, &found))
		return S_ISDIR(found.st_mode) ? load_folder(g, side, name, e)
		                              : st_check_load(g, side, name, e);
	return st_check_load_stored(g, side, name, e);
}

static char *
name_of_side(const struct st_check_arguments *a, int side)
{
	const char *first = a->named[side].v[0];
	const size_t more = a->named[side].n - 1;
	return more ? st_text_of("%s and %s more", first, ST_NUMBER(more)) : strdup(first);
}

static st_status
read_named(const struct st_check_arguments *a, struct st_check_groups *out, struct st_error *e)
{
	char *base = name_of_side(a, ST_A), *target = name_of_side(a, ST_B);
	struct st_check_group *g = st_check_group_new(out, NULL, base, target, e);
	st_status status = g && base && target ? ST_OK : ST_FAILED;
	for (int side = 0; side < ST_SIDES && !status; side++)
		for (size_t i = 0; i < a->named[side].n && !status; i++)
			status = load_named(g, side, a->named[side].v[i], e);
	free(base);
	free(target);
	return status;
}

st_status
st_check_read(const struct st_check_arguments *a, struct st_check_groups *out, struct st_error *e)
{
	bool files = false;
	*out = (struct st_check_groups){0};
	for (int side = 0; side < ST_SIDES; side++) {
		files |= a->named[side].n > 1;
		for (size_t i = 0; i < a->named[side].n; i++)
			files |= names_profiles(a->named[side].v[i]);
	}
	if (files && (!a->named[ST_A].n || !a->named[ST_B].n))
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe check compares two versions: strobe check BASE TARGET, or "
		               "strobe check BASE... vs TARGET...");
	return files ? read_named(a, out, e) : st_check_read_store(a, out, e);
}

void
st_check_groups_free(struct st_check_groups *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		struct st_check_group *g = &all->v.v[i];
		for (int side = 0; side < ST_SIDES; side++) {
			for (size_t k = 0; k < g->profiles[side].n; k++)
				st_profile_free(g->profiles[side].v[k]);
			free(g->profiles[side].v);
			free(g->names[side]);
		}
		free(g->title);
	}
	for (size_t i = 0; i < all->left_out.n; i++)
		free(all->left_out.v[i]);
	free(all->left_out.v);
	free(all->v.v);
	*all = (struct st_check_groups){0};
}
