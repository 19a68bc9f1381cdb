/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What strobe blow prints of a campaign. */
#ifndef STROBE_TESTS_BLOW_PRINTED_H
#define STROBE_TESTS_BLOW_PRINTED_H

#include "base/text.h"
#include "report/blow.h"

/* The caller frees it. */
static inline char *
print_campaign(const struct st_blow *b, const struct st_blow_view *view)
{
	struct st_text text;
	assert_true(st_text_begin(&text));
	assert_int_equal(st_blow_text_print(b, view, text.out), 0);
	char *printed = st_text_end(&text);
	assert_non_null(printed);
	return printed;
}

#endif
