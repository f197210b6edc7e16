# Ships log entries with Elastic's own client: pip install 'elasticsearch>=8'
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python ship.py
import os
from datetime import datetime, timezone

from elasticsearch import Elasticsearch, helpers

client = Elasticsearch(
    os.environ["LOGWEIR_INGEST_URL"] + "/insert/elasticsearch",
    bearer_auth=os.environ["LOGWEIR_API_KEY"],  # not api_key: that scheme is Elasticsearch's own
    http_compress=True,
)


def entry(message, level, **fields):
    now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    return {"_op_type": "create", "_index": "logs", "@timestamp": now, "message": message, "level": level, "service": "checkout", **fields}


successful, failed = helpers.bulk(
    client,
    [
        entry("order created for Zoë ☕", "info", order={"id": "A-77", "number": 9223372036854775807, "total": 49.5, "gift": True}),
        entry("payment failed", "error", reason="card declined"),
    ],
    max_chunk_bytes=1_000_000,  # a body may have 2 MiB
    raise_on_error=False,
)
print(f"successful {successful} failed {failed}")
