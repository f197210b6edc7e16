# Logs with Python's logging to the Loki path: pip install python-logging-loki
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import logging
import os

import logging_loki

handler = logging_loki.LokiHandler(
    url=os.environ["LOGWEIR_INGEST_URL"] + "/loki/api/v1/push",
    auth=(os.environ["LOGWEIR_API_KEY"], ""),
    tags={"service": "checkout", "env": "production"},
    version="1",
)
logger = logging.getLogger("orders")
logger.setLevel(logging.INFO)
logger.addHandler(handler)

logger.info("order created for Zoë ☕", extra={"tags": {"order": "A-77"}})
try:
    raise ValueError("card declined")
except ValueError:
    logger.exception("payment failed")
