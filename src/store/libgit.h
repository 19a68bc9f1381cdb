/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libgit2, loaded when a command needs it: with the libraries for its network protocols it is
 * fifteen shared objects, which every start of strobe would have to map.
 */
#ifndef STROBE_STORE_LIBGIT_H
#define STROBE_STORE_LIBGIT_H

#include <git2.h>

#include "base/error.h"

#define ST_LIBGIT(F)                                                                               \
	F(libgit2_init)                                                                            \
	F(error_last)                                                                              \
	F(repository_open_ext)                                                                     \
	F(repository_free)                                                                         \
	F(repository_commondir)                                                                    \
	F(repository_workdir)                                                                      \
	F(repository_head)                                                                         \
	F(repository_config_snapshot)                                                              \
	F(config_get_string)                                                                       \
	F(config_free)                                                                             \
	F(reference_free)                                                                          \
	F(reference_is_branch)                                                                     \
	F(reference_shorthand)                                                                     \
	F(reference_target)                                                                        \
	F(revparse_single)                                                                         \
	F(object_peel)                                                                             \
	F(object_free)                                                                             \
	F(object_id)                                                                               \
	F(commit_lookup)                                                                           \
	F(commit_free)                                                                             \
	F(commit_tree)                                                                             \
	F(commit_tree_id)                                                                          \
	F(commit_time)                                                                             \
	F(commit_summary)                                                                          \
	F(commit_parentcount)                                                                      \
	F(commit_parent_id)                                                                        \
	F(commit_id)                                                                               \
	F(tree_free)                                                                               \
	F(diff_tree_to_tree)                                                                       \
	F(diff_num_deltas)                                                                         \
	F(diff_patchid)                                                                            \
	F(diff_free)                                                                               \
	F(oid_tostr)                                                                               \
	F(oid_fromstr)                                                                             \
	F(oid_equal)                                                                               \
	F(graph_descendant_of)                                                                     \
	F(status_list_new)                                                                         \
	F(status_list_entrycount)                                                                  \
	F(status_list_free)

struct st_libgit {
#define ST_LIBGIT_FIELD(name) __typeof__(git_##name) *name;
	ST_LIBGIT(ST_LIBGIT_FIELD)
#undef ST_LIBGIT_FIELD
};

/* NULL with *e when it is not installed. It stays loaded. */
const struct st_libgit *st_libgit(struct st_error *e);
/* The last message of libgit2. */
const char *st_libgit_reason(const struct st_libgit *git);

#endif
