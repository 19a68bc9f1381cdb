/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The declarations of a tool, as text and as JSON. */
#include <string.h>

#include "cli/tools.h"
#include "profile/profile.h"

static const char *const kinds[ST_TOOL_KINDS] = {"counters", "tables", "streams"};

/* "caller (function), callee (function), count": numbers need no word. */
static void
print_columns(const struct st_tool_result *r)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		const strobe_column *c = &r->columns[i];
		const char *type = st_profile_type_name(c->type);
		bool plain = c->type == STROBE_NUMBER || !strcmp(type, c->name);
		printf("%s%s%s%s%s", i ? ", " : "", c->name, plain ? "" : " (", plain ? "" : type,
		       plain ? "" : ")");
	}
	printf("\n");
}

void
st_tool_print_results(const struct st_tool_results *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct st_tool_result *one = &r->list[i];
		if (!i || one->kind != r->list[i - 1].kind)
			printf("  %s:\n", kinds[one->kind]);
		printf("    %-14s%s\n", one->name, one->help);
		if (one->n_columns) {
			printf("    %-14s", "");
			print_columns(one);
		}
	}
}

static json_t *
json_of_columns(const struct st_tool_result *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->n_columns; i++) {
		const strobe_column *c = &r->columns[i];
		json_array_append_new(list,
		                      json_pack("{s:o, s:s, s:s}", "name", st_tool_text(c->name),
		                                "type", st_profile_type_name(c->type), "role",
		                                st_profile_role_name(c->role)));
	}
	return list;
}

int
st_tool_json_results(json_t *out, const struct st_tool_results *r)
{
	int bad = 0;
	for (int k = 0; k < ST_TOOL_KINDS; k++) {
		json_t *list = json_array();
		for (size_t i = 0; i < r->n; i++) {
			const struct st_tool_result *one = &r->list[i];
			if (one->kind != (enum st_tool_result_kind)k)
				continue;
			json_t *item = json_pack("{s:o, s:o}", "name", st_tool_text(one->name),
			                         "help", st_tool_text(one->help));
			if (k != ST_TOOL_COUNTER)
				bad |= json_object_set_new(item, "columns", json_of_columns(one));
			bad |= json_array_append_new(list, item);
		}
		bad |= json_object_set_new(out, kinds[k], list);
	}
	return bad;
}
