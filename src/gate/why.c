/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/why.h"

#include <math.h>

#include "base/number.h"

const char *const st_gate_whys[] = {
#define W(id, name) name,
        ST_GATE_WHYS(W)
#undef W
};

const char *
st_gate_change(const struct st_gate_count *c, char text[ST_GATE_CHANGE_SIZE])
{
	if (isinf(c->change))
		snprintf(text, ST_GATE_CHANGE_SIZE, "new");
	else
		snprintf(text, ST_GATE_CHANGE_SIZE, "%+.2f %%", c->change * 100);
	return text;
}

/* Instructions of one call. */
static double
why_of_call(const struct st_gate_function *f, int side)
{
	return f->calls.value[side] > 0 ? f->instructions.value[side] / f->calls.value[side] : 0;
}

enum st_gate_why
st_gate_why(const struct st_gate_function *f)
{
	const double *calls = f->calls.value, *all = f->instructions.value;
	if (all[ST_GATE_TARGET] <= all[ST_GATE_BASE])
		return ST_GATE_WHY_LESS;
	if (all[ST_GATE_BASE] <= 0)
		return f->code == ST_GATE_CODE_SAME ? ST_GATE_WHY_FIRST : ST_GATE_WHY_NEW;
	/* The growth of the calls is half of the whole growth or more, on a logarithmic scale. */
	const double growth = log(all[ST_GATE_TARGET] / all[ST_GATE_BASE]);
	if (calls[ST_GATE_BASE] > 0 && calls[ST_GATE_TARGET] > calls[ST_GATE_BASE] &&
	    2 * log(calls[ST_GATE_TARGET] / calls[ST_GATE_BASE]) >= growth)
		return ST_GATE_WHY_CALLS;
	if (f->code == ST_GATE_CODE_SAME)
		return ST_GATE_WHY_INPUTS;
	return f->code == ST_GATE_CODE_CHANGED ? ST_GATE_WHY_CODE : ST_GATE_WHY_DEARER;
}

bool
st_gate_is_blamed(const struct st_gate_function *f)
{
	return f->code != ST_GATE_CODE_SAME;
}

static void
why_put_number(double value, FILE *out)
{
	char text[ST_NUMBER_SIZE];
	fputs(st_number(text, (uint64_t)llround(value)), out);
}

static void
why_put_pair(const double value[ST_GATE_SIDES], FILE *out)
{
	why_put_number(value[ST_GATE_BASE], out);
	fputs(" -> ", out);
	why_put_number(value[ST_GATE_TARGET], out);
}

static const char *
why_code(enum st_gate_code code)
{
	static const char *const words[] = {"whose code could not be compared",
	                                    "whose code is the same", "whose code changed",
	                                    "which is new", "which is gone"};
	return words[code];
}

static void
why_put_callers(const struct st_gate_function *f, FILE *out)
{
	for (size_t i = 0; i < f->callers.n; i++) {
		const struct st_gate_caller *c = &f->callers.v[i];
		fprintf(out, "%s%s, %s (", i ? "; from " : ", most from ", c->name,
		        why_code(c->code));
		why_put_pair(c->calls, out);
		fputc(')', out);
	}
}

static void
why_put_code(const struct st_gate_function *f, FILE *out)
{
	if (f->code == ST_GATE_CODE_SAME)
		fputs("; its own code is the same", out);
	else if (f->code == ST_GATE_CODE_CHANGED)
		fputs("; its own code changed", out);
}

static void
why_put_each_call(const struct st_gate_function *f, FILE *out)
{
	const double each[] = {why_of_call(f, ST_GATE_BASE), why_of_call(f, ST_GATE_TARGET)};
	fputs("each call executes ", out);
	why_put_pair(each, out);
	fputs(" instructions", out);
}

void
st_gate_put_why(const struct st_gate_function *f, FILE *out)
{
	const enum st_gate_why why = st_gate_why(f);
	fputs(st_gate_whys[why], out);
	if (f->offset)
		fputs(" here, and as much less elsewhere", out);
	switch (why) {
	case ST_GATE_WHY_CALLS:
		fputs(" (", out);
		why_put_pair(f->calls.value, out);
		fputc(')', out);
		why_put_callers(f, out);
		why_put_code(f, out);
		break;
	case ST_GATE_WHY_CODE:
	case ST_GATE_WHY_INPUTS:
	case ST_GATE_WHY_DEARER:
		fputs(": ", out);
		why_put_each_call(f, out);
		if (why == ST_GATE_WHY_INPUTS)
			fputs(", and its code is the same", out);
		break;
	case ST_GATE_WHY_FIRST:
	case ST_GATE_WHY_NEW:
		why_put_callers(f, out);
		break;
	case ST_GATE_WHY_LESS:
		break;
	}
}
