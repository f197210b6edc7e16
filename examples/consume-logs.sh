#!/usr/bin/env bash
# Prints time (ns), service and message of the entries on logs.v1, from any Kafka: examples/consume-logs.sh HOST:PORT [consumer flags]
# Uses kafka-console-consumer.sh where there is one, else the jars that `npm start` has fetched. Tenant and streams are in the headers.
set -eu
brokers=$1
shift
jars=("$(cd "$(dirname "$0")/.." && pwd)"/.cache/logweir/kafka-*)
if command -v kafka-console-consumer.sh >/dev/null; then
  consume=(kafka-console-consumer.sh)
else
  consume=(java -Dorg.apache.logging.log4j.level=OFF -cp "${jars[0]}/*" org.apache.kafka.tools.consumer.ConsoleConsumer)
fi
"${consume[@]}" --bootstrap-server "$brokers" --topic logs.v1 "$@" |
  python3 -c 'import sys, json
for line in filter(str.strip, sys.stdin):
    row = json.loads(line)
    print(row["_time"], row.get("service", "-"), row["_msg"], flush=True)'
