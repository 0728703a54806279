"""index.html: one file that works offline, at 400 and at 1300 pixels, light and dark. Figures are inline SVG."""

import html as markup
import re

from .values import LEGEND

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5a6068; --paper: #fff; --line: #d9dde2; --band: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --soft: #a3abb5; --paper: #15181c; --line: #363c44; --band: #1e2328; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 1200px; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
       background: var(--paper); }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { margin: 2rem 0 .5rem; font-size: 1.05rem; }
.summary { padding: .8rem 1rem .8rem 2rem; background: var(--band); border-radius: 8px; }
.summary li { margin: .3rem 0; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; max-height: 80vh; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: var(--band); white-space: normal; min-width: 5rem; vertical-align: bottom; }
td:first-child, th:first-child { text-align: left; }
.facts td { white-space: normal; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.facts td:first-child { color: var(--soft); white-space: nowrap; }
figure { margin: 1.5rem 0; }
.picture { overflow-x: auto; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 6px; }
.picture svg { display: block; width: 100%; height: auto; min-width: 620px; max-width: 1000px; margin: 0 auto; }
"""


def inline(svg):
    """The picture alone, scaled by its box: without prolog, and without a size of its own."""
    svg = svg[svg.index("<svg"):]
    head, rest = svg.split(">", 1)
    return re.sub(r'\s(width|height)="[^"]*"', "", head) + ">" + rest


def words(text):
    """Markdown's emphasis and code, as far as our own texts use them."""
    text = markup.escape(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def table(header, lines, kind="wide"):
    cells = lambda tag, line: "".join(f"<{tag}>{markup.escape(str(cell))}</{tag}>" for cell in line)
    head = f"<thead><tr>{cells('th', header)}</tr></thead>" if header else ""
    body = "".join(f"<tr>{cells('td', line)}</tr>\n" for line in lines)
    return f'<div class="{kind}"><table>{head}<tbody>{body}</tbody></table></div>'


def section_html(section):
    parts = [f"<h2>On {markup.escape(section['device'])}</h2>",
             '<ul class="summary">' + "".join(f"<li>{words(line)}</li>" for line in section["summary"]) + "</ul>",
             f"<p>{words(section['explanation'])}</p>"]
    for name, caption, svg in section["figures"]:
        parts.append(f'<figure id="{markup.escape(name)}"><div class="picture">{inline(svg)}</div>'
                     f"<figcaption>{words(caption)}</figcaption></figure>")
    parts.append(f'<p class="soft">{words(LEGEND)}</p>')
    for title, note, header, lines in section["tables"]:
        parts += [f"<h3>{markup.escape(title)}</h3>", table(header, lines)]
        parts += [f'<p class="soft">{words(note)}</p>'] if note else []
    parts += ["<h3>How these numbers were obtained</h3>", table([], section["conditions"], "facts"),
              f'<p class="soft">{words(section["obtained"])}</p>']
    return "\n".join(parts)


def html(study, sections):
    title = markup.escape(study.TITLE)
    body = "\n".join(section_html(section) for section in sections)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
            f"<style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
            f'<p class="soft">tools/study {markup.escape(study.NAME)}; every row is in results.csv.</p>\n'
            f"{body}\n</body></html>\n")
