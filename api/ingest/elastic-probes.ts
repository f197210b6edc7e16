import type { Endpoint } from '../http/endpoint.ts';
import { probed } from './described.ts';

/** What clients request first, and the answer; every path also below each prefix. */
type Probe = { readonly methods: readonly string[]; readonly path: string; readonly body: object };

const PREFIXES = ['', '/insert/elasticsearch'];
const READ = ['GET'];
const WRITE = ['GET', 'PUT', 'POST'];

/** The version whose clients and protocol this service speaks. */
const ABOUT = {
  name: 'logweir',
  cluster_name: 'logweir',
  cluster_uuid: 'logweir-logs-aaaaaaaaa',
  version: {
    number: '8.19.0',
    build_flavor: 'default',
    build_type: 'docker',
    lucene_version: '9.12.0',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
};
const HEALTH = {
  cluster_name: 'logweir',
  status: 'green',
  timed_out: false,
  number_of_nodes: 1,
  number_of_data_nodes: 1,
  active_primary_shards: 1,
  active_shards: 1,
  relocating_shards: 0,
  initializing_shards: 0,
  unassigned_shards: 0,
};
const LICENSE = { license: { status: 'active', uid: ABOUT.cluster_uuid, type: 'basic' } };
const REFRESHED = { _shards: { total: 1, successful: 1, failed: 0 } };
const ACKNOWLEDGED = { acknowledged: true };
/** Nothing to manage here: clients that query these features find them absent. */
const FEATURES = { features: { ilm: { available: false, enabled: false }, security: { available: true, enabled: true } } };

/**
 * The requests that Elasticsearch's clients and shippers make around `_bulk`. There are neither indices nor templates here. What is
 * requested is reported to exist (HEAD and GET are 200); what is set up is acknowledged and not kept:
 *
 * - Filebeat and its kin: GET / and /_license and /_xpack, HEAD /_index_template/…, PUT of templates, pipelines and policies
 * - Logstash: HEAD and GET /, /_license, /_index_template/…, /_ilm/policy/…, /_nodes/http, /_logstash/…
 * - Telegraf: GET /, HEAD and PUT /_template/…; Vector: GET /_cluster/health; rsyslog: GET /_cat/health
 * - winston-elasticsearch: GET /_cluster/health, HEAD /_index_template/…; pino-elasticsearch: GET or POST /{index}/_refresh
 */
const PROBES: readonly Probe[] = [
  { methods: READ, path: '/', body: ABOUT },
  { methods: READ, path: '/_license', body: LICENSE },
  { methods: READ, path: '/_xpack/license', body: LICENSE },
  { methods: READ, path: '/_xpack', body: FEATURES },
  { methods: READ, path: '/_cluster/health', body: HEALTH },
  { methods: READ, path: '/_cluster/health/*', body: HEALTH },
  { methods: READ, path: '/_nodes', body: { nodes: {} } },
  { methods: READ, path: '/_nodes/*', body: { nodes: {} } },
  { methods: READ, path: '/_cat/*', body: [] },
  { methods: WRITE, path: '/_ilm/*', body: ACKNOWLEDGED },
  { methods: WRITE, path: '/_index_template/*', body: { index_templates: [], ...ACKNOWLEDGED } },
  { methods: WRITE, path: '/_template/*', body: ACKNOWLEDGED },
  { methods: WRITE, path: '/_component_template/*', body: { component_templates: [], ...ACKNOWLEDGED } },
  { methods: WRITE, path: '/_ingest/*', body: ACKNOWLEDGED },
  { methods: READ, path: '/_data_stream', body: { data_streams: [] } },
  { methods: WRITE, path: '/_data_stream/*', body: { data_streams: [], ...ACKNOWLEDGED } },
  { methods: WRITE, path: '/_logstash/*', body: {} },
  { methods: ['GET', 'POST'], path: '/_refresh', body: REFRESHED },
  { methods: ['GET', 'POST'], path: '/:index/_refresh', body: REFRESHED },
];

/** An endpoint for every probe, at the root and below `/insert/elasticsearch`. A key with the scope `ingest` is needed. */
export const elasticProbes: readonly Endpoint[] = PREFIXES.flatMap((prefix) =>
  PROBES.map(({ methods, path, body }): Endpoint => ({
    methods,
    path: prefix === '' || path !== '/' ? prefix + path : prefix,
    errors: 'ingest',
    access: { plane: 'ingest', scope: 'ingest' },
    operation: probed('probe', prefix + path, "What Elasticsearch's clients request around sending"),
    handle: () => Promise.resolve({ status: 200, body }),
  })),
);
