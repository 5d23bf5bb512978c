"""Author text becomes harmless HTML."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plural_site.markdown import MAX_CHARACTERS, render

ALLOWED_TAG = re.compile(
    r"</?(blockquote|br|code|del|em|h[3-6]|hr|li|p|pre|strong|table|tbody|td|th|thead|tr|ul)>"
    r'|</?ol( start="\d+")?>|</a>|<a( href="(https?|mailto):[^"<>]*")?'
    r'( title="[^"<>]*")? rel="nofollow noopener">',
    re.IGNORECASE,
)


def test_plain_markdown_is_rendered() -> None:
    html = render(
        "# One\n\nSome **bold** `code`\n\n## Two\n\n* a\n\n| h |\n|---|\n| c |\n\n```py\nx < 1\n```\n"
    )
    for part in ("<h3>One</h3>", "<strong>bold</strong>", "<code>code</code>", "<h4>Two</h4>", "<li>a</li>"):
        assert part in html
    assert "<td>c</td>" in html
    assert "<pre><code>x &lt; 1\n</code></pre>" in html
    assert "<h6>deep</h6>" in render("###### deep")


def test_links_lead_only_to_the_web_or_mail() -> None:
    html = render('[w](https://e.test/a "t") <http://e.test> [m](mailto:a@e.test)')
    assert '<a href="https://e.test/a" title="t" rel="nofollow noopener">w</a>' in html
    assert html.count("href=") == 3
    for address in (
        "javascript:alert(1)",
        "JaVaScRiPt:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
    ):
        assert "href=" not in render(f"[x]({address}) [y](<{address}>) <{address}>")
    for address in ("/accounts/sign-out", "//evil.test", "../up", "#part", "?q", "&#106;avascript:x"):
        assert "href=" not in render(f"[x]({address})")


def test_images_leave_their_words_only() -> None:
    html = render("![the **logo**](https://e.test/pixel.png) [![a](x.png)](https://e.test)")
    assert "img" not in html and "pixel" not in html
    assert "the logo" in html and ">a</a>" in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<style>*{display:none}</style>",
        "<a href='https://e.test' onclick='x()'>x</a>",
        "<iframe srcdoc='<script>x</script>'></iframe>",
        "**<b onmouseover=x>**",
        "`<script>`",
        '```"><script>x</script>\n<script>x</script>\n```',
        '[x](https://e.test/" onmouseover="x)',
        '[x](https://e.test "\\" onmouseover=\\"x")',
        "|<script>|\n|-|\n|<style>|",
        "<!-- --><?php ?><![CDATA[<script>x</script>]]>",
    ],
)
def test_html_of_the_author_stays_text(hostile: str) -> None:
    html = render(hostile)
    assert not re.search(r"<(?!/?[a-z])|<(script|img|svg|style|iframe|b )", html)
    assert not ALLOWED_TAG.sub("", html).count("<")


@given(st.text(st.sampled_from("<>[]()!\"'`*_#|-&;:\\ \nabhrefscipt/=\x00\u202e"), max_size=80))
def test_whatever_is_written_only_allowed_tags_come_out(source: str) -> None:
    assert "<" not in ALLOWED_TAG.sub("", render(source))


def test_hidden_controls_are_shown() -> None:
    assert "⟨U+202E⟩" in render("a\u202eb")
    assert "␀" in render("a\x00b")


@pytest.mark.parametrize("piece", ["[", "![", "> ", "`a", "*a ", "- ", "[a](<", "|a", "&#x", "<a"])
def test_text_without_end_is_cut_and_stays_quick(piece: str) -> None:
    started = time.perf_counter()
    html = render(piece * MAX_CHARACTERS)
    assert time.perf_counter() - started < 10
    assert len(html) < 20 * MAX_CHARACTERS


def test_cut_text_says_so() -> None:
    assert f"Cut after {MAX_CHARACTERS} characters." in render("word " * MAX_CHARACTERS)
    assert "Cut after" not in render("word")
