/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/kept.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char kept_ending[] = ".ann";

char *
st_ann_kept_name(const struct st_ann_annotation *a)
{
	const char *const slash = a->image ? strrchr(a->image, '/') : NULL;
	const char *const name = slash ? slash + 1 : a->image;
	return st_text_of("%s%s", name && *name ? name : "no-image", kept_ending);
}

static int
kept_is_annotations(const struct dirent *d)
{
	const size_t n = strlen(d->d_name), ending = strlen(kept_ending);
	return n > ending && !strcmp(d->d_name + n - ending, kept_ending);
}

static st_status
kept_read_file(const char *folder, const char *name, struct st_ann_file *out, struct st_error *e)
{
	struct st_ann_file one = {0};
	char *path = st_text_of("%s/%s", folder, name);
	st_status status = path ? st_ann_read(path, &one, e)
	                        : st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", folder);
	for (size_t i = 0; i < one.list.n && !status; i++) {
		struct st_ann_annotation *to = ST_PUSH(&out->list);
		if (!to) {
			status = st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", folder);
			break;
		}
		*to = one.list.v[i];
		one.list.v[i] = (struct st_ann_annotation){0};
	}
	st_ann_file_free(&one);
	free(path);
	return status;
}

st_status
st_ann_kept_read(const char *folder, struct st_ann_file *out, bool *found, struct st_error *e)
{
	struct dirent **names = NULL;
	*out = (struct st_ann_file){0};
	*found = false;
	const int n = scandir(folder, &names, kept_is_annotations, alphasort);
	if (n < 0)
		return errno == ENOENT ? ST_OK
		                       : st_fail(e, ST_EXIT_FAILED, "cannot read the folder %s: %s",
		                                 folder, strerror(errno));
	st_status status = ST_OK;
	for (int i = 0; i < n; i++) {
		if (!status)
			status = kept_read_file(folder, names[i]->d_name, out, e);
		free(names[i]);
	}
	*found = n > 0;
	free(names);
	return status;
}

st_status
st_ann_kept_put(struct st_ann_file *to, struct st_ann_annotation *a)
{
	for (size_t i = 0; i < to->list.n; i++) {
		struct st_ann_annotation *at = &to->list.v[i];
		if (!strcmp(at->function, a->function) && !strcmp(at->metric, a->metric)) {
			st_ann_annotation_free(at);
			*at = *a;
			*a = (struct st_ann_annotation){0};
			return ST_OK;
		}
	}
	struct st_ann_annotation *at = ST_PUSH(&to->list);
	if (!at)
		return ST_FAILED;
	*at = *a;
	*a = (struct st_ann_annotation){0};
	return ST_OK;
}
