"""The pure core of publication: no Django, no database, no pydantic.

* `manifest`: the parts of a manifest as frozen dataclasses
* `stored`: a manifest as its exact bytes, its digest and reference, and the strict way back
* `codec`: dataclasses to canonical JSON and back, for manifests and records
* `facts`: what a manifest is made from; `extracts`: facts taken from definitions, public parts only
* `assemble`: facts to a manifest; corrections and withdrawals of published results
* `consistency`: all that must hold inside a manifest
* `records`: the chain of records beside the manifests
* `verify`: what anybody can recompute from stored bytes and records
* `diff`: what differs between two manifests, in words and with reasons
* `disclosure`: what becomes public and what stays private, kind by kind
"""
