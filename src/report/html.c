/* html.c - the page: one self-contained file, readable on screens of any width and in print. */
#include "report/figure.h"
#include "report/markup.h"
#include "report/page.h"

#include <math.h>

static const char css[] =
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
    "'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\n"
    "main{max-width:1160px;margin:0 auto;padding:28px 20px 40px}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 4px}\n"
    "h2{font-size:1.1rem;line-height:1.3;margin:0 0 10px}\n"
    ".about{margin:0;color:var(--muted);font-size:.9rem}\n"
    ".verdict{font-size:1.05rem;line-height:1.5;max-width:60em;margin:18px 0 20px}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px;list-style:none;margin:0 0 "
    "32px;padding:0}\n"
    ".tiles li{border:1px solid var(--grid);border-top:3px solid var(--model);border-radius:4px;padding:10px 14px}\n"
    ".tiles b{display:block;font-size:1.7rem;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}\n"
    ".tiles span{display:block;font-size:.9rem}\n"
    ".tiles small{color:var(--muted);font-size:.8rem}\n"
    ".tiles li[data-finding=worse]{border-top-color:var(--truth)}\n"
    ".verdict span{display:block;border-left:4px solid var(--band);padding-left:12px;margin:0 0 8px}\n"
    ".verdict [data-finding=better]{border-color:var(--model)}\n"
    ".verdict [data-finding=worse],.verdict .warning{border-color:var(--truth)}\n"
    ".scroll{overflow-x:auto;border:1px solid var(--grid);border-radius:4px}\n"
    "table{border-collapse:collapse;width:100%;font-size:.8rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}"
    "\n"
    "th,td{padding:7px 6px;text-align:right;vertical-align:top;white-space:nowrap;border-bottom:1px solid "
    "var(--grid)}\n"
    "tbody tr:last-child>*{border-bottom:0}\n"
    "thead th{color:var(--muted);font-weight:600}\n"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);white-space:normal;padding-left:"
    "10px;min-width:6.5em;"
    "max-width:11em}\n"
    "tbody th{font-weight:400}\n"
    ".model th,.model td{font-weight:600}\n"
    "td small{display:block;font-weight:400;color:var(--muted);font-size:.68rem}\n"
    "td small.word{white-space:normal;max-width:9em;margin-left:auto;color:var(--ink)}\n"
    ".notes{margin:12px 0 40px;font-size:.85rem;color:var(--muted)}\n"
    ".notes summary{cursor:pointer}\n"
    ".notes dl{columns:2;column-gap:32px;margin:8px 0}\n"
    ".notes div{break-inside:avoid;display:flex;gap:8px}\n"
    ".notes dt{flex:0 0 5.6em;font-weight:600;color:var(--ink)}\n"
    ".notes dd{margin:0}\n"
    ".notes p{margin:6px 0}\n"
    ".figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));grid-auto-flow:dense;gap:44px 40px}\n"
    "figure{margin:0;min-width:0}\n"
    "figure.wide{grid-column:1/-1}\n"
    "figure h2{border-top:2px solid var(--ink);padding-top:10px}\n"
    ".panels{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:24px 40px}\n"
    ".panels.one{grid-template-columns:minmax(0,1fr)}\n"
    ".panels.many{grid-template-columns:repeat(3,minmax(0,1fr));gap:28px 30px}\n"
    "svg{display:block;width:100%;height:auto}\n"
    "svg svg{display:inline}\n"
    "figcaption{font-size:.9rem;color:var(--muted);margin-top:8px;max-width:60em}\n"
    "figcaption strong{color:var(--ink);font-weight:600}\n"
    "footer{margin-top:44px;padding-top:12px;border-top:1px solid var(--grid);font-size:.8rem;color:var(--muted)}\n"
    "@media screen and (max-width:860px){.figures,.panels{grid-template-columns:minmax(0,1fr)}"
    ".panels.many{grid-template-columns:repeat(auto-fill,minmax(270px,1fr))}.notes dl{columns:1}}\n"
    "@media screen and (max-width:480px){main{padding:18px 14px 32px}h1{font-size:1.45rem}.verdict{font-size:1.05rem}"
    ".tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tiles li{padding:8px 10px}.tiles "
    "b{font-size:1.4rem}}\n"
    "@page{size:A4;margin:14mm}\n"
    "@media print{body{font-size:10pt}main{max-width:none;padding:0}figure,.tiles,tr,.panels>svg{break-inside:avoid}"
    "h1,h2{break-after:avoid}.figures{gap:20px 24px}.panels,.figures{gap:18px 20px}.panels.many{gap:10px 16px}"
    ".tiles{grid-template-columns:repeat(4,1fr)}.tiles b{font-size:1.3rem}.scroll{overflow:visible;border:0}"
    "table{font-size:6.6pt}th,td{padding:3px 4px}td small{font-size:5.6pt}th:first-child{min-width:0}"
    ".notes{margin-bottom:20px;font-size:8pt}figcaption{font-size:8pt}.verdict{font-size:1.05rem}}\n";

static void write_colours(struct sink *sink, bool dark)
{
    smurf_sink_text(sink, ":root{");
    for (int i = COLOUR_NONE + 1; i < COLOURS; i++) {
        smurf_sink_text(sink, "--");
        smurf_sink_text(sink, smurf_colours[i].name);
        smurf_sink_char(sink, ':');
        smurf_markup_hex(sink, dark ? smurf_colours[i].dark : smurf_colours[i].light);
        smurf_sink_char(sink, ';');
    }
    smurf_sink_text(sink, dark ? "color-scheme:dark}" : "color-scheme:light}");
}

void smurf_page_begin(struct sink *sink, const char *what, const char *title)
{
    smurf_sink_text(sink, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    smurf_markup_between(sink, what, title[0] ? title : "report", "</title>\n<style>\n");
    write_colours(sink, false);
    smurf_sink_text(sink, "\n@media screen and (prefers-color-scheme:dark){");
    write_colours(sink, true);
    smurf_sink_text(sink, "}\n");
    smurf_sink_text(sink, css);
    smurf_sink_text(sink, "</style>\n</head>\n<body>\n<main>\n");
}

static void write_about(struct sink *sink, const char *what, const char *about)
{
    if (!about[0]) return;
    smurf_sink_text(sink, "<p class=\"about\">");
    smurf_markup_between(sink, what, about, "</p>\n");
}

void smurf_page_mark(struct sink *sink, enum claim_name name, const struct claim claim[CLAIMS])
{
    smurf_sink_text(sink, " data-claim=\"");
    smurf_sink_text(sink, smurf_claim_id(name));
    smurf_sink_text(sink, "\" data-finding=\"");
    smurf_sink_text(sink, smurf_finding_id(claim[name].finding));
    smurf_sink_text(sink, "\"");
}

static void write_tiles(struct sink *sink, const struct evaluation *evaluation, const struct claim claim[CLAIMS])
{
    struct tile tile;
    smurf_sink_text(sink, "<ul class=\"tiles\">\n");
    for (enum claim_name name = 0; name < CLAIMS; name++) {
        if (!smurf_claim_tile(&tile, name, claim, evaluation)) continue;
        smurf_sink_text(sink, "<li");
        smurf_page_mark(sink, name, claim);
        smurf_markup_between(sink, "><b>", claim[name].shown.text, "</b><span>");
        smurf_markup_text(sink, tile.what);
        smurf_markup_between(sink, "</span><small>", tile.small.text, "</small></li>\n");
    }
    smurf_sink_text(sink, "</ul>\n");
}

/* The gaps set aside in training showed it, whatever these gaps show. */
static const char *warning(const struct evaluation *evaluation, const struct claim claim[CLAIMS])
{
    if (!evaluation->misses || !isfinite(claim[CLAIM_INSIDE].value)) return NULL;
    if (claim[CLAIM_INSIDE].finding == FINDING_EVEN && claim[CLAIM_LEVELS].finding != FINDING_WORSE)
        return "<span class=\"warning\">Warning: on the gaps held out in training, calibration did not work, although "
               "the intervals hold on these: do not rely on them.</span>\n";
    return "<span class=\"warning\">Warning: calibration did not work. On held-out gaps the law is still off by more "
           "than chance explains; do not rely on the intervals.</span>\n";
}

static void write_verdict(struct sink *sink, const struct evaluation *evaluation, const struct claim claim[CLAIMS])
{
    bool empty = true;
    smurf_sink_text(sink, "<p class=\"verdict\">\n");
    for (enum claim_name name = 0; name < CLAIMS; name++) {
        struct words words = {0};
        smurf_claim_say(&words, name, claim, evaluation);
        if (!words.used) continue;
        smurf_sink_text(sink, "<span");
        smurf_page_mark(sink, name, claim);
        smurf_markup_between(sink, ">", words.text, "</span>\n");
        empty = false;
    }
    if (warning(evaluation, claim)) smurf_sink_text(sink, warning(evaluation, claim));
    smurf_sink_text(sink, empty ? "Nothing was measured.</p>\n" : "</p>\n");
}

static void write_top(struct sink *sink, const struct evaluation *evaluation, const struct claim claim[CLAIMS])
{
    smurf_sink_text(sink, "<header>\n<h1>How good are the forecasts?</h1>\n");
    write_about(sink, "Data: ", evaluation->data_about);
    write_about(sink, "Model: ", evaluation->model_about);
    write_about(sink, "Pooled: ", evaluation->pool_about);
    write_verdict(sink, evaluation, claim);
    write_tiles(sink, evaluation, claim);
    smurf_sink_text(sink, "</header>\n");
}

static void write_figure(struct sink *sink, const struct figure *figure, const struct evaluation *evaluation)
{
    size_t panels = figure->panels(evaluation);
    struct words finding = {0};
    if (!panels) return;
    smurf_sink_text(sink, figure->columns > 1 ? "<figure class=\"wide\" id=\"" : "<figure id=\"");
    smurf_sink_text(sink, figure->name);
    smurf_markup_between(sink, "\">\n<h2>", figure->title, "</h2>\n<div class=\"panels");
    smurf_sink_text(sink, figure->columns > 2 ? " many\">\n" : figure->columns < 2 ? " one\">\n" : "\">\n");
    for (size_t i = 0; i < panels; i++) {
        struct svg svg;
        figure->draw(smurf_svg_open(&svg, sink, figure->width, figure->height, figure->title, true), evaluation, i);
        smurf_svg_close(&svg);
    }
    smurf_sink_text(sink, "</div>\n<figcaption>");
    figure->finding(&finding, evaluation);
    if (finding.no_memory && !sink->status) sink->status = smurf_fail_memory(&sink->error);
    if (finding.used) {
        smurf_markup_between(sink, "<strong>", finding.text, "</strong>");
    }
    smurf_markup_text(sink, figure->caption);
    smurf_sink_text(sink, "</figcaption>\n</figure>\n");
}

void smurf_page_end(struct sink *sink, const char *more)
{
    smurf_markup_between(sink, "<footer>Written by smurf ", smurf_version(), ".");
    smurf_sink_text(sink, more);
    smurf_sink_text(sink, "</footer>\n</main>\n</body>\n</html>\n");
}

void smurf_page_write(struct sink *sink, const struct evaluation *evaluation, bool figures)
{
    struct claim claim[CLAIMS];
    if (!smurf_claims_find(claim, evaluation) && !sink->status) sink->status = smurf_fail_memory(&sink->error);
    smurf_page_begin(sink, "Forecasts: ", evaluation->data_about);
    write_top(sink, evaluation, claim);
    smurf_sink_text(sink, "<section>\n<h2>Metrics</h2>\n");
    smurf_table_write(sink, evaluation, claim);
    smurf_sink_text(sink, "</section>\n<section class=\"figures\">\n");
    for (size_t i = 0; smurf_figure(i); i++) write_figure(sink, smurf_figure(i), evaluation);
    smurf_sink_text(sink, "</section>\n");
    smurf_page_end(
        sink, figures && !smurf_png_available() ? " Figures were written as SVG only: this build lacks cairo." : "");
}
