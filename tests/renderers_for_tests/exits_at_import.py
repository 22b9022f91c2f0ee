"""Does not load: it is a script that ends itself."""

import sys

sys.exit(1)
