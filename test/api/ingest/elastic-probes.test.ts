import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { health } from '../../../api/http/endpoint.ts';
import { elasticProbes } from '../../../api/ingest/elastic-probes.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { esBulk } from '../../../pipeline/normalizers/es-bulk.ts';
import { fluent } from '../../../pipeline/normalizers/fluent.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { startHost } from '../../fakes/test-host.ts';

type Asked = readonly [method: string, path: string];
const BULK: Asked = ['POST', '/_bulk'];

/** What each client asks, in its order, below the URL that it was given. */
const SEQUENCES: Readonly<Record<string, readonly Asked[]>> = {
  'Filebeat 7': [
    ['GET', ''],
    ['GET', '/_license?human=false'],
    ['GET', ''],
    ['GET', '/_xpack'],
    ['HEAD', '/_index_template/filebeat-7.17.28'],
    ['GET', '/'],
    BULK,
  ],
  'Filebeat 8, which sets up': [
    ['GET', '/'],
    ['GET', '/_license?human=false'],
    ['GET', '/_ilm/policy/filebeat'],
    ['PUT', '/_ilm/policy/filebeat'],
    ['HEAD', '/_index_template/filebeat-8.19.0'],
    ['PUT', '/_index_template/filebeat-8.19.0'],
    ['HEAD', '/_data_stream/filebeat-8.19.0'],
    ['PUT', '/_data_stream/filebeat-8.19.0'],
    ['PUT', '/_data_stream/_lifecycle'],
    ['PUT', '/_ingest/pipeline/filebeat-8.19.0-nginx-access-pipeline'],
    BULK,
  ],
  Logstash: [
    ['HEAD', '/'],
    ['GET', '/'],
    ['GET', '/_license'],
    ['GET', '/_xpack/license'],
    ['HEAD', '/_index_template/ecs-logstash'],
    ['PUT', '/_index_template/ecs-logstash'],
    ['HEAD', '/_ilm/policy/logstash-policy'],
    ['PUT', '/_ilm/policy/logstash-policy'],
    ['GET', '/_nodes/http'],
    ['GET', '/_logstash/pipeline?id=main'],
    BULK,
  ],
  Telegraf: [['GET', '/'], ['HEAD', '/_template/telegraf'], ['PUT', '/_template/telegraf'], BULK],
  Vector: [['GET', '/_cluster/health'], ['GET', '/'], BULK],
  'winston-elasticsearch': [
    ['GET', '/_cluster/health?timeout=30s&wait_for_nodes=%3E%3D1&wait_for_status=yellow'],
    BULK,
    ['HEAD', '/_index_template/template_logs'],
    ['PUT', '/_index_template/template_logs'],
    ['POST', '/_bulk?wait_for_active_shards=1&timeout=200ms'],
  ],
  'pino-elasticsearch': [BULK, ['GET', '/pino/_refresh'], ['POST', '/pino/_refresh'], ['GET', '/_refresh']],
  'rsyslog omelasticsearch': [['GET', '/_cat/health'], ['HEAD', '/_cat/health'], BULK],
  'elasticsearch-py': [
    ['HEAD', '/'],
    ['PUT', '/_bulk'],
    ['PUT', '/logs/_bulk'],
    ['PUT', '/_component_template/logs'],
    ['GET', '/_nodes'],
  ],
};

describe("Elasticsearch's probes", () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      normalizers: [esBulk, fluent],
      publisher: new FakeLogPublisher(),
      limits: [],
      maxBodyBytes: 200_000,
      metrics: new Metrics('test'),
    });
    const keys = new FakeKeyStore({ all: {}, reader: { scopes: new Set(['read']) } });
    host = await startHost({ endpoints: [health, ...endpoints, ...elasticProbes], keys });
  });
  after(() => host.stop());

  /** Asks as a client does; a request that brings something brings 100 kB, as Filebeat's template is. */
  async function ask(
    method: string,
    target: string,
    key: string | null = 'all',
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const isBulk = target.includes('/_bulk');
    const brings = method === 'PUT' || method === 'POST';
    const body = isBulk ? '{"create":{}}\n{"_msg":"a"}\n' : JSON.stringify({ template: 'x'.repeat(100_000) });
    const response = await fetch(host.url + target, {
      method,
      headers: key === null ? {} : { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      ...(brings ? { body } : {}),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** What Elastic's clients want of every answer. */
  function expectElastic({ headers }: { headers: Headers }, status: string): void {
    expect(headers.get('x-elastic-product'), status).to.equal('Elasticsearch');
    expect(headers.get('content-type'), status).to.equal('application/json');
  }

  for (const prefix of ['', '/insert/elasticsearch'])
    for (const [client, sequence] of Object.entries(SEQUENCES))
      it(`answers what ${client} asks at ${prefix === '' ? 'the root' : prefix}`, async () => {
        for (const [method, target] of sequence) {
          const answer = await ask(method, prefix + target);
          expect(answer.status, `${method} ${target}`).to.equal(200);
          expectElastic(answer, `${method} ${target}`);
          if (method === 'HEAD') expect(answer.text).to.equal('');
          else expect(() => JSON.parse(answer.text) as unknown, `${method} ${target}`).to.not.throw();
        }
      });

  it('says which version it speaks', async () => {
    for (const target of ['/', '/insert/elasticsearch', '/insert/elasticsearch/']) {
      const about = JSON.parse((await ask('GET', target)).text) as { version: { number: string; build_flavor: string }; tagline: string };
      expect(about.tagline).to.equal('You Know, for Search');
      expect(about.version).to.include({ number: '8.19.0', build_flavor: 'default' });
    }
  });
  it('acknowledges what is set up', async () => {
    for (const target of ['/_index_template/a', '/_template/a', '/_component_template/a', '/_ilm/policy/a', '/_ingest/pipeline/a'])
      expect(JSON.parse((await ask('PUT', target)).text), target).to.include({ acknowledged: true });
  });

  it('needs a key with the scope ingest, and says so as Elastic would', async () => {
    for (const target of ['/', '/_license', '/insert/elasticsearch', '/insert/elasticsearch/_xpack', '/pino/_refresh']) {
      const without = await ask('GET', target, null);
      expect(without.status, target).to.equal(401);
      expectElastic(without, target);
      for (const key of ['unknown', 'reader']) expect((await ask('GET', target, key)).status, target).to.equal(403);
    }
  });
  it('leaves every other path as it is', async () => {
    for (const target of ['/nothing', '/a/b', '/_unknown', '/insert/elasticsearch/logs', '/insert'])
      expect((await ask('GET', target)).status, target).to.equal(404);
    expect((await ask('GET', '/health', null)).status).to.equal(200);
    expect((await ask('GET', '/_bulk')).status).to.equal(405);
    expect((await ask('DELETE', '/_template/a')).status).to.equal(405);
    expect(JSON.parse((await ask('POST', '/_index_template/_bulk')).text)).to.have.property('items');
  });

  it('answers the captured probes of real clients', async () => {
    const folder = path.resolve(
      import.meta.dirname,
      '../../..',
      process.env['LOGWEIR_SHARED'] ?? '../shared',
      'conformance/wire/captures/es_bulk',
    );
    let probes = 0;
    for (const file of readdirSync(folder).filter((name) => !name.endsWith('.expected.json'))) {
      const { requests } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
        requests: { method: string; path: string; probe: boolean }[];
      };
      for (const { method, path: target } of requests.filter(({ probe }) => probe)) {
        const answer = await ask(method, target);
        expect(answer.status, `${file} ${method} ${target}`).to.equal(200);
        expectElastic(answer, `${file} ${method} ${target}`);
        probes += 1;
      }
    }
    expect(probes).to.be.above(5);
  });
});
