/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the runtime knows of the program's executable memory: which mappings there are, which can be
 * written, and which of their pages it has write-protected because they hold translated code.
 */
#ifndef STROBE_RT_MAPS_H
#define STROBE_RT_MAPS_H

#include "rt/rt.h"

struct map {
	uint64_t start, end;
	uint32_t index; /* in the results */
	bool writable;  /* as the program asked for */
	bool shared;    /* can change without a write through this mapping */
	bool anonymous; /* code made at run time */
	bool stepped;   /* the kernel's, for uprobes: executed where it is */
};

int maps_init(void);
/* After a fork: reads the mappings again, into new results. */
void maps_restart(void);
/* Reads /proc/self/maps: adds executable memory that is not known yet. False when there was none.
 */
bool maps_refresh(void);
/* Are there as many mappings as the kernel allows a process? */
bool maps_are_full(void);
/* Is there a vsyscall page? */
bool maps_has_vsyscall(void);
/* mlockall for what is mapped now, without the engine's own memory, most of which is not there.
 * -errno on failure. */
long maps_lock_all(bool on_fault);
/* End of the executable memory without a hole that the mapping is the first part of. */
uint64_t maps_run_end(const struct map *map);
/* The executable mapping that holds the address, or NULL. The pointer is valid until maps change.
 */
const struct map *maps_find(uint64_t address);
/* The first that ends after the address, or NULL. */
const struct map *maps_from(uint64_t address);
/* Can any of it be written? */
bool maps_any_writable(void);
/* Another number whenever executable mappings have changed. */
uint32_t maps_version(void);
/* Where the file begins in memory whose code is mapped at the address; 0: nowhere below it. */
uint64_t maps_header(uint64_t address);
/* Is a part of [start, end) executable? */
bool maps_overlap(uint64_t start, uint64_t end);
/* The first piece of the engine's memory that touches [start, end); false: none does. */
bool maps_own_piece(uint64_t start, uint64_t end, uint64_t *from, uint64_t *to);
bool maps_own(uint64_t start, uint64_t len);
/* The program changed memory [start, start + len): called after the system call succeeded, jit lock
 * held. */
void maps_mapped(uint64_t start, uint64_t len, int prot, int flags, int fd, uint64_t pgoff);
void maps_unmapped(uint64_t start, uint64_t len);
void maps_protected(uint64_t start, uint64_t len, int prot);
/* Something about [start, start + len) may have changed: reads what is so now. */
void maps_changed(uint64_t start, uint64_t len);
void maps_moved(uint64_t from, uint64_t old_len, uint64_t to, uint64_t new_len);

/* Write protection of pages with translated code. To be called before that code is read:
 * write-protects the page if it can be written. False when it can change without a write that
 * faults: its code must be checked at each execution. */
bool pages_guard(uint64_t address);
/* May more pages be protected? If not: jit_reset, and pages_release. */
bool pages_have_space(void);
/* Has protection made mappings out of parts of others? */
bool pages_any_splits(void);
bool pages_armed(uint64_t address);
/* A write to address faulted: true when it was ours; code there is dropped and the page is writable
 * again. */
bool pages_written(uint64_t address);
/* Opens every protected page in [start, end), for a system call that is about to write there. */
void pages_open(uint64_t start, uint64_t end);
bool pages_any(void);
/* Has one ever been? */
bool pages_used(void);
/* Opens all pages in [start, end) of executable memory that can be written, and protects them no
 * more: the kernel writes there by itself. Code there is checked at each execution. */
void pages_leave(uint64_t start, uint64_t end);
/* Takes all write protection off, without a word to the jit: nobody will use it any more. */
void pages_release(void);
/* The program itself has set the protection of [start, end): ours is gone there. */
void pages_forget(uint64_t start, uint64_t end);
/* The same, where perhaps it still is protected; what was translated from there is dropped. */
void pages_drop(uint64_t start, uint64_t end);
/* From now on its code is checked at each execution: it writes to its own page. */
void pages_check_from_now(uint64_t address);

#endif
