/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of a run, as its results name them. */
#include <string.h>

#include "control/internal.h"
#include "toolkit/toolfile.h"

/* Appends to the strings; 0 when there is nothing to append. */
static uint32_t
add_text(struct st_results_header *h, const char *text, size_t bytes)
{
	uint32_t at = h->strings.n;
	if (!text || bytes > ST_STRINGS_BYTES - at)
		return 0;
	memcpy((char *)h + h->layout.off_strings + at, text, bytes);
	h->strings.n += (uint32_t)bytes;
	return at;
}

void
st_results_tools(struct st_results_header *h, const struct st_run_options *options, uint64_t region)
{
	h->plan.n_tools = (uint32_t)options->n_tools;
	for (size_t i = 0; i < options->n_tools; i++) {
		h->plan.tools[i] = options->tools[i].index;
		h->plan.tool_options[i] =
		        add_text(h, options->tools[i].options, options->tools[i].options_bytes);
		if (options->tools[i].file)
			h->plan.tool_entry[i] = region + ST_AREA_TOOLS + i * ST_TOOL_SPACE +
			                        st_tool_file_entry(options->tools[i].file);
	}
	if (options->threads)
		h->plan.threads = add_text(h, options->threads, strlen(options->threads) + 1);
	h->plan.n_options = h->strings.n;
}
