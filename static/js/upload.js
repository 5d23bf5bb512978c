// Uploads in parts: see below.
