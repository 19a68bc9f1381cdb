/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpq is loaded only when the store is on a server: with the libraries for encryption and
 * Kerberos it has twenty shared objects, which every start of strobe would have to map.
 */
#ifndef STROBE_STORE_LIBPQ_H
#define STROBE_STORE_LIBPQ_H

#include <libpq-fe.h>

#include "base/error.h"

#define ST_LIBPQ(F)                                                                                \
	F(connectdbParams)                                                                         \
	F(finish)                                                                                  \
	F(status)                                                                                  \
	F(errorMessage)                                                                            \
	F(connectionNeedsPassword)                                                                 \
	F(connectionUsedPassword)                                                                  \
	F(parameterStatus)                                                                         \
	F(setNoticeProcessor)                                                                      \
	F(exec)                                                                                    \
	F(execParams)                                                                              \
	F(resultStatus)                                                                            \
	F(resultErrorField)                                                                        \
	F(clear)                                                                                   \
	F(ntuples)                                                                                 \
	F(getvalue)                                                                                \
	F(getlength)                                                                               \
	F(getisnull)

struct st_libpq {
#define ST_LIBPQ_FIELD(name) __typeof__(PQ##name) *name;
	ST_LIBPQ(ST_LIBPQ_FIELD)
#undef ST_LIBPQ_FIELD
};

/* Loads libpq, which stays loaded. NULL with *e if it is not installed. */
const struct st_libpq *st_libpq(struct st_error *e);

#endif
