# Logs with Python's logging to the GELF path: pip install graypy
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import logging
import os
from urllib.parse import urlsplit

import graypy

address = urlsplit(os.environ["LOGWEIR_INGEST_URL"])
handler = graypy.GELFHTTPHandler(
    address.hostname,
    address.port,
    path="/gelf?api_key=" + os.environ["LOGWEIR_API_KEY"],
    compress=False,  # it would send zlib, which is not accepted
    localname="web-1",
)
logger = logging.getLogger("orders")
logger.setLevel(logging.INFO)
logger.addHandler(handler)

logger.info("order created for Zoë ☕", extra={"service": "checkout", "order": "A-77", "number": 9223372036854775807})
try:
    raise ValueError("card declined")
except ValueError:
    logger.exception("payment failed", extra={"service": "checkout"})
