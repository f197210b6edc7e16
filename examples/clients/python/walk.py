"""A walk through the API with a client that openapi-python-client made of /openapi.json:

    openapi-python-client generate --url "$LOGWEIR_URL/openapi.json?api_key=$LOGWEIR_API_KEY" --output-path logweir_client --meta none
    LOGWEIR_URL=http://127.0.0.1:8080 LOGWEIR_TENANT=1 LOGWEIR_API_KEY=… python walk.py
"""

import os
import time

from logweir_client import AuthenticatedClient
from logweir_client.api.alerts import list_alerts
from logweir_client.api.logs import count_entries, list_facets, search_entries
from logweir_client.api.patterns import list_patterns
from logweir_client.api.rules import create_rule, delete_rule, get_rule
from logweir_client.models import CreateRuleBody, QueryError, SearchEntriesBody

url = os.environ["LOGWEIR_URL"]
tenant = int(os.environ["LOGWEIR_TENANT"])
client = AuthenticatedClient(base_url=url, token=os.environ["LOGWEIR_API_KEY"], raise_on_unexpected_status=True)


def search(query):
    return search_entries.sync(tenant, client=client, body=SearchEntriesBody(query=query))


# what shippers send is JSON in lines, which the client leaves to them
sent = client.get_httpx_client().post("/api/v1/ingest", json=[{"_msg": f"walk {i}", "level": "error", "service": "walk"} for i in range(3)])
print("accepted", sent.json()["accepted"])

until = time.monotonic() + 60
while len((found := search('service:"walk"')).logs) < 3:
    assert time.monotonic() < until, "the entries are not found"
    time.sleep(0.2)
print("found", sorted(log.field_msg for log in found.logs))
print("hits", sum(hit.hits for hit in count_entries.sync(tenant, client=client, query='service:"walk"').hits))
facets = list_facets.sync(tenant, client=client, query='service:"walk"')
print("facets", "level" in str(facets.to_dict()))
print("patterns", type(list_patterns.sync(tenant, client=client).patterns).__name__)
print("alerts", list_alerts.sync(tenant, client=client).total)

made = create_rule.sync(tenant, client=client, body=CreateRuleBody.from_dict({"query": "level:error | stats count()", "if": "value > 1000"}))
print("rule", get_rule.sync(tenant, made.id, client=client).query)
delete_rule.sync_detailed(tenant, made.id, client=client)

wrong = search("a | sort by (")
assert isinstance(wrong, QueryError), wrong
print("refused", wrong.detail)
