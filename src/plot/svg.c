/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

static const char style_sheet[] =
        "text{font:12px sans-serif;fill:#222}\n"
        ".middle{text-anchor:middle}.right{text-anchor:end}\n"
        ".title{font-size:15px;font-weight:bold}.note{font-size:11px;fill:#555}\n"
        ".paper{fill:#fff}.axis{stroke:#222}.grid{stroke:#ddd}\n"
        ".line{fill:none;stroke-width:1.5}.curve{fill:none;stroke:#222;stroke-width:1.5}\n"
        ".band{fill:#222;opacity:.12}.point{opacity:.75}\n"
        ".range{stroke-width:1;opacity:.6}.interval{stroke-width:3}\n"
        ".reach{stroke:#222;stroke-width:1}.certain{stroke:#222;stroke-width:3}\n"
        ".frame{stroke:#fff;stroke-width:.5}.label{font-size:11px;pointer-events:none}\n"
        ".edge{fill:none;stroke:#222;stroke-opacity:.45}.arrow{fill:#222}.name{font-weight:bold}\n"
        ".edge-label{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
        ".box{stroke:#666}.box.centre{stroke-width:3}.others{stroke-dasharray:4 "
        "3}.edge.others{stroke-opacity:.3}\n";

/* Okabe and Ito's colours, which colour-blind readers can tell apart, then two more. */
static const char *const colours[ST_SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#b8a800", "#000000",
                                                    "#8a5a44", "#999999"};

struct st_svg_class
st_svg_series(const char *shape, size_t n)
{
	struct st_svg_class class;
	snprintf(class.text, sizeof class.text, "%.32s c%zu", shape, n % ST_SVG_COLOURS);
	return class;
}

/* Writes two digits after the point, without zeros at the end; NAN and infinity become 0. */
static void
svg_number(FILE *out, double value)
{
	char text[64];
	if (!isfinite(value))
		value = 0;
	int n = snprintf(text, sizeof text, "%.2f", fabs(value) < 0.005 ? 0 : value);
	while (n > 0 && text[n - 1] == '0')
		n--;
	if (n > 0 && text[n - 1] == '.')
		n--;
	fwrite(text, 1, (size_t)n, out);
}

static void
svg_attribute(FILE *out, const char *name, double value)
{
	fprintf(out, " %s=\"", name);
	svg_number(out, value);
	putc('"', out);
}

static void
svg_escaped(FILE *out, const char *text)
{
	char *clean = st_printable(text);
	for (const char *p = clean ? clean : ""; *p; p++) {
		if (*p == '<')
			fputs("&lt;", out);
		else if (*p == '>')
			fputs("&gt;", out);
		else if (*p == '&')
			fputs("&amp;", out);
		else if (*p == '"')
			fputs("&quot;", out);
		else
			putc(*p, out);
	}
	free(clean);
}

/* Ends an element. hint: the text at the pointer; NULL: none. */
static void
svg_close(FILE *out, const char *element, const char *hint)
{
	if (!hint) {
		fputs("/>\n", out);
		return;
	}
	fputs("><title>", out);
	svg_escaped(out, hint);
	fprintf(out, "</title></%s>\n", element);
}

void
st_svg_begin(struct st_svg *s, FILE *out, double width, double height, const char *title)
{
	*s = (struct st_svg){.out = out, .width = width, .height = height};
	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", out);
	svg_attribute(out, "width", width);
	svg_attribute(out, "height", height);
	fputs(" viewBox=\"0 0 ", out);
	svg_number(out, width);
	putc(' ', out);
	svg_number(out, height);
	fputs("\">\n<title>", out);
	svg_escaped(out, title);
	fprintf(out, "</title>\n<style>\n%s", style_sheet);
	for (size_t i = 0; i < ST_SVG_COLOURS; i++)
		fprintf(out,
		        ".c%zu{fill:%s;stroke:%s}.line.c%zu{fill:none}.band.c%zu{stroke:none}\n", i,
		        colours[i], colours[i], i, i);
	fputs("</style>\n", out);
	st_svg_rectangle(s, 0, 0, width, height, "paper", NULL, NULL);
}

void
st_svg_end(struct st_svg *s)
{
	fputs("</svg>\n", s->out);
}

void
st_svg_text(struct st_svg *s, double x, double y, const char *class, const char *text)
{
	fprintf(s->out, "<text class=\"%s\"", class);
	svg_attribute(s->out, "x", x);
	svg_attribute(s->out, "y", y);
	putc('>', s->out);
	svg_escaped(s->out, text);
	fputs("</text>\n", s->out);
}

void
st_svg_text_upwards(struct st_svg *s, double x, double y, const char *class, const char *text)
{
	fprintf(s->out, "<text class=\"%s\" transform=\"translate(", class);
	svg_number(s->out, x);
	putc(' ', s->out);
	svg_number(s->out, y);
	fputs(") rotate(-90)\">", s->out);
	svg_escaped(s->out, text);
	fputs("</text>\n", s->out);
}

void
st_svg_line(struct st_svg *s, double x1, double y1, double x2, double y2, const char *class)
{
	fprintf(s->out, "<line class=\"%s\"", class);
	svg_attribute(s->out, "x1", x1);
	svg_attribute(s->out, "y1", y1);
	svg_attribute(s->out, "x2", x2);
	svg_attribute(s->out, "y2", y2);
	svg_close(s->out, "line", NULL);
}

void
st_svg_rectangle(struct st_svg *s, double x, double y, double width, double height,
                 const char *class, const char *style, const char *hint)
{
	fprintf(s->out, "<rect class=\"%s\"", class);
	svg_attribute(s->out, "x", x);
	svg_attribute(s->out, "y", y);
	svg_attribute(s->out, "width", width);
	svg_attribute(s->out, "height", height);
	if (style)
		fprintf(s->out, " style=\"%s\"", style);
	svg_close(s->out, "rect", hint);
}

void
st_svg_circle(struct st_svg *s, double x, double y, double radius, const char *class,
              const char *hint)
{
	fprintf(s->out, "<circle class=\"%s\"", class);
	svg_attribute(s->out, "cx", x);
	svg_attribute(s->out, "cy", y);
	svg_attribute(s->out, "r", radius);
	svg_close(s->out, "circle", hint);
}

void
st_svg_path_begin(struct st_svg *s, const char *class)
{
	fprintf(s->out, "<path class=\"%s\" d=\"", class);
	s->points = 0;
}

void
st_svg_path_begin_styled(struct st_svg *s, const char *class, const char *style)
{
	fprintf(s->out, "<path class=\"%s\" style=\"%s\" d=\"", class, style);
	s->points = 0;
}

void
st_svg_path_curve(struct st_svg *s, double x1, double y1, double x2, double y2, double x, double y)
{
	const double numbers[] = {x1, y1, x2, y2, x, y};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		putc(i ? ' ' : 'C', s->out);
		svg_number(s->out, numbers[i]);
	}
	s->points++;
}

void
st_svg_path_to(struct st_svg *s, double x, double y)
{
	putc(s->points++ ? 'L' : 'M', s->out);
	svg_number(s->out, x);
	putc(' ', s->out);
	svg_number(s->out, y);
}

void
st_svg_path_gap(struct st_svg *s)
{
	s->points = 0;
}

void
st_svg_path_end(struct st_svg *s, int closed, const char *hint)
{
	fputs(closed ? "Z\"" : "\"", s->out);
	svg_close(s->out, "path", hint);
}

double
st_svg_text_width(const char *text)
{
	return 6.7 * (double)st_columns(text);
}
