"""Settings of the documentation site; `make docs` builds it."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from stepscope._version import __version__

project = "stepscope"
author = "The stepscope authors"
project_copyright = author
version = release = __version__

extensions = ["myst_nb", "reference_pages"]
exclude_patterns = ["_build", "_ext", "_static/*.md"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# "off" shows the notebooks without their results: make docs NOTEBOOKS=off
nb_execution_mode = os.environ.get("NOTEBOOKS", "cache")
suppress_warnings = ["myst-nb.lexer"]  # a notebook that was not executed does not tell its language
nb_execution_in_temp = True
nb_output_stderr = "remove"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / "notebooks")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "furo"
html_title = "stepscope"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    # Both pass the contrast of WCAG AA, which the theme's own code colours do not.
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ff", "color-brand-content": "#7cc4ff"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
