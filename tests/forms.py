"""The fields of a form as a page shows it, to be sent as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser

Fields = dict[str, list[str]]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Fields] = []
        self._area: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append({})
        elif tag == "input" and self.forms and "name" in values and "disabled" not in values:
            kind = values.get("type", "text")
            if kind not in ("checkbox", "radio") or "checked" in values:
                self._add(values["name"], values.get("value", ""))
        elif tag == "textarea" and self.forms:
            self._area = values["name"]
            self._add(self._area, "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.forms[-1][self._area][-1] += data

    def _add(self, name: str, value: str) -> None:
        self.forms[-1].setdefault(name, []).append(value)


def form_with(page: str, name: str) -> Fields:
    """The fields of the first form that has one of this name. Boxes that aren't ticked send nothing."""
    reader = _Reader()
    reader.feed(page)
    return next(form for form in reader.forms if name in form)
