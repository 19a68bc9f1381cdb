/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "profile/waits.h"
#include "wire/results/header.h"

/* Strings live in chunks that are freed with the profile: most are short, and there are very many.
 */
struct st_text_chunk {
	struct st_text_chunk *next;
	size_t used, size;
	char bytes[];
};

enum { TEXT_CHUNK = 64 << 10 };

struct st_profile *
st_profile_new(void)
{
	return calloc(1, sizeof(struct st_profile));
}

void
st_profile_free(struct st_profile *p)
{
	if (!p)
		return;
	for (struct st_text_chunk *c = p->text, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(p->run.tools.v);
	free(p->run.tool_options.v);
	free(p->run.command.v);
	free(p->qos.rows.v);
	free(p->overshoots.v);
	free(p->run.environment.v);
	free(p->run.facts.v);
	free(p->processes.v);
	free(p->images.v);
	free(p->functions.v);
	free(p->shares.v);
	free(p->aliases.v);
	free(p->blocks.v);
	free(p->lines.v);
	free(p->threads.v);
	free(p->counters.v);
	free(p->statistics.v);
	free(p->fallbacks.v);
	for (size_t i = 0; i < p->tables.n; i++)
		free(p->tables.v[i].values.v);
	free(p->tables.v);
	free(p->streams.v);
	free(p->labels.v);
	free(p->contexts.v);
	free(p->loops.v);
	st_measurements_free(&p->measurements);
	st_kept_free(&p->kept);
	free(p->extras.v);
	free(p->notes.v);
	free(p);
}

static struct st_text_chunk *
add_chunk(struct st_profile *p, size_t need)
{
	size_t size = need > TEXT_CHUNK ? need : TEXT_CHUNK;
	struct st_text_chunk *c = malloc(sizeof *c + size);
	if (!c) {
		p->out_of_memory = true;
		return NULL;
	}
	c->next = p->text;
	c->used = 0;
	c->size = size;
	p->text = c;
	return c;
}

const char *
st_profile_text(struct st_profile *p, const char *text)
{
	size_t need = strlen(text) + 1;
	struct st_text_chunk *c = p->text;
	if (!c || c->size - c->used < need)
		c = add_chunk(p, need);
	if (!c)
		return "";
	char *copy = c->bytes + c->used;
	memcpy(copy, text, need);
	c->used += need;
	return copy;
}

static const char *
text_va(struct st_profile *p, const char *format, va_list ap)
{
	char *text = NULL;
	if (vasprintf(&text, format, ap) < 0) {
		p->out_of_memory = true;
		return "";
	}
	const char *copy = st_profile_text(p, text);
	free(text);
	return copy;
}

const char *
st_profile_textf(struct st_profile *p, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	const char *text = text_va(p, format, ap);
	va_end(ap);
	return text;
}

void
st_profile_note(struct st_profile *p, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	const char *text = text_va(p, format, ap);
	va_end(ap);
	const char **note = ST_PUSH(&p->notes);
	if (note)
		*note = text;
	else
		p->out_of_memory = true;
}

void
st_profile_add_fact(struct st_profile *p, const char *name, const char *value)
{
	struct st_profile_fact *fact = ST_PUSH(&p->run.facts);
	if (fact)
		*fact = (struct st_profile_fact){st_profile_text(p, name),
		                                 st_profile_text(p, value)};
	else
		p->out_of_memory = true;
}

const struct st_profile_alias *
st_profile_aliases(const struct st_profile *p, uint32_t function, size_t *n)
{
	size_t low = 0, high = p->aliases.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->aliases.v[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < p->aliases.n && p->aliases.v[low + *n].function == function;)
		++*n;
	return *n ? &p->aliases.v[low] : NULL;
}

const char *
st_profile_function_fits(const struct st_profile *p, uint32_t function,
                         bool (*fits)(const char *name, const char *asked), const char *asked)
{
	size_t n;
	const struct st_profile_alias *aliases = st_profile_aliases(p, function, &n);
	if (fits(p->functions.v[function].name, asked))
		return p->functions.v[function].name;
	for (size_t i = 0; i < n; i++)
		if (fits(aliases[i].name, asked))
			return aliases[i].name;
	return NULL;
}

bool
st_profile_counter(const struct st_profile *p, const char *name, uint64_t *total)
{
	bool found = false;
	*total = 0;
	for (size_t i = 0; i < p->counters.n; i++)
		if (!strcmp(p->counters.v[i].name, name)) {
			*total += p->counters.v[i].total;
			found = true;
		}
	return found;
}

uint64_t
st_profile_statistic(const struct st_profile *p, const char *name)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->statistics.n; i++)
		if (!strcmp(p->statistics.v[i].name, name))
			sum += p->statistics.v[i].total;
	return sum;
}

uint64_t
st_profile_statistic_most(const struct st_profile *p, const char *name)
{
	uint64_t most = 0;
	for (size_t i = 0; i < p->statistics.n; i++)
		if (!strcmp(p->statistics.v[i].name, name) && p->statistics.v[i].total > most)
			most = p->statistics.v[i].total;
	return most;
}

static uint64_t
count_of_instructions(const struct st_profile *p)
{
	uint64_t all = 0;
	for (size_t i = 0; i < p->images.n; i++)
		all += p->images.v[i].instructions;
	return all;
}

bool
st_profile_share_is_time(const struct st_profile *p)
{
	return p->run.samples_code >= ST_ENOUGH_SAMPLES ||
	       (p->run.samples_code && !count_of_instructions(p));
}

static double
share_of_all(const struct st_profile *p, uint64_t samples, uint64_t instructions)
{
	if (st_profile_share_is_time(p))
		return (double)samples / (double)p->run.samples_code;
	uint64_t all = count_of_instructions(p);
	return all ? (double)instructions / (double)all : 0;
}

double
st_profile_self_share(const struct st_profile *p, const struct st_profile_function *f)
{
	return share_of_all(p, f->samples, f->instructions);
}

double
st_profile_line_share(const struct st_profile *p, const struct st_profile_line *l)
{
	return share_of_all(p, l->samples, l->instructions);
}

double
st_profile_total_share(const struct st_profile *p, const struct st_profile_function *f)
{
	if (!st_profile_share_is_time(p) || !p->run.stacks)
		return -1;
	double total = (double)f->samples_total / (double)p->run.stacks;
	double self = st_profile_self_share(p, f);
	return total > self ? total : self; /* a few samples may have no stack */
}

double
st_profile_cache_share(const struct st_profile *p)
{
	double cpu = (double)(p->run.cpu_user_ns + p->run.cpu_system_ns);
	return cpu > 0 ? 1 - (double)p->run.native_ns / cpu : 1;
}

const char *
st_profile_state_name(int64_t state)
{
	switch (state) {
	case ST_RUN_STARTING:
		return "ended before its first instruction";
	case ST_RUN_CACHE:
		return "ended without notice";
	case ST_RUN_EXITED:
		return "exited";
	case ST_RUN_EXECED:
		return "replaced itself by execve";
	case ST_RUN_NATIVE:
		return "handed back to native execution";
	case ST_RUN_KILLED:
		return "killed";
	case ST_RUN_GOES_ON:
		return "still running";
	case ST_RUN_DETACHED:
		return "detached";
	default:
		return "unknown";
	}
}

const char *
st_profile_cause_name(int64_t cause)
{
	switch (cause) {
	case ST_FALLBACK_FAR:
		return "far jump, far call, far return or iret";
	case ST_FALLBACK_GS:
		return "the program uses the GS base itself";
	case ST_FALLBACK_INT:
		return "int n or sysenter, a system call that the engine cannot see";
	case ST_FALLBACK_VFORK_CHILD:
		return "a child process between vfork and exec, without --follow";
	case ST_FALLBACK_FORK_CHILD:
		return "a child process after fork, without --follow";
	case ST_FALLBACK_RESOURCES:
		return "no memory or thread slot was left for the engine";
	case ST_FALLBACK_NOEXEC:
		return "a jump to memory that the engine does not know as executable";
	case ST_FALLBACK_SECCOMP:
		return "a seccomp sandbox that forbids what the engine needs";
	case ST_FALLBACK_TRACED:
		return "the process asked its parent to trace it (PTRACE_TRACEME)";
	default:
		return "unknown cause";
	}
}

const char *
st_profile_end_name(uint32_t end)
{
	static const char *const names[] = {"none",          "jump",          "branch", "call",
	                                    "indirect jump", "indirect call", "return", "syscall"};
	return end < sizeof names / sizeof *names ? names[end] : "unknown";
}

bool
st_profile_label_is_pruned(const struct st_profile_label *l)
{
	return l->image == UINT32_MAX && l->offset == ST_LABEL_PRUNED;
}

const char *
st_profile_label_name(const struct st_profile_label *l)
{
	if (l->offset == ST_LABEL_UNKNOWN)
		return "__unknown__";
	if (st_profile_label_kind(l) != ST_STACK_CODE)
		return st_stack_kind_name(st_profile_label_kind(l));
	return st_profile_label_is_pruned(l) ? "__pruned__" : "__root__";
}

size_t
st_profile_became(const struct st_profile *p, size_t i)
{
	size_t next = i + 1;
	if (p->processes.v[i].state != ST_RUN_EXECED)
		return p->processes.n;
	while (next < p->processes.n && p->processes.v[next].pid != p->processes.v[i].pid)
		next++;
	return next;
}

size_t
st_profile_count_processes(const struct st_profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->processes.n; i++)
		n += st_profile_became(p, i) == p->processes.n;
	return n;
}

size_t
st_profile_last_program(const struct st_profile *p)
{
	size_t last = 0;
	for (size_t next; (next = st_profile_became(p, last)) < p->processes.n;)
		last = next;
	return last;
}

bool
st_profile_is_program(const struct st_profile *p, const char *path)
{
	const char *run = p->processes.n     ? p->processes.v[st_profile_last_program(p)].command
	                  : p->run.command.n ? p->run.command.v[0]
	                                     : "";
	return run && *run && !strcmp(st_base_name(run), st_base_name(path));
}
