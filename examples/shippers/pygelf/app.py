# Logs with Python's logging to the GELF path: pip install pygelf
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import logging
import os
from urllib.parse import urlsplit

from pygelf import GelfHttpHandler

address = urlsplit(os.environ["LOGWEIR_INGEST_URL"])
handler = GelfHttpHandler(
    host=address.hostname,
    port=address.port,
    compress=False,  # it would send zlib, which is not accepted
    include_extra_fields=True,
    _service="checkout",
)
handler.headers["Authorization"] = "Bearer " + os.environ["LOGWEIR_API_KEY"]
logger = logging.getLogger("orders")
logger.setLevel(logging.INFO)
logger.addHandler(handler)

logger.info("order created for Zoë ☕", extra={"order": "A-77", "number": 9223372036854775807})
try:
    raise ValueError("card declined")
except ValueError:
    logger.exception("payment failed")
