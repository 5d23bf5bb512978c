"""The site's settings, with everything it writes in a folder that goes away, whatever the shell has set.

DATABASE_URL is kept: it chooses the database server that the suite runs on.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

for _name in ("ALLOWED_HOSTS", "DEBUG", "PLURAL_SITE_URL", "SECRET_KEY"):
    os.environ.pop(_name, None)
os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="plural-site-tests-")
atexit.register(shutil.rmtree, os.environ["DATA_DIR"], ignore_errors=True)

from plural_site.settings import *  # noqa: E402, F403 - after the environment is set

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast
