"""Markdown from outside, as HTML that is safe to print unescaped.

Two independent guards: the parser takes no HTML, and what it writes passes an allow-list.
"""

from __future__ import annotations

from collections.abc import Sequence

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from plural_site.formats import clean_text

MAX_CHARACTERS = 40_000
"""Longer text is cut here, and says so."""

_HEADING_SHIFT = 2
_TAGS = frozenset(
    {
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
    }
    | {"table", "tbody", "td", "th", "thead", "tr", "ul"}
)
_SCHEMES = frozenset({"http", "https", "mailto"})


def render(source: str) -> str:
    """HTML of `source`: no images, headings from h3 down, links only to http, https and mailto."""
    text = clean_text(source)
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]}\n\n*Cut after {MAX_CHARACTERS} characters.*"
    return nh3.clean(
        _PARSER.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        attribute_filter=_keep_attribute,
        url_schemes=set(_SCHEMES),
        link_rel="nofollow noopener",
    )


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    """Drops addresses without a scheme: they would lead to pages of this site."""
    if tag == "a" and name == "href" and value.partition(":")[0].lower() not in _SCHEMES:
        return None
    return value


def _image_as_text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return renderer.renderInlineAsText(tokens[index].children or [], options, env)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image_as_text)
    parser.add_render_rule("heading_open", _shifted_heading)
    parser.add_render_rule("heading_close", _shifted_heading)
    return parser


def _shifted_heading(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    level = min(int(token.tag[1:]) + _HEADING_SHIFT, 6)
    return f"<{'/' if token.nesting < 0 else ''}h{level}>"


_PARSER = _parser()
