/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotations that the project around the current folder keeps (annotate/kept.h). */
#ifndef STROBE_CLI_ANNOTATE_KEPT_H
#define STROBE_CLI_ANNOTATE_KEPT_H

#include "annotate/kept.h"

/* Finds the folder, which need not exist; *folder is malloc'ed, or NULL after a failure. */
st_status st_annotations_folder(char **folder, struct st_error *e);

/* Reads all annotations of the project. Returns ST_FAILED with *e if there are none. The caller
 * frees `out` and *folder in both cases. */
st_status st_annotations_read(struct st_ann_file *out, char **folder, struct st_error *e);

/* Moves annotations to the files of their images; those of the same functions and metrics are
 * replaced, and others stay. log: where the files are named; NULL: nowhere. */
st_status st_annotations_save(struct st_ann_file *made, FILE *log, struct st_error *e);

#endif
