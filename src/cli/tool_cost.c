/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tool's actions cost: which of them it asks for is known from the functions that it refers
 * to; how often they happen only a run can tell. */
#include <stdlib.h>

#include "cli/build_tool.h"
#include "session/tool_calibrate.h"

static const struct action {
	const char *name, *functions[4], *note;
} actions[ST_ACTIONS] = {
        [ST_ACTION_COUNT] = {"count",
                             {"strobe_count_counter", "strobe_count_cell", "strobe_count_insns"},
                             "for all constant counts of a block together"},
        [ST_ACTION_CONDITION] = {"condition",
                                 {"strobe_when", "strobe_when_taken", "strobe_when_not_taken",
                                  "strobe_count_row"},
                                 "together with the count that depends on it"},
        [ST_ACTION_ADD] = {"add", {"strobe_add_counter", "strobe_add_cell"}, "for each"},
        [ST_ACTION_RECORD] = {"record",
                              {"strobe_record_row"},
                              "for a row with one varying value; each further value costs a store"},
        [ST_ACTION_INVOKE] = {"invoke",
                              {"strobe_invoke_with"},
                              "plus the time of the function itself"},
};

void
st_tool_print_costs(const struct st_tool_file *f, const char *const *include, FILE *out)
{
	bool wanted[ST_ACTIONS] = {false}, any = false;
	double ns[ST_ACTIONS];
	for (int i = 0; i < ST_ACTIONS; i++)
		for (int k = 0; k < 4 && actions[i].functions[k]; k++)
			wanted[i] |= st_tool_file_uses(f, actions[i].functions[k]);
	for (int i = 0; i < ST_ACTIONS; i++)
		any |= wanted[i];
	if (!any) {
		fprintf(out, "  asks for no action: the program's code runs at the engine's own "
		             "speed\n");
		return;
	}
	int measured = st_calibrate(include, wanted, ns) == 0;
	fprintf(out, measured ? "  each time the program passes a point, about:\n"
	                      : "  asks for these actions, whose cost cannot be measured here "
	                        "(strobe doctor says why):\n");
	for (int i = 0; i < ST_ACTIONS; i++) {
		if (wanted[i] && measured)
			fprintf(out, "    %-10s %6.1f ns  %s\n", actions[i].name, ns[i],
			        actions[i].note);
		else if (wanted[i])
			fprintf(out, "    %s\n", actions[i].name);
	}
}
