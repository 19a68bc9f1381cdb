/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of the file of records (docs/annotations-records.md). */
#ifndef STROBE_RECORDING_FIELDS_H
#define STROBE_RECORDING_FIELDS_H

#include <stdio.h>

#include "features/find.h"

/* Names of classes by the addresses of their virtual tables in a process. */
struct st_record_classes {
	/* The name of the class whose virtual table is there; NULL: there is none. */
	const char *(*find)(const void *arg, uint64_t table);
	const void *arg;
	ST_VEC(struct st_record_class {
		uint64_t table;
		const char *name;
	})
	known;
};

void st_record_text(FILE *out, const char *text);
__attribute__((format(printf, 2, 3))) void st_record_note(FILE *out, const char *format, ...);
/* The first lines of the file. seconds: when the program began, since 1970. */
void st_record_origin(FILE *out, char *const *program, int64_t seconds);
/* Writes the line of a recording that has not ended. seconds: the time since its beginning. */
void st_record_unfinished(FILE *out, double seconds);
/* The line of the header that declares a function of the image at `path`. */
void st_record_function(FILE *out, size_t id, const struct st_feature_table *f, const char *path,
                        uint64_t entry);
/* Note that the function was not called or, otherwise, that no call of it returned. */
void st_record_note_silent(FILE *out, const char *function, const char *path, bool called);
/* Notes that the features of the function are registers. */
void st_record_note_bare(FILE *out, const char *function, const char *path);
/* The line of the header that declares a feature. */
void st_record_feature(FILE *out, size_t id, const struct st_feature *f);
/* The value of a feature in a record. */
void st_record_value(FILE *out, struct st_record_classes *classes, const struct st_feature *f,
                     struct st_image *image, uint64_t value);

#endif
