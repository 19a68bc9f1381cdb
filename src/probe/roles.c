/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/roles.h"

#include <stdlib.h>
#include <string.h>

static const char caller[] = "it asks by its return address who has called it";
static const char twice[] = "it returns twice";
static const char saves[] = "it saves its return address for later";
static const char never[] = "it does not return";
static const char walks[] = "it reads the return addresses of its callers";
static const char begins[] = "it is not called, a process or a thread begins with it";
static const char goroutines[] = "goroutines return to its second byte";

/* In the order of strcmp. What glibc, musl, libgcc, LLVM's and GNU's libunwind, and the known
 * libraries of coroutines have. */
static const struct named {
	const char *name;
	struct st_probe_role_of role;
} names[] = {
        {"_ULx86_64_init_local", {ST_ROLE_UNWINDER, walks}},
        {"_ULx86_64_init_local2", {ST_ROLE_UNWINDER, walks}},
        {"_ULx86_64_resume", {ST_ROLE_COUNT, never}},
        {"_ULx86_64_step", {ST_ROLE_UNWINDER, walks}},
        {"_ULx86_64_tdep_trace", {ST_ROLE_UNWINDER, walks}},
        {"_Unwind_Backtrace", {ST_ROLE_UNWINDER, walks}},
        {"_Unwind_ForcedUnwind", {ST_ROLE_UNWINDER, walks}},
        {"_Unwind_RaiseException", {ST_ROLE_UNWINDER, walks}},
        {"_Unwind_Resume", {ST_ROLE_UNWINDER, walks}},
        {"_Unwind_Resume_or_Rethrow", {ST_ROLE_UNWINDER, walks}},
        {"_Ux86_64_getcontext", {ST_ROLE_COUNT, saves}},
        {"_Ux86_64_getcontext_trace", {ST_ROLE_COUNT, saves}},
        {"_Ux86_64_init_local", {ST_ROLE_UNWINDER, walks}},
        {"_Ux86_64_setcontext", {ST_ROLE_COUNT, never}},
        {"_Ux86_64_step", {ST_ROLE_UNWINDER, walks}},
        {"____longjmp_chk", {ST_ROLE_COUNT, never}},
        {"__clone", {ST_ROLE_CLONE, twice}},
        {"__clone2", {ST_ROLE_COUNT, twice}},
        {"__clone3", {ST_ROLE_COUNT, twice}},
        {"__cxa_begin_catch", {ST_ROLE_LANDING, NULL}},
        {"__dl_iterate_phdr", {ST_ROLE_COUNT, caller}},
        {"__dlmopen", {ST_ROLE_COUNT, caller}},
        {"__dlopen", {ST_ROLE_COUNT, caller}},
        {"__dlsym", {ST_ROLE_COUNT, caller}},
        {"__dlvsym", {ST_ROLE_COUNT, caller}},
        {"__fentry__", {ST_ROLE_COUNT, caller}},
        {"__gdc_begin_catch", {ST_ROLE_LANDING, NULL}},
        {"__getcontext", {ST_ROLE_COUNT, saves}},
        {"__gnat_begin_handler", {ST_ROLE_LANDING, NULL}},
        {"__gnat_begin_handler_v1", {ST_ROLE_LANDING, NULL}},
        {"__libc_dlopen_mode", {ST_ROLE_COUNT, caller}},
        {"__libc_longjmp", {ST_ROLE_COUNT, never}},
        {"__libc_siglongjmp", {ST_ROLE_COUNT, never}},
        {"__libc_unwind_longjmp", {ST_ROLE_COUNT, never}},
        {"__libc_vfork", {ST_ROLE_COUNT, twice}},
        {"__longjmp", {ST_ROLE_COUNT, never}},
        {"__longjmp_chk", {ST_ROLE_COUNT, never}},
        {"__mcount_internal", {ST_ROLE_COUNT, caller}},
        {"__morestack", {ST_ROLE_COUNT, "it does not follow the calling convention"}},
        {"__restore", {ST_ROLE_REFUSED, "unwinders know it by its bytes"}},
        {"__restore_rt", {ST_ROLE_REFUSED, "unwinders know it by its bytes"}},
        {"__rust_panic_cleanup", {ST_ROLE_LANDING, NULL}},
        {"__setcontext", {ST_ROLE_COUNT, never}},
        {"__setjmp", {ST_ROLE_COUNT, twice}},
        {"__sigsetjmp", {ST_ROLE_COUNT, twice}},
        {"__start_context", {ST_ROLE_COUNT, begins}},
        {"__swapcontext", {ST_ROLE_COUNT, saves}},
        {"__vfork", {ST_ROLE_COUNT, twice}},
        {"_dl_debug_state", {ST_ROLE_LINKER, NULL}},
        {"_longjmp", {ST_ROLE_COUNT, never}},
        {"_mcount", {ST_ROLE_COUNT, caller}},
        {"_setjmp", {ST_ROLE_COUNT, twice}},
        {"_start", {ST_ROLE_COUNT, begins}},
        {"_start_context", {ST_ROLE_COUNT, begins}},
        {"clone", {ST_ROLE_CLONE, twice}},
        {"clone3", {ST_ROLE_COUNT, twice}},
        {"co_switch", {ST_ROLE_COUNT, saves}},
        {"coro_transfer", {ST_ROLE_COUNT, saves}},
        {"coroutine_transfer", {ST_ROLE_COUNT, saves}},
        {"dl_iterate_phdr", {ST_ROLE_COUNT, caller}},
        {"dlmopen", {ST_ROLE_COUNT, caller}},
        {"dlopen", {ST_ROLE_COUNT, caller}},
        {"dlsym", {ST_ROLE_COUNT, caller}},
        {"dlvsym", {ST_ROLE_COUNT, caller}},
        {"getcontext", {ST_ROLE_COUNT, saves}},
        {"jump_fcontext", {ST_ROLE_COUNT, saves}},
        {"longjmp", {ST_ROLE_COUNT, never}},
        {"make_fcontext", {ST_ROLE_COUNT, "coroutines begin in the middle of it"}},
        {"mcount", {ST_ROLE_COUNT, caller}},
        {"objc_begin_catch", {ST_ROLE_LANDING, NULL}},
        {"ontop_fcontext", {ST_ROLE_COUNT, saves}},
        {"runtime.goexit", {ST_ROLE_REFUSED, goroutines}},
        {"runtime.goexit.abi0", {ST_ROLE_REFUSED, goroutines}},
        {"savectx", {ST_ROLE_COUNT, twice}},
        {"setcontext", {ST_ROLE_COUNT, never}},
        {"setjmp", {ST_ROLE_COUNT, twice}},
        {"siglongjmp", {ST_ROLE_COUNT, never}},
        {"sigsetjmp", {ST_ROLE_COUNT, twice}},
        {"slp_switch", {ST_ROLE_COUNT, saves}},
        {"start_context", {ST_ROLE_COUNT, begins}},
        {"swapcontext", {ST_ROLE_COUNT, saves}},
        {"unw_getcontext", {ST_ROLE_COUNT, saves}},
        {"unw_init_local", {ST_ROLE_UNWINDER, walks}},
        {"unw_resume", {ST_ROLE_COUNT, never}},
        {"unw_step", {ST_ROLE_UNWINDER, walks}},
        {"uw_init_context_1", {ST_ROLE_UNWINDER, walks}},
        {"vfork", {ST_ROLE_COUNT, twice}},
};

static int
compare_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct named *)element)->name);
}

struct st_probe_role_of
st_probe_role(const char *raw_name)
{
	char name[32];
	size_t n = strcspn(raw_name, "@");
	if (n >= sizeof name)
		return (struct st_probe_role_of){ST_ROLE_NORMAL, NULL};
	memcpy(name, raw_name, n);
	name[n] = 0;
	const struct named *found =
	        bsearch(name, names, sizeof names / sizeof *names, sizeof *names, compare_name);
	return found ? found->role : (struct st_probe_role_of){ST_ROLE_NORMAL, NULL};
}

/* Runtimes that walk stacks on their own, by what of them is in an image. */
static const struct walker {
	const char *symbol, *section, *file; /* NULL: says nothing; file: how its name begins */
	bool process;                        /* it walks over frames of other images, too */
	const char *why;
} walkers[] = {
        {"caml_start_program", NULL, NULL, false,
         "OCaml's garbage collector reads return addresses"},
        {"caml_call_gc", NULL, NULL, false, "OCaml's garbage collector reads return addresses"},
        {"_ZN2v87Isolate3NewERKNS0_12CreateParamsE", NULL, NULL, true,
         "V8's garbage collector reads return addresses"},
        {"JNI_CreateJavaVM", NULL, "libjvm.so", false,
         "the Java virtual machine reads return addresses"},
        {"coreclr_initialize", NULL, NULL, true, ".NET's runtime reads return addresses"},
        {"mono_gc_collect", NULL, NULL, true, "Mono's runtime reads return addresses"},
        {"PyInit__greenlet", NULL, NULL, true, "greenlets move parts of the stack away and back"},
        {"__morestack", NULL, NULL, false, "its stack is split, and moved by return addresses"},
        {NULL, NULL, "libgcc_s.so", false, "it is part of the unwinder"},
        {NULL, NULL, "libunwind", false, "it is part of the unwinder"},
};

static bool
is_walker(struct st_image *image, const struct walker *w)
{
	const char *path = st_image_path(image), *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	return (w->symbol && st_image_defines(image, w->symbol)) ||
	       (w->section && st_image_has_section(image, w->section)) ||
	       (w->file && !strncmp(name, w->file, strlen(w->file)));
}

static bool
is_of_unwinding(const char *symbol)
{
	return !strncmp(symbol, "_Unwind_", 8) || !strcmp(symbol, "__cxa_begin_catch") ||
	       !strcmp(symbol, "__cxa_throw") || !strcmp(symbol, "__cxa_rethrow");
}

/* Exceptions are handled, but who unwinds is neither imported nor known by name: it is in the
 * image, and there is no telling where. The C library has loaded it itself. */
static bool
hides_unwinder(struct st_image *image)
{
	size_t n;
	const struct st_slot *slots = st_image_slots(image, &n);
	if (!st_image_has_section(image, ".gcc_except_table") ||
	    st_image_defines(image, "_Unwind_RaiseException") ||
	    st_image_defines(image, "__libc_start_main"))
		return false;
	for (size_t i = 0; i < n; i++)
		if (is_of_unwinding(slots[i].symbol))
			return false;
	return true;
}

bool
st_probe_is_go(struct st_image *image)
{
	/* Linkers put the first two into other sections, and the others can be left out. */
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab",
	                                       ".go.buildinfo", ".note.go.buildid"};
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (st_image_has_section(image, sections[i]))
			return true;
	return st_image_defines(image, "runtime.morestack");
}

struct st_probe_role_of
st_probe_image_role(struct st_image *image, bool *process)
{
	*process = false;
	if (st_probe_is_go(image))
		return (struct st_probe_role_of){
		        ST_ROLE_COUNT, "Go's runtime reads return addresses, and moves stacks"};
	for (size_t i = 0; i < sizeof walkers / sizeof *walkers; i++) {
		if (!is_walker(image, &walkers[i]))
			continue;
		*process = walkers[i].process;
		return (struct st_probe_role_of){ST_ROLE_COUNT, walkers[i].why};
	}
	if (hides_unwinder(image))
		return (struct st_probe_role_of){
		        ST_ROLE_COUNT, "an unwinder is in its file, and no name says where"};
	return (struct st_probe_role_of){ST_ROLE_NORMAL, NULL};
}
