/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of a run, as its results name them. */
#include <string.h>

#include "control/internal.h"
#include "toolkit/toolfile.h"

/* Appends to the strings; 0 when there is nothing to append. */
static uint32_t
add_text(struct st_results_header *h, const char *text, size_t bytes)
{
	uint32_t at = h->n_strings;
	if (!text || bytes > ST_STRINGS_BYTES - at)
		return 0;
	memcpy((char *)h + h->off_strings + at, text, bytes);
	h->n_strings += (uint32_t)bytes;
	return at;
}

void
st_results_tools(struct st_results_header *h, const struct st_run_options *options, uint64_t region)
{
	h->n_tools = (uint32_t)options->n_tools;
	for (size_t i = 0; i < options->n_tools; i++) {
		h->tools[i] = options->tools[i].index;
		h->tool_options[i] =
		        add_text(h, options->tools[i].options, options->tools[i].options_bytes);
		if (options->tools[i].file)
			h->tool_entry[i] = region + ST_REGION_TOOLS + i * ST_TOOL_ROOM +
			                   st_tool_file_entry(options->tools[i].file);
	}
	if (options->threads)
		h->threads_chosen = add_text(h, options->threads, strlen(options->threads) + 1);
	h->n_options = h->n_strings;
}
