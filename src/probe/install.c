/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting probes into the images that a process has mapped. No thread executes them while that is
 * done. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/clocks.h"
#include "probe/exits.h"
#include "probe/probes.h"
#include "probe/stub.h"
#include "wire/probe_arena.h"

/* ---- images ---- */

struct mapping {
	uint64_t from, to, file_offset;
	const char *path;
};

static bool
is_same_image(const struct st_probed_image *image, const struct mapping *m)
{
	return !image->gone && image->from == m->from && image->to == m->to &&
	       !strcmp(image->path, m->path);
}

/* Where the kernel, or the dynamic linker, begins to execute the file: there is no return address.
 * 0: not known. */
static uint64_t
first_instruction(const char *path)
{
	Elf64_Ehdr h = {0};
	FILE *f = fopen(path, "re");
	if (f && fread(&h, sizeof h, 1, f) != 1)
		h.e_entry = 0;
	if (f)
		fclose(f);
	return h.e_entry;
}

static bool
is_linker(const struct st_probes *p, const struct st_probed_image *image)
{
	return p->process.linker_stop - image->from < image->to - image->from;
}

static bool
wants_nothing(const struct st_probes *p, const struct st_probed_image *image)
{
	const uint64_t *offsets;
	return p->wanted && !p->points && !is_linker(p, image) &&
	       !p->wanted(p->arg, image, &offsets);
}

/* NULL: it takes no probes, or memory is exhausted. */
static struct st_probed_image *
add_image(struct st_probes *p, const struct mapping *m)
{
	struct st_error e;
	pthread_mutex_lock(&p->lock);
	struct st_probed_image *image = ST_PUSH(&p->images);
	if (image)
		*image = (struct st_probed_image){.probes = p,
		                                  .path = strdup(m->path),
		                                  .from = m->from,
		                                  .to = m->to,
		                                  .file_offset = m->file_offset};
	pthread_mutex_unlock(&p->lock);
	if (!image)
		return NULL;
	image->image = image->path ? st_image_open(m->path, &e) : NULL;
	const uint64_t begin =
	        image->image ? st_image_offset_of_code(image->image, m->file_offset) : UINT64_MAX;
	if (begin == UINT64_MAX)
		return NULL;
	image->bias = m->from - begin;
	image->first = first_instruction(m->path);
	if (p->mapped)
		p->mapped(p->arg, image);
	if (wants_nothing(p, image))
		return NULL;
	image->planner = st_probe_planner_new(image->image);
	if (image->planner && st_probe_is_vdso(image))
		st_probe_planner_admit(image->planner);
	if (image->planner && st_probe_planner_forbids(image->planner))
		st_probing_only_counts(&p->process);
	return image->planner ? image : NULL;
}

/* ---- functions ---- */

static struct st_arena *
arena_near(struct st_probes *p, const struct st_probed_image *image)
{
	const uint64_t reach = (2ull << 30) - (1 << 20);
	for (int i = 0; i < ST_ARENAS; i++) {
		struct st_arena *a = &p->process.arenas[i];
		const uint64_t low = a->at < image->from ? a->at : image->from;
		const uint64_t high =
		        a->at + ST_ARENA_BYTES > image->to ? a->at + ST_ARENA_BYTES : image->to;
		if (high - low < reach && st_arena_has_room(a))
			return a;
	}
	return NULL;
}

static st_status
refuse_probed(struct st_probes *p, const struct st_probed_function *f)
{
	struct st_probed_function *refused = ST_PUSH(&p->refused);
	if (!refused)
		return ST_FAILED;
	*refused = *f;
	return ST_OK;
}

static st_status
refuse_probe(struct st_probes *p, uint32_t image, const struct st_function *f, const char *why)
{
	const struct st_probed_function refused = {image, f->offset, f->name, why, false};
	return refuse_probed(p, &refused);
}

/* The C library's clone, not a function of the program that has its name? */
static bool
makes_threads(const struct st_probed_image *image)
{
	return st_image_defines(image->image, "__libc_start_main");
}

/* A function that was chosen, or has a role, and its site. */
struct wanted {
	const struct st_function *function;
	struct st_probe_action chosen;
	struct st_probe_site site;
};

/* Does a program become another one there, so that it has to be followed? What else of the C
 * library does that calls these. */
static bool
is_followed(const struct st_probes *p, const struct st_probed_image *image,
            const struct st_function *f)
{
	static const char *const names[] = {"execve", "__execve", "execveat", "fexecve"};
	if (!p->process.follows || f->source == ST_SYM_PLT)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == strcspn(f->raw_name, "@") &&
		    !memcmp(f->raw_name, names[i], strlen(names[i])))
			return makes_threads(image);
	return false;
}

/* Returns the action if the program can restrict its system calls by this function of the C
 * library, and calls are recorded, which needs system calls. Otherwise: ST_PROBE_NOTHING. */
static enum st_probe_kind
sandboxes(const struct st_probes *p, const struct st_probed_image *image,
          const struct st_function *f)
{
	const size_t n = strcspn(f->raw_name, "@"); /* its version follows */
	const bool is_general = n == strlen("syscall") && !memcmp(f->raw_name, "syscall", n),
	           is_prctl = n == strlen("prctl") && !memcmp(f->raw_name, "prctl", n);
	if (!p->process.records_calls || f->source == ST_SYM_PLT || !(is_general || is_prctl) ||
	    !makes_threads(image))
		return ST_PROBE_NOTHING;
	return is_general ? ST_PROBE_SYSCALL : ST_PROBE_SANDBOX;
}

/* The role of the function overrules the choice of the user. */
static struct st_probe_action
action_of(const struct st_probes *p, const struct st_probed_image *image, const struct wanted *w)
{
	const struct st_probe_site *site = &w->site;
	const struct st_probe_action chosen = w->chosen;
	if (chosen.kind == ST_PROBE_ALLOC)
		return chosen; /* the return address stays */
	const struct st_probe_action clock = st_probe_clock_action(p, image, w->function);
	if (clock.kind)
		return clock;
	if (is_followed(p, image, w->function))
		return (struct st_probe_action){.kind = ST_PROBE_EXEC, .amount = chosen.kind != 0};
	const enum st_probe_kind sandbox =
	        chosen.kind ? ST_PROBE_NOTHING : sandboxes(p, image, w->function);
	if (sandbox)
		return (struct st_probe_action){.kind = sandbox};
	switch (site->role.role) {
	case ST_ROLE_UNWINDER:
		return (struct st_probe_action){.kind = ST_PROBE_UNWIND};
	case ST_ROLE_LANDING:
		return (struct st_probe_action){.kind = ST_PROBE_LAND};
	case ST_ROLE_CLONE:
		if (makes_threads(image))
			return (struct st_probe_action){.kind = ST_PROBE_CLONE,
			                                .amount = chosen.kind != 0};
		return (struct st_probe_action){.kind = ST_PROBE_COUNT};
	case ST_ROLE_COUNT:
		return (struct st_probe_action){.kind = ST_PROBE_COUNT};
	default:
		return chosen;
	}
}

static bool
has_role(const struct st_probes *p, const struct st_probed_image *image,
         const struct st_function *f)
{
	if (is_followed(p, image, f) || sandboxes(p, image, f) ||
	    st_probe_clock_action(p, image, f).kind)
		return true;
	const enum st_probe_role role = st_probe_role(f->raw_name).role;
	return f->source != ST_SYM_PLT && (role == ST_ROLE_UNWINDER || role == ST_ROLE_LANDING ||
	                                   (role == ST_ROLE_CLONE && makes_threads(image)));
}

/* Of the function that was added last. */
static struct st_patch
patch_of(const struct st_probes *p, uint64_t at, const uint8_t *bytes, uint8_t n)
{
	struct st_patch patch = {.at = at, .n = n, .function = (uint32_t)p->functions.n - 1};
	memcpy(patch.is, bytes, n);
	return patch;
}

static struct st_probe_where
where_of(const struct st_probed_image *image, const struct st_arena *arena, uint32_t index)
{
	return (struct st_probe_where){.bias = image->bias,
	                               .stub = arena->at + arena->used,
	                               .slot = arena->at + ST_ARENA_ENTRY,
	                               .index = index};
}

/* The stub first, the program's own bytes last. island 0: there is none. */
static bool
write_stub(struct st_probes *p, struct st_arena *arena, const struct st_probe_stub *stub,
           uint64_t at, uint64_t island)
{
	struct st_probing *to = &p->process;
	struct st_patch patch = patch_of(p, at, stub->patch, stub->patched);
	const struct st_patch jump = patch_of(p, island, stub->island, sizeof stub->island);
	patch.stub = arena->at + arena->used;
	patch.n_insns = stub->insns;
	for (uint8_t i = 0; i < stub->insns; i++) {
		patch.insns[i].from = stub->map[i].from;
		patch.insns[i].to = stub->map[i].to;
	}
	if (!st_probing_write(to, patch.stub, stub->bytes, stub->size) ||
	    (island && !st_probing_patch(to, &jump)) || !st_probing_patch(to, &patch))
		return false;
	arena->used += (stub->size + ST_ARENA_ALIGN - 1u) & ~(ST_ARENA_ALIGN - 1u);
	return true;
}

/* NULL, or why it could not be done. */
static const char *
write_probe(struct st_probes *p, const struct st_probed_image *image,
            const struct st_probe_site *site, struct st_probe_action action)
{
	struct st_arena *arena = arena_near(p, image);
	struct st_probe_stub stub;
	const uint32_t index = (uint32_t)p->functions.n - 1;
	if (!arena)
		return "there is no free memory within 2 GiB of its code";
	if (index >= ST_PROBE_MOST)
		return "there are more functions than can have probes";
	struct st_probe_where where = where_of(image, arena, index);
	if (action.kind == ST_PROBE_READ || action.kind == ST_PROBE_RECORD ||
	    action.kind == ST_PROBE_LOCK || action.kind == ST_PROBE_CREATE ||
	    action.kind == ST_PROBE_SANDBOX || action.kind == ST_PROBE_SYSCALL)
		where.slot = arena->at + ST_ARENA_READ;
	if (action.kind == ST_PROBE_PATCHED)
		where.returns = arena->at + ST_ARENA_RETURN;
	if (action.kind == ST_PROBE_ALLOC)
		where.slot = arena->at + ST_ARENA_ALLOC;
	if (action.kind == ST_PROBE_POINT)
		where.slot = arena->at + ST_ARENA_POINT;
	if (action.kind == ST_PROBE_DEADLINE)
		where.slot = arena->at + ST_ARENA_DEADLINE;
	if (action.kind == ST_PROBE_CLOCK) {
		where.slot = arena->at + ST_ARENA_CLOCK;
		where.index = action.amount;
		where.answers = true;
	}
	if (st_probe_stub(site, &where, &stub))
		return "what its first instructions refer to is out of reach of any free memory";
	p->process.area->actions[index] = action;
	if (action.kind == ST_PROBE_CLOCK && action.amount == ST_CLOCK_GETTIME &&
	    !st_probing_tell_clock(&p->process, where.stub + ST_PROBE_STUB_REST))
		return "its memory cannot be written";
	return write_stub(p, arena, &stub, image->bias + site->at,
	                  site->way == ST_PROBE_ISLAND ? image->bias + site->island : 0)
	               ? NULL
	               : "its memory cannot be written";
}

/* The exits of the last function. */
static const char *
write_exits(struct st_probes *p, const struct st_probed_image *image,
            const struct st_probe_exits *exits)
{
	for (size_t i = 0; i < exits->list.n; i++) {
		const struct st_probe_exit *exit = &exits->list.v[i];
		struct st_arena *arena = arena_near(p, image);
		struct st_probe_stub stub;
		if (!arena)
			return "there is no free memory within 2 GiB of its code";
		struct st_probe_where where = where_of(image, arena, (uint32_t)p->functions.n - 1);
		where.returns = arena->at + ST_ARENA_RETURN;
		if (st_probe_exit_stub(exit, &where, &stub))
			return "what one of its exits refers to is out of reach of any free memory";
		if (!write_stub(p, arena, &stub, image->bias + exit->at,
		                exit->way == ST_PROBE_ISLAND ? image->bias + exit->island : 0))
			return "its memory cannot be written";
	}
	return NULL;
}

/* Its return address is to stay: its exits are patched, or it is only counted, and *why says why.
 */
static struct st_probe_action
patch_exits(struct st_probes *p, const struct st_probed_image *image, struct wanted *w,
            const char **why)
{
	struct st_probe_exits exits = {0};
	struct st_probe_action action = {.kind = ST_PROBE_COUNT};
	st_probe_find_exits(image->planner, w->function, &w->site, &exits);
	*why = exits.refusal ? st_probe_exits_text(&exits) : write_exits(p, image, &exits);
	if (!*why)
		action = (struct st_probe_action){ST_PROBE_PATCHED, w->chosen.amount};
	free(exits.list.v);
	return action;
}

/* Does an image, or a runtime of the process, read return addresses by itself? */
static bool
keeps_address(const struct st_probes *p, const struct wanted *w)
{
	const enum st_probe_role by_name = st_probe_role(w->function->raw_name).role;
	return w->chosen.kind == ST_PROBE_TIME && by_name == ST_ROLE_NORMAL &&
	       (w->site.role.role == ST_ROLE_COUNT || p->process.area->only_counts);
}

/* Adds a function to the list. It must be there before its probe can be hit. */
static st_status
add_function(struct st_probes *p, const struct st_probed_function *f)
{
	pthread_mutex_lock(&p->lock);
	struct st_probed_function *probed = ST_PUSH(&p->functions);
	if (probed)
		*probed = *f;
	pthread_mutex_unlock(&p->lock);
	return probed ? ST_OK : ST_FAILED;
}

static bool
acts_after(const struct st_probe_action *a)
{
	return a->kind == ST_PROBE_WAIT_AFTER || a->kind == ST_PROBE_SLEEP_AFTER ||
	       a->kind == ST_PROBE_RECORD || a->kind == ST_PROBE_TALLY ||
	       a->kind == ST_PROBE_LOCK || a->kind == ST_PROBE_SYSCALL;
}

/* The function that was added last has its probe. */
static void
tell_of_installed(struct st_probes *p)
{
	p->process.area->n_functions = (uint32_t)p->functions.n;
	if (p->installed)
		p->installed(p->arg, (uint32_t)p->functions.n - 1);
}

static st_status
add_probe(struct st_probes *p, uint32_t at, struct wanted *w)
{
	const struct st_probed_image *image = &p->images.v[at];
	const char *why = w->site.refusal ? st_probe_refusal_text(&w->site) : NULL, *counted = NULL;
	struct st_probe_action action = action_of(p, image, w);
	const bool is_clock = action.kind == ST_PROBE_CLOCK || action.kind == ST_PROBE_DEADLINE;
	if (is_clock && w->chosen.kind)
		counted = "its deadline is translated, so it is not measured";
	if (w->function->offset == image->first)
		why = "nobody calls it: the program begins there";
	if ((action.kind == ST_PROBE_COUNT && w->chosen.kind != ST_PROBE_COUNT) ||
	    (action.kind == ST_PROBE_CLONE && action.amount))
		counted = w->site.role.why;
	if (action.kind == ST_PROBE_EXEC && action.amount)
		counted = "it does not return";
	const struct st_probed_function probed = {at, w->function->offset, w->function->name, NULL,
	                                          false};
	if (add_function(p, &probed))
		return ST_FAILED;
	if (acts_after(&w->chosen) && p->process.area->only_counts)
		counted = "its return address stays, so nothing can be done when it returns";
	if (!why && action.kind != ST_PROBE_EXEC && !is_clock && keeps_address(p, w))
		action = patch_exits(p, image, w, &counted);
	if (!why)
		why = write_probe(p, image, &w->site, action);
	if (why && action.kind == ST_PROBE_UNWIND)
		st_probing_only_counts(&p->process);
	if (why) {
		p->functions.n--;
		return w->chosen.kind ? refuse_probe(p, at, w->function, why) : ST_OK;
	}
	p->functions.v[p->functions.n - 1].refused = counted;
	tell_of_installed(p);
	return ST_OK;
}

/* ---- points within functions ---- */

static st_status
install_point(struct st_probes *p, uint32_t at, const struct st_wanted_point *wanted)
{
	const struct st_probed_image *image = &p->images.v[at];
	const struct st_function *f = st_image_function(image->image, wanted->at);
	struct st_probed_function probed = {at, wanted->at, f ? f->name : "?", NULL, true};
	struct st_probe_site site = {.refusal = ST_REFUSAL_MIDDLE};
	if (f)
		st_probe_judge_point(image->planner, f, wanted->at, &site);
	probed.refused = site.refusal ? st_probe_refusal_text(&site) : NULL;
	if (f && f->offset == image->first)
		probed.refused = "the program begins there, before it has a thread pointer";
	if (!probed.refused && add_function(p, &probed))
		return ST_FAILED;
	if (!probed.refused) {
		probed.refused = write_probe(p, image, &site, wanted->action);
		p->functions.n -= probed.refused != NULL;
	}
	if (probed.refused)
		return refuse_probed(p, &probed);
	tell_of_installed(p);
	return ST_OK;
}

static st_status
install_points(struct st_probes *p, uint32_t at)
{
	struct st_wanted_points wanted = {0};
	st_status status = p->points ? p->points(p->arg, &p->images.v[at], &wanted) : ST_OK;
	for (size_t i = 0; i < wanted.list.n && !status; i++)
		status = install_point(p, at, &wanted.list.v[i]);
	free(wanted.list.v);
	return status;
}

static st_status
refuse_linker(struct st_probes *p, uint32_t at)
{
	size_t n;
	const struct st_probed_image *image = &p->images.v[at];
	const struct st_probe_site site = {.refusal = ST_REFUSAL_LINKER};
	const struct st_function *f = st_image_functions(image->image, &n);
	st_status status = ST_OK;
	for (size_t i = 0; f && i < n && !status; i++)
		if (p->choose(p->arg, image, &f[i]).kind)
			status = refuse_probe(p, at, &f[i], st_probe_refusal_text(&site));
	return status;
}

/* Of the linker only the function by which it tells of changes. */
static st_status
probe_linker(struct st_probes *p, uint32_t at)
{
	const struct st_probed_image *image = &p->images.v[at];
	struct wanted w = {
	        .function = st_image_function(image->image, p->process.linker_stop - image->bias),
	        .chosen = {.kind = ST_PROBE_LIBRARY}};
	if (!w.function)
		return ST_OK;
	st_probe_judge(image->planner, w.function, &w.site);
	return add_probe(p, at, &w);
}

struct wanted_list {
	ST_VEC(struct wanted) list;
};

static st_status
want_function(struct st_probes *p, const struct st_probed_image *image, const struct st_function *f,
              struct wanted_list *to)
{
	const bool is_kernels = st_probe_is_vdso(image);
	const struct st_probe_action action =
	        is_kernels ? (struct st_probe_action){ST_PROBE_NOTHING, 0}
	                   : p->choose(p->arg, image, f);
	if (!action.kind && !has_role(p, image, f))
		return ST_OK;
	struct wanted *w = ST_PUSH(&to->list);
	if (!w)
		return ST_FAILED;
	w->function = f;
	w->chosen = action;
	st_probe_judge(image->planner, f, &w->site);
	return ST_OK;
}

/* Where only some are wanted, the others need not even have names. */
static st_status
want_functions(struct st_probes *p, const struct st_probed_image *image, struct wanted_list *to)
{
	const uint64_t *offsets = NULL;
	size_t n = p->wanted ? p->wanted(p->arg, image, &offsets) : 0;
	const struct st_function *f = p->wanted ? NULL : st_image_functions(image->image, &n);
	st_status status = ST_OK;
	for (size_t i = 0; i < n && (f || offsets) && !status; i++) {
		const struct st_function *one =
		        f ? &f[i] : st_image_function(image->image, offsets[i]);
		if (one)
			status = want_function(p, image, one, to);
	}
	return status;
}

/* All entries are judged before any exit is looked for: both need padding. */
static st_status
probe_image(struct st_probes *p, uint32_t at)
{
	struct st_probed_image *image = &p->images.v[at];
	struct wanted_list wanted = {0};
	if (is_linker(p, image))
		return !p->wanted && refuse_linker(p, at) ? ST_FAILED : probe_linker(p, at);
	st_status status = want_functions(p, image, &wanted);
	for (size_t i = 0; i < wanted.list.n && !status; i++)
		status = add_probe(p, at, &wanted.list.v[i]);
	free(wanted.list.v);
	return status ? status : install_points(p, at);
}

/* ---- all that is mapped ---- */

/* A line of /proc/PID/maps that is about code of a file, or, if clocks are to have probes, of the
 * vDSO; the path ends where the line does. */
static bool
parse_mapping(char *line, bool clocks, struct mapping *m)
{
	char access[8];
	int path = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->from, &m->to,
	           access, &m->file_offset, &path) < 4 ||
	    access[2] != 'x' || !path)
		return false;
	m->path = line + path;
	return line[path] == '/' || (clocks && !strcmp(m->path, ST_PROBE_VDSO_PATH));
}

static st_status
look_at_mapping(struct st_probes *p, const struct mapping *m, size_t n_old, bool *seen)
{
	for (size_t i = 0; i < n_old; i++)
		if (is_same_image(&p->images.v[i], m)) {
			seen[i] = true;
			return ST_OK;
		}
	return add_image(p, m) ? probe_image(p, (uint32_t)p->images.n - 1) : ST_OK;
}

st_status
st_probes_install(void *probes, struct st_error *e)
{
	struct st_probes *p = probes;
	pthread_mutex_t *lock = p->root ? &p->root->installing : &p->installing;
	char path[64], line[4352];
	pthread_mutex_lock(lock);
	const size_t n_old = p->images.n;
	bool *seen = calloc(n_old + 1, 1);
	snprintf(path, sizeof path, "/proc/%d/maps", p->process.pid);
	FILE *f = fopen(path, "re");
	st_status status = f && seen ? ST_OK : ST_FAILED;
	while (!status && fgets(line, sizeof line, f)) {
		struct mapping m;
		if (parse_mapping(line, p->process.hides_pauses, &m))
			status = look_at_mapping(p, &m, n_old, seen);
	}
	for (size_t i = 0; !status && i < n_old; i++)
		p->images.v[i].gone |= !seen[i];
	if (f)
		fclose(f);
	free(seen);
	pthread_mutex_unlock(lock);
	return status ? st_fail(e, ST_EXIT_FAILED,
	                        "cannot put probes into process %d: out of memory", p->process.pid)
	              : ST_OK;
}
