/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotations that the project around the current folder keeps. */
#include "cli/annotate_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "profile/output.h"
#include "store/vcs.h"

static st_status
kept_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the annotations of the project");
}

/* Finds the project's top folder: that of git, else the nearest one upwards with .strobe, else the
 * current one. */
static st_status
kept_root(char **root, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, e) || (!vcs && st_vcs_counter(&vcs, NULL, e)))
		return ST_FAILED;
	*root = strdup(vcs && vcs->root ? vcs->root : ".");
	if (vcs)
		vcs->kind->close(vcs);
	for (size_t n = *root ? strlen(*root) : 0; n > 1 && (*root)[n - 1] == '/'; n--)
		(*root)[n - 1] = 0;
	return *root ? ST_OK : kept_memory(e);
}

st_status
st_annotations_folder(char **folder, struct st_error *e)
{
	char *root;
	*folder = NULL;
	if (kept_root(&root, e))
		return ST_FAILED;
	*folder = strcmp(root, ".") ? st_text_of("%s/" ST_ANN_KEPT_FOLDER, root)
	                            : strdup(ST_ANN_KEPT_FOLDER);
	free(root);
	return *folder ? ST_OK : kept_memory(e);
}

st_status
st_annotations_read(struct st_ann_file *out, char **folder, struct st_error *e)
{
	bool found;
	*out = (struct st_ann_file){0};
	if (st_annotations_folder(folder, e) || st_ann_kept_read(*folder, out, &found, e))
		return ST_FAILED;
	return found ? ST_OK
	             : st_fail(e, ST_EXIT_USAGE,
	                       "the project has no annotations in %s: make some with strobe "
	                       "annotate --save FILE..., or name a file of annotations",
	                       *folder);
}

/* Makes a folder and the one that has it. */
static st_status
kept_make_folder(const char *folder, struct st_error *e)
{
	char *above = strdup(folder);
	if (!above)
		return kept_memory(e);
	*strrchr(above, '/') = 0;
	const bool fails =
	        (mkdir(above, 0777) && errno != EEXIST) || (mkdir(folder, 0777) && errno != EEXIST);
	const int error = errno;
	free(above);
	return fails ? st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
	                       strerror(error))
	             : ST_OK;
}

/* Reads the file that exists already, if any. */
static st_status
kept_begin_file(const char *path, struct st_ann_file *file, struct st_error *e)
{
	*file = (struct st_ann_file){0};
	return access(path, F_OK) ? ST_OK : st_ann_read(path, file, e);
}

static st_status
kept_write_file(const char *path, const struct st_ann_file *file, struct st_error *e)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return kept_memory(e);
	st_ann_print_file(file, text.out);
	char *v = st_text_end(&text);
	const st_status status = v ? st_output_text(path, v, e) : kept_memory(e);
	free(v);
	return status;
}

/* Keeps the annotations of `made` whose file has this name, and empties them. */
static st_status
kept_save_image(const char *folder, const char *name, struct st_ann_file *made, FILE *log,
                struct st_error *e)
{
	struct st_ann_file file = {0};
	size_t n = 0;
	char *path = st_text_of("%s/%s", folder, name);
	st_status status = path ? kept_begin_file(path, &file, e) : kept_memory(e);
	for (size_t i = 0; i < made->list.n && !status; i++) {
		struct st_ann_annotation *a = &made->list.v[i];
		char *own = a->function ? st_ann_kept_name(a) : NULL;
		if (a->function && !own)
			status = kept_memory(e);
		else if (own && !strcmp(own, name))
			status = st_ann_kept_put(&file, a) ? kept_memory(e) : (n++, ST_OK);
		free(own);
	}
	if (!status)
		status = kept_write_file(path, &file, e);
	if (!status && log)
		fprintf(log, "strobe: kept %s in %s\n", ST_COUNT(n, "annotation", "annotations"),
		        path);
	st_ann_file_free(&file);
	free(path);
	return status;
}

st_status
st_annotations_save(struct st_ann_file *made, FILE *log, struct st_error *e)
{
	char *folder;
	st_status status = st_annotations_folder(&folder, e);
	if (!status)
		status = kept_make_folder(folder, e);
	for (size_t i = 0; i < made->list.n && !status; i++) {
		if (!made->list.v[i].function)
			continue; /* it was saved with an earlier one */
		char *name = st_ann_kept_name(&made->list.v[i]);
		status = name ? kept_save_image(folder, name, made, log, e) : kept_memory(e);
		free(name);
	}
	free(folder);
	return status;
}
