/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Separate debug files: by build-id, by .gnu_debuglink, and the companion that dwz moves common
 * parts to. */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "symbol/internal.h"

/* Calls try for the directories in STROBE_DEBUG_DIRECTORY, else for the system's, until one of them
 * succeeds. */
static bool
in_debug_directories(bool (*try)(const char *directory, void *context), void *context)
{
	const char *list = getenv("STROBE_DEBUG_DIRECTORY");
	if (!list || !*list)
		list = "/usr/lib/debug";
	while (*list) {
		char directory[PATH_MAX];
		size_t n = strcspn(list, ":");
		if (n && n < sizeof directory) {
			memcpy(directory, list, n);
			directory[n] = '\0';
			if (try(directory, context))
				return true;
		}
		list += n + (list[n] == ':');
	}
	return false;
}

/* PATH_MAX is no promise about what the pieces add up to: a path that does not fit is not there. */
__attribute__((format(printf, 2, 3))) static bool
join(char path[PATH_MAX], const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(path, PATH_MAX, format, ap);
	va_end(ap);
	return n > 0 && n < PATH_MAX;
}

static bool
debugfile_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
open_debug_file(struct st_image *image, const char *path)
{
	/* A large one is mapped: it is not rebuilt meanwhile. */
	return (image->copied && sym_elf_copy(&image->debug, path, NULL) == 0) ||
	       sym_elf_open(&image->debug, path, NULL) == 0;
}

static bool
take_debug_file(struct st_image *image, const char *path)
{
	if (access(path, R_OK) != 0 || !open_debug_file(image, path))
		return false;
	char *found = sym_build_id(image->debug.elf);
	bool right = found && !strcmp(found, image->build_id);
	free(found);
	if (!right)
		sym_elf_close(&image->debug);
	return right;
}

static bool
by_build_id(const char *directory, void *context)
{
	struct st_image *image = context;
	const char *id = image->build_id;
	char path[PATH_MAX];
	return join(path, "%s/.build-id/%.2s/%s.debug", directory, id, id + 2) &&
	       take_debug_file(image, path);
}

static void
from_server(struct st_image *image)
{
	char *path;
	if (sym_debuginfod_find(image->build_id, &path))
		take_debug_file(image, path);
	free(path);
}

/* The name and checksum in .gnu_debuglink, and the directory of the image. */
struct link {
	struct st_image *image;
	const char *name;
	uint32_t crc;
	char directory[PATH_MAX];
};

static bool
try_link(struct link *link, const char *path)
{
	uint32_t crc;
	/* The stripped file itself often has the very name that its link asks for. */
	if (access(path, R_OK) != 0 || debugfile_same_file(path, link->image->path))
		return false;
	return sym_file_crc(path, &crc) == 0 && crc == link->crc &&
	       open_debug_file(link->image, path);
}

static bool
link_below(const char *directory, void *context)
{
	struct link *link = context;
	char path[PATH_MAX];
	return join(path, "%s%s/%s", directory, link->directory, link->name) &&
	       try_link(link, path);
}

static bool
link_from(struct link *link, const char *image_path)
{
	char path[PATH_MAX];
	const char *slash = strrchr(image_path, '/');
	if (!slash || !join(link->directory, "%.*s", (int)(slash - image_path), image_path))
		link->directory[0] = '\0';
	if (join(path, "%s/%s", link->directory, link->name) && try_link(link, path))
		return true;
	if (join(path, "%s/.debug/%s", link->directory, link->name) && try_link(link, path))
		return true;
	return in_debug_directories(link_below, link);
}

static bool
by_debuglink(struct st_image *image)
{
	struct link link = {.image = image};
	GElf_Word crc;
	link.name = dwelf_elf_gnu_debuglink(image->main.elf, &crc);
	if (!link.name || !*link.name || strchr(link.name, '/'))
		return false;
	link.crc = crc;
	char *real = realpath(image->path, NULL);
	bool found = real && link_from(&link, real);
	/* Packages made before /lib became /usr/lib use the path as the loader sees it. */
	if (!found && real && image->path[0] == '/' && strcmp(real, image->path) != 0)
		found = link_from(&link, image->path);
	free(real);
	return found;
}

const struct sym_elf *
sym_debug_file(struct st_image *image)
{
	if (image->debug_sought)
		return &image->debug;
	image->debug_sought = true;
	if (sym_has_dwarf(&image->main) && sym_elf_has_section(&image->main, ".symtab"))
		return &image->debug;
	bool has_id = strncmp(image->build_id, "crc32:", 6) != 0 && strlen(image->build_id) > 2;
	if (!(has_id && in_debug_directories(by_build_id, image)) && !by_debuglink(image) && has_id)
		from_server(image);
	return &image->debug;
}

struct alternate {
	struct st_image *image;
	Dwarf *dwarf;
	const unsigned char *id;
	size_t id_length;
};

enum { HEX_SIZE = 2 * 64 + 1 };

static void
hex_of(const struct alternate *alternate, char hex[HEX_SIZE])
{
	for (size_t i = 0; i < alternate->id_length; i++)
		snprintf(hex + 2 * i, 3, "%02x", alternate->id[i]);
}

static bool
try_alternate(struct alternate *alternate, const char *path)
{
	const void *id;
	int fd = st_open_regular(path);
	if (fd < 0)
		return false;
	Dwarf *found = dwarf_begin(fd, DWARF_C_READ);
	if (found &&
	    dwelf_elf_gnu_build_id(dwarf_getelf(found), &id) == (ssize_t)alternate->id_length &&
	    !memcmp(id, alternate->id, alternate->id_length)) {
		dwarf_setalt(alternate->dwarf, found);
		alternate->image->alternate = found;
		alternate->image->alternate_fd = fd;
		return true;
	}
	dwarf_end(found);
	close(fd);
	return false;
}

static bool
alternate_by_id(const char *directory, void *context)
{
	struct alternate *alternate = context;
	char hex[HEX_SIZE], path[PATH_MAX];
	hex_of(alternate, hex);
	return join(path, "%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2) &&
	       try_alternate(alternate, path);
}

static bool
alternate_from_server(struct alternate *alternate)
{
	char hex[HEX_SIZE], *path;
	hex_of(alternate, hex);
	bool found = sym_debuginfod_find(hex, &path) && try_alternate(alternate, path);
	free(path);
	return found;
}

void
sym_set_alternate(struct st_image *image, Dwarf *dwarf, const char *path)
{
	struct alternate alternate = {.image = image, .dwarf = dwarf};
	const char *name;
	const void *id;
	char relative[PATH_MAX];

	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	if (n <= 1 || n > 64)
		return;
	alternate.id = id;
	alternate.id_length = (size_t)n;
	if (in_debug_directories(alternate_by_id, &alternate) || alternate_from_server(&alternate))
		return;
	/* A relative name starts from the directory of the file that holds the link, symlinks
	 * resolved. */
	char *real = path && name[0] != '/' ? realpath(path, NULL) : NULL;
	const char *slash = real ? strrchr(real, '/') : NULL;
	if (name[0] == '/')
		try_alternate(&alternate, name);
	else if (slash && join(relative, "%.*s/%s", (int)(slash - real), real, name))
		try_alternate(&alternate, relative);
	free(real);
}
