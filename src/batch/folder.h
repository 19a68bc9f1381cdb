/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folders of campaigns that the user has not named. */
#ifndef STROBE_BATCH_FOLDER_H
#define STROBE_BATCH_FOLDER_H

#include "base/error.h"

/* The path of a new folder: in the folder of Strobe of the repository around the current folder
 * or, without one, in the current folder. *folder is malloc'ed. 0, or -1 with *e. */
st_status st_batch_new_folder(const char *tool, char **folder, struct st_error *e);
/* Removes a campaign with all that is in it. */
void st_batch_remove_folder(const char *folder);

#endif
