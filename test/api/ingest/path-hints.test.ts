import { expect } from 'chai';
import { ingestHint } from '../../../api/ingest/path-hints.ts';
import { normalizers, spanNormalizers } from '../../../pipeline/normalizers/index.ts';

const HINTS: readonly (readonly [path: string, named: RegExp])[] = [
  ['/api/v2/logs', /\/api\/v1\/ingest/],
  ['/v1/input/KEY', /\/api\/v1\/ingest/],
  ['/insert/datadog/api/v2/logs', /\/api\/v1\/ingest/],
  ['/ingest/clef', /\/api\/v1\/ingest/],
  ['/api/events/raw', /\/api\/v1\/ingest/],
  ['/api/prom/push', /\/loki\/api\/v1\/push/],
  ['/insert/journald/upload', /\/api\/v1\/syslog/],
  ['/insert/native', /not supported/],
  ['/insert/opentelemetry/api/v1/push', /\/v1\/logs/],
  ['/insert/splunk/services/collector/mint', /\/services\/collector\/event/],
  ['/services', /\/services\/collector\/raw/],
  ['/insert/loki/ready', /\/loki\/api\/v1\/push/],
  ['/loki/api/v1/query_range', /\/loki\/api\/v1\/push/],
  ['/logs-app-default/_doc', /\/INDEX\/_bulk/],
  ['/logs/_create/1', /\/INDEX\/_bulk/],
  ['/insert/elasticsearch/_doc', /\/_bulk/],
  ['/_search', /LogsQL/],
  ['/insert/jsonlines', /\/insert\/jsonline,/],
  ['/fluentd', /\/api\/v1\/fluent/],
  ['/logs', /\/api\/v1\/ingest/],
  ['/api/v1/logs', /\/api\/v1\/ingest/],
  ['/ingest', /\/api\/v1\/ingest/],
  ['/otlp/v1/log', /\/v1\/logs/],
  ['/heroku', /\/api\/v1\/drain\/heroku/],
];

describe('what a 404 says of a path that shippers know', () => {
  for (const [path, named] of HINTS)
    it(`${path} has another one here`, () =>
      expect(ingestHint(path))
        .to.match(/^No such path\. /)
        .and.match(named));

  it('is nothing special of others', () => {
    for (const path of ['/', '/favicon.ico', '/api/v1/tenants/1/search', `/${'a'.repeat(100_000)}/_doc`])
      expect(ingestHint(path)).to.equal(undefined);
  });

  it('names paths that there are', () => {
    const paths = new Set([...normalizers.members, ...spanNormalizers.members].flatMap(({ paths: own }) => own));
    const named = HINTS.flatMap(([path]) => (ingestHint(path) ?? '').match(/\/(?:[a-z0-9_]+\/)*[a-z0-9_]+(?=[\s,;.]|$)/g) ?? []);
    const probes = ['/services/collector/health', '/services/collector/ack'];
    expect([...new Set(named)].filter((path) => !paths.has(path) && !probes.includes(path) && !/^\/_bulk/.test(path))).to.deep.equal([]);
  });
});
