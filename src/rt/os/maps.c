/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's executable mappings. */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "rt/jit/jit.h"
#include "rt/maps.h"
#include "rt/tool/callbacks.h"

/* Mappings of code. A fork's child that goes on natively keeps the table, within its limits on
 * memory.
 */
enum { MAX_LIVE_MAPS = 1 << 14 };

static struct map *live; /* sorted by start, disjoint */
static uint32_t n_live, last_hit, version;

int
maps_init(void)
{
	live = rt_map_memory(MAX_LIVE_MAPS * sizeof *live);
	if (!live)
		return -1;
	maps_refresh();
	return 0;
}

void
maps_restart(void)
{
	pages_release(); /* else protected pages are taken for ones that cannot be written */
	n_live = last_hit = 0;
	maps_refresh();
}

/* The first that ends after the address; n_live: none does. */
static uint32_t
first_after(uint64_t address)
{
	uint32_t low = 0, high = n_live;
	while (low < high) {
		uint32_t mid = (low + high) / 2;
		if (live[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct map *
maps_from(uint64_t address)
{
	uint32_t i = first_after(address);
	return i < n_live ? &live[i] : NULL;
}

const struct map *
maps_find(uint64_t address)
{
	if (last_hit < n_live &&
	    address - live[last_hit].start < live[last_hit].end - live[last_hit].start)
		return &live[last_hit];
	uint32_t i = first_after(address);
	if (i == n_live || live[i].start > address)
		return NULL;
	last_hit = i;
	return &live[i];
}

uint32_t
maps_version(void)
{
	return version;
}

bool
maps_any_writable(void)
{
	static uint32_t known;
	static bool any;
	if (known == version)
		return any;
	any = false;
	for (uint32_t i = 0; i < n_live; i++)
		any |= live[i].writable;
	known = version;
	return any;
}

bool
maps_overlap(uint64_t start, uint64_t end)
{
	uint32_t i = first_after(start);
	return i < n_live && live[i].start < end;
}

static void
insert_at(uint32_t i, struct map m)
{
	static bool complained;
	if (n_live == MAX_LIVE_MAPS) {
		if (!complained)
			rt_complain(
			        "executable memory is not measured: it is in too many parts, at",
			        m.start);
		complained = true;
		return;
	}
	version++;
	for (uint32_t k = n_live; k > i; k--)
		live[k] = live[k - 1];
	live[i] = m;
	n_live++;
}

static void
insert(struct map m)
{
	uint32_t i = 0;
	while (i < n_live && live[i].start < m.start)
		i++;
	insert_at(i, m);
}

/* Forgets what is known of [start, end). */
static void
carve(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < n_live;) {
		struct map *m = &live[i];
		if (m->end <= start || m->start >= end) {
			i++;
			continue;
		}
		version++;
		struct map right = *m;
		if (m->start >= start && m->end <= end) {
			for (uint32_t k = i; k + 1 < n_live; k++)
				live[k] = live[k + 1];
			n_live--;
			continue;
		}
		if (m->start < start) {
			m->end = start;
			if (right.end > end) {
				right.start = end;
				insert_at(i + 1, right);
			}
		} else {
			m->start = end;
		}
		i++;
	}
}

/* A record of the results that already describes the range, so that memory that comes and goes
 * executable keeps its name; n_maps when there is none. */
static uint32_t
find_record(uint64_t start, uint64_t end)
{
	const struct st_results_header *r = rt.results;
	const struct st_map *maps = (const void *)((const char *)r + r->layout.off_maps);
	for (uint32_t i = r->maps.n, k = 0; i-- > 0 && k < 256; k++)
		if (maps[i].start <= start && maps[i].end >= end && !(maps[i].flags & ST_MAP_GONE))
			return i;
	return r->maps.n;
}

static uint32_t
add_map_record(struct st_map m, const char *path)
{
	struct st_results_header *r = rt.results;
	struct st_map *maps = (void *)((char *)r + r->layout.off_maps);
	if (r->maps.n == ST_MAX_MAPS)
		return ST_MAX_MAPS - 1;
	if (path[0])
		m.path = text_add(path);
	maps[r->maps.n] = m;
	__atomic_store_n(&r->maps.n, r->maps.n + 1, __ATOMIC_RELEASE);
	if (path[0])
		callback_image(true, path, m.start, m.end, m.pgoff);
	return r->maps.n - 1;
}

static bool
overlap(uint64_t start, uint64_t len, uint64_t from, uint64_t bytes)
{
	return start < from + bytes && start + len > from;
}

bool
maps_own_piece(uint64_t start, uint64_t end, uint64_t *from, uint64_t *to)
{
	const uint64_t fixed[][2] = {
	        {rt.target.area, ST_AREA_SIZE},
	        {rt.lookup, ST_LOOKUP_MAPPED},
	        {rt.alias, ST_CACHE_SIZE},
	        {(uint64_t)rt.results, rt.results->layout.file_size},
	};
	bool found = rt_first_memory(start, end, from, to);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		uint64_t at = fixed[i][0];
		if (!overlap(start, end - start, at, fixed[i][1]) || (found && at >= *from))
			continue;
		*from = at;
		*to = at + ((fixed[i][1] + 4095) & ~4095ull);
		found = true;
	}
	return found;
}

bool
maps_own(uint64_t start, uint64_t len)
{
	uint64_t from, to;
	return start + len > start && maps_own_piece(start, start + len, &from, &to);
}

/* One line of /proc/thread-self/maps: /proc/self has none when the first thread has ended. */
struct line {
	uint64_t start, end, pgoff, dev, ino;
	bool x, w, shared;
	char path[ST_MOST_PATH];
};

static const char *
parse_number(const char *p, unsigned base, uint64_t *out)
{
	uint64_t v = 0;
	for (;; p++) {
		unsigned c = (unsigned char)*p, d;
		if (c >= '0' && c <= '9')
			d = c - '0';
		else if (c >= 'a' && c <= 'f')
			d = c - 'a' + 10;
		else
			break;
		if (d >= base)
			break;
		v = v * base + d;
	}
	*out = v;
	return p;
}

static void
parse_line(const char *p, struct line *l)
{
	uint64_t minor;
	p = parse_number(p, 16, &l->start);
	p = parse_number(p + 1, 16, &l->end);
	l->w = p[2] == 'w';
	l->x = p[3] == 'x';
	l->shared = p[4] == 's';
	p = parse_number(p + 6, 16, &l->pgoff);
	p = parse_number(p + 1, 16, &l->dev);
	p = parse_number(p + 1, 16, &minor);
	l->dev = l->dev << 8 | minor;
	p = parse_number(p + 1, 10, &l->ino);
	while (*p == ' ')
		p++;
	size_t n = 0;
	while (*p && *p != '\n' && n < sizeof l->path - 1)
		l->path[n++] = *p++;
	l->path[n] = 0;
}

static bool
learn(const struct line *l)
{
	if (!l->x || maps_own(l->start, 1) || l->start >> 47)
		return false;
	const struct map *known = maps_find(l->start);
	if (known && known->end >= l->end)
		return false;
	bool anonymous = l->ino == 0 && memcmp(l->path, "[vdso]", 6) != 0;
	bool writable = l->w || pages_armed(l->start);
	carve(l->start, l->end);
	struct map m = {.start = l->start,
	                .end = l->end,
	                .writable = writable,
	                .shared = l->shared && l->w,
	                .anonymous = anonymous,
	                .stepped = memcmp(l->path, "[uprobes", 8) == 0};
	m.index = find_record(l->start, l->end);
	if (m.index == rt.results->maps.n)
		m.index = add_map_record((struct st_map){.start = l->start,
		                                         .end = l->end,
		                                         .pgoff = l->pgoff,
		                                         .dev = l->dev,
		                                         .ino = l->ino,
		                                         .flags = writable ? ST_MAP_WRITABLE : 0},
		                         anonymous ? "" : l->path);
	insert(m);
	return true;
}

/* Calls f for every line of it; false when it cannot be read. */
static bool
for_each_line(void (*f)(const struct line *l, void *arg), void *arg)
{
	static char buffer[65536];
	static struct line l;
	int fd = (int)SYS(__NR_open, "/proc/thread-self/maps", 0x80000 /* O_CLOEXEC */);
	if (fd < 0)
		return false;
	size_t have = 0;
	for (;;) {
		long n = SYS(__NR_read, fd, buffer + have, sizeof buffer - 1 - have);
		if (n <= 0)
			break;
		have += (size_t)n;
		buffer[have] = 0;
		size_t begin = 0;
		for (size_t i = 0; i < have; i++) {
			if (buffer[i] != '\n')
				continue;
			parse_line(buffer + begin, &l);
			f(&l, arg);
			begin = i + 1;
		}
		for (size_t i = begin; i < have; i++)
			buffer[i - begin] = buffer[i];
		have -= begin;
	}
	SYS(__NR_close, fd);
	return true;
}

static void
learn_line(const struct line *l, void *found)
{
	*(bool *)found |= learn(l);
}

bool
maps_refresh(void)
{
	bool found = false;
	for_each_line(learn_line, &found);
	return found;
}

static void
count_line(const struct line *l, void *n)
{
	(void)l;
	++*(uint64_t *)n;
}

bool
maps_are_full(void)
{
	enum { USUAL = 65530, NEAR = 16 };
	char text[16] = "";
	uint64_t most = USUAL, n = 0;
	int fd = (int)SYS(__NR_open, "/proc/sys/vm/max_map_count", 0x80000 /* O_CLOEXEC */);
	if (fd >= 0) {
		if (SYS(__NR_read, fd, text, sizeof text - 1) > 0)
			parse_number(text, 10, &most);
		SYS(__NR_close, fd);
	}
	return for_each_line(count_line, &n) && n + NEAR >= most;
}

static void
find_vsyscall(const struct line *l, void *found)
{
	*(bool *)found |= memcmp(l->path, "[vsyscall]", 10) == 0;
}

bool
maps_has_vsyscall(void)
{
	bool found = false;
	for_each_line(find_vsyscall, &found);
	return found;
}

struct header {
	uint64_t address, dev, ino, begin; /* of the last file whose beginning was seen */
	uint64_t found;
};

static void
find_elf_header(const struct line *l, void *arg)
{
	struct header *h = arg;
	if (l->pgoff == 0 && l->ino && l->start <= h->address) {
		h->begin = l->start;
		h->dev = l->dev;
		h->ino = l->ino;
	}
	if (h->address - l->start < l->end - l->start && l->dev == h->dev && l->ino == h->ino)
		h->found = h->begin;
}

uint64_t
maps_header(uint64_t address)
{
	struct header h = {.address = address};
	for_each_line(find_elf_header, &h);
	return h.found;
}

struct locking {
	long failed;
	bool on_fault;
};

static void
lock_line(const struct line *l, void *arg)
{
	struct locking *k = arg;
	bool big = l->start >= ST_TABLES && l->start < ST_TABLES_END;
	if (maps_own(l->start, 1) || big || l->start >> 47 || k->failed)
		return;
	long ret = SYS(__NR_mlock2, l->start, l->end - l->start, k->on_fault);
	if (ret == -12 /* ENOMEM: the limit, or memory that cannot be there, such as beyond a file's end */)
		ret = SYS(__NR_mlock2, l->start, l->end - l->start, 1 /* MLOCK_ONFAULT */);
	if (ret != -12 || l->path[0] != '[')
		k->failed = ret;
}

long
maps_lock_all(bool on_fault)
{
	struct locking k = {0, on_fault};
	return for_each_line(lock_line, &k) ? k.failed : -12;
}

uint64_t
maps_run_end(const struct map *map)
{
	uint64_t end = map->end;
	for (const struct map *m = map + 1; m < live + n_live && m->start == end; m++)
		end = m->end;
	return end;
}

static uint64_t
page_end(uint64_t start, uint64_t len)
{
	return (start + len + 4095) & ~4095ull;
}

static bool
begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

/* A file's path as the list of mappings has it, where line feeds are written as \012. Under
 * rt.lock. */
static const char *
path_of_fd(int fd)
{
	static char target[4096], path[ST_MOST_PATH];
	char link[40] = "/proc/thread-self/fd/";
	size_t n = 0;
	rt_decimal(link + 21, (uint32_t)fd);
	long length = SYS(__NR_readlink, link, target, sizeof target);
	for (long i = 0; i < length && n + 5 < sizeof path; i++) {
		if (target[i] == '\n') {
			memcpy(path + n, "\\012", 4);
			n += 4;
		} else {
			path[n++] = target[i];
		}
	}
	path[n] = 0;
	return path;
}

static void
retire_records(uint64_t start, uint64_t end)
{
	struct st_results_header *r = rt.results;
	struct st_map *maps = (void *)((char *)r + r->layout.off_maps);
	for (uint32_t i = 0; i < r->maps.n; i++)
		if (maps[i].start >= start && maps[i].end <= end) {
			bool was = maps[i].path && !(maps[i].flags & ST_MAP_GONE);
			maps[i].flags |= ST_MAP_GONE;
			if (was)
				callback_image(false,
				               (char *)r + r->layout.off_strings + maps[i].path,
				               maps[i].start, maps[i].end, maps[i].pgoff);
		}
}

void
maps_mapped(uint64_t start, uint64_t len, int prot, int flags, int fd, uint64_t pgoff)
{
	uint64_t end = page_end(start, len);
	if (jit_has_code(start, end)) /* MAP_FIXED over code */
		jit_invalidate(start, end);
	pages_forget(start, end);
	carve(start, end);
	if (!(prot & PROT_EXEC))
		return;
	bool anonymous = flags & MAP_ANONYMOUS, writable = prot & PROT_WRITE;
	const char *path = anonymous ? "" : path_of_fd(fd);
	retire_records(start, end);
	/* A shared mapping of a file in memory can be written elsewhere; of a file on disk it is
	 * taken for stable. */
	bool shared = (flags & 0x0f) != MAP_PRIVATE && (anonymous || begins(path, "/memfd:") ||
	                                                begins(path, "/dev/shm") || writable);
	struct map m = {.start = start,
	                .end = end,
	                .writable = writable,
	                .shared = shared,
	                .anonymous = anonymous};
	m.index = add_map_record((struct st_map){.start = start,
	                                         .end = end,
	                                         .pgoff = pgoff,
	                                         .ino = anonymous ? 0 : 1,
	                                         .flags = writable ? ST_MAP_WRITABLE : 0},
	                         path);
	insert(m);
}

void
maps_unmapped(uint64_t start, uint64_t len)
{
	uint64_t end = page_end(start, len);
	if (jit_has_code(start - 4096, end))
		jit_invalidate(start, end);
	pages_forget(start, end);
	carve(start, end);
	retire_records(start, end);
}

void
maps_protected(uint64_t start, uint64_t len, int prot)
{
	uint64_t end = page_end(start, len);
	if (!jit_has_code(start - 4096, end) && !(prot & PROT_EXEC) && !maps_overlap(start, end))
		return; /* data */
	pages_forget(start, end);
	bool known = false;
	struct map old = {0};
	const struct map *m = maps_find(start);
	if (m) {
		known = m->end >= end;
		old = *m;
	}
	if (known && (prot & PROT_EXEC) && !old.anonymous && !old.shared && !old.writable &&
	    !(prot & PROT_WRITE))
		return; /* nothing changes */
	carve(start, end);
	if (!(prot & PROT_EXEC)) {
		jit_suspend(
		        start,
		        end); /* until it becomes executable again, if it has not changed by then */
		return;
	}
	struct map now = {.start = start,
	                  .end = end,
	                  .writable = prot & PROT_WRITE,
	                  .shared = known && old.shared,
	                  .anonymous = known ? old.anonymous : true};
	now.index = find_record(start, end);
	if (now.index == rt.results->maps.n) {
		static unsigned refreshes;
		if (refreshes++ < 64 && maps_refresh()) { /* learns what kind of memory it is */
			jit_revalidate(start, end);
			return;
		}
		now.index = add_map_record((struct st_map){.start = start, .end = end}, "");
	}
	insert(now);
	/* Without a copy of the code it cannot be compared; code that can be written now must be
	 * protected first. */
	if (now.writable)
		jit_invalidate(start, end);
	jit_revalidate(start, end);
}

void
maps_changed(uint64_t start, uint64_t len)
{
	uint64_t end = page_end(start, len);
	carve(start, end);
	maps_refresh();
	pages_drop(start, end);
	jit_suspend(start, end);
	jit_revalidate(start, end);
}

void
maps_moved(uint64_t from, uint64_t old_len, uint64_t to, uint64_t new_len)
{
	const struct map *m = maps_find(from);
	struct map old = m ? *m : (struct map){0};
	maps_unmapped(from, old_len);
	maps_unmapped(to, new_len);
	if (!m)
		return;
	uint64_t end = page_end(to, new_len);
	carve(to, end);
	old.start = to;
	old.end = end;
	old.index = add_map_record((struct st_map){.start = to, .end = end}, "");
	insert(old);
}
