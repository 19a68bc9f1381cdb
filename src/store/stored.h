/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the index as structures. */
#ifndef STROBE_STORE_STORED_H
#define STROBE_STORE_STORED_H

#include "store/store.h"

/* To be completed with a condition; st_stored_take reads its rows. */
#define ST_STORED_QUERY                                                                            \
	"SELECT p.id, p.version, p.configuration, p.machine, p.hash, v.name, c.collector, "        \
	"c.command, c.workload, c.parameters, p.file, p.added_ns, p.start_ns, p.wall_ns, p.dirty " \
	"FROM profile p JOIN version v ON v.id = p.version "                                       \
	"JOIN configuration c ON c.id = p.configuration "

/* False: memory is exhausted, or the row is damaged; nothing to free then. */
bool st_stored_take(struct st_query *rows, struct st_stored *out);
/* Appends all rows of a statement to the list, and ends the statement. 0, or -1 with *e. */
st_status st_stored_take_all(struct st_query *rows, struct st_stored_list *out, struct st_error *e);

#endif
