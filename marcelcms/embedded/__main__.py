"""`python -m marcelcms.embedded`."""

import sys

from marcelcms.embedded.run import main

sys.exit(main())
