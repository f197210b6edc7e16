/** How to send: the configurations that `examples/` has, with the address of this service and a key in them. */
import alloy from '#shippers/alloy/config.alloy?raw';
import filebeat from '#shippers/filebeat/filebeat.yml?raw';
import fluentBit from '#shippers/fluent-bit/fluent-bit.conf?raw';
import fluentd from '#shippers/fluentd/fluent.conf?raw';
import heroku from '#shippers/heroku/drain.sh?raw';
import logstash from '#shippers/logstash/logstash.conf?raw';
import collector from '#shippers/otelcol/config.yaml?raw';
import prometheus from '#shippers/prometheus/prometheus.yml?raw';
import promtail from '#shippers/promtail/promtail.yaml?raw';
import rsyslog from '#shippers/rsyslog-omhttp/60-logweir.conf?raw';
import syslogNg from '#shippers/syslog-ng/logweir.conf?raw';
import vector from '#shippers/vector/vector.yaml?raw';
import { SNIPPETS, snippetOf } from '../start/snippets.ts';
import { filled } from './filled.ts';

export type Way = { readonly id: string; readonly name: string; readonly text: (url: string, key: string) => string };

const PROGRAMS: readonly Way[] = SNIPPETS.filter(({ id }) => ['curl', 'node', 'python'].includes(id)).map((snippet) => ({
  ...{ id: snippet.id, name: snippet.name },
  text: (url: string, key: string) => snippetOf(snippet, url, key),
}));

const example = (id: string, name: string, text: string): Way => ({ id, name, text: (url, key) => filled(text, url, key) });

export const WAYS: readonly Way[] = [
  ...PROGRAMS,
  example('vector', 'Vector', vector),
  example('fluent-bit', 'Fluent Bit', fluentBit),
  example('fluentd', 'Fluentd', fluentd),
  example('otelcol', 'OpenTelemetry Collector', collector),
  example('alloy', 'Grafana Alloy', alloy),
  example('promtail', 'Promtail', promtail),
  example('filebeat', 'Filebeat', filebeat),
  example('logstash', 'Logstash', logstash),
  example('rsyslog', 'rsyslog', rsyslog),
  example('syslog-ng', 'syslog-ng', syslogNg),
  example('prometheus', 'Prometheus (metrics)', prometheus),
  example('heroku', 'Heroku', heroku),
];
