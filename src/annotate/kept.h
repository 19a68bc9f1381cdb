/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations that a project keeps: a folder with a file IMAGE.ann for each program or library. */
#ifndef STROBE_ANNOTATE_KEPT_H
#define STROBE_ANNOTATE_KEPT_H

#include "annotate/annotation.h"

/* Below the top folder of the project. */
#define ST_ANN_KEPT_FOLDER ".strobe/annotations"

/* Returns the name of the file for an annotation: the last part of its image's path and ".ann", or
 * "no-image.ann". It is malloc'ed; NULL: no memory. */
char *st_ann_kept_name(const struct st_ann_annotation *a);

/* Reads all files of a folder whose names end with ".ann", in the order of their names. *found is
 * false if there is no such file. The caller frees `out` in all cases. */
st_status st_ann_kept_read(const char *folder, struct st_ann_file *out, bool *found,
                           struct st_error *e);

/* Moves an annotation to a file: it replaces the one of the same metric of the same function. Fails
 * when memory is exhausted; the annotation then stays where it is. */
st_status st_ann_kept_put(struct st_ann_file *to, struct st_ann_annotation *a);

#endif
