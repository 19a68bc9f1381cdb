/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_EXPORT_STORE_H
#define STROBE_CLI_EXPORT_STORE_H

/* Writes the stored profiles of a version and its ancestors to the folder as a store of Perun.
 * Returns the exit code; after a failure, a message has been printed. */
int st_export_store(const char *rev, const char *folder);

#endif
