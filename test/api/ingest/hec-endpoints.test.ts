import { expect } from 'chai';
import { hecEndpoints } from '../../../api/ingest/hec-endpoints.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { hecEvent } from '../../../pipeline/normalizers/hec-event.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { startHost } from '../../fakes/test-host.ts';

describe("Splunk's HTTP Event Collector", () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      normalizers: [hecEvent],
      publisher: new FakeLogPublisher(),
      limits: [],
      maxBodyBytes: 10_000,
      metrics: new Metrics('test'),
    });
    host = await startHost({ endpoints: [...endpoints, ...hecEndpoints] });
  });
  after(() => host.stop());

  type Answer = { readonly status: number; readonly body: Record<string, unknown> };
  async function ask(method: string, target: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(host.url + target, {
      method,
      headers: { authorization: 'Bearer all', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
  const channel = { 'x-splunk-request-channel': 'hec-endpoints-test' };

  for (const target of ['/services/collector/health', '/services/collector/health/1.0'])
    it(`is healthy at ${target}, for those with a key`, async () => {
      expect(await ask('GET', target)).to.deep.equal({ status: 200, body: { text: 'HEC is healthy', code: 17 } });
      const refused = await ask('GET', target, undefined, { authorization: '' });
      expect(refused.status).to.equal(401);
      expect(refused.body).to.include({ text: 'Token is required', code: 2 });
    });

  for (const target of ['/services/collector', '/services/collector/event', '/services/collector/event/1.0'])
    it(`takes events at ${target}`, async () => {
      expect(await ask('POST', target, '{"event":"a"}')).to.deep.equal({ status: 200, body: { text: 'Success', code: 0 } });
      expect((await ask('POST', target, '{"event":""}')).body).to.include({ code: 13, 'invalid-event-number': 0, error: 'invalid_body' });
      expect((await ask('POST', target, '')).body).to.include({ text: 'No data', code: 5 });
      expect((await ask('POST', target, '{"event":"a"}', { authorization: 'Splunk all' })).status).to.equal(401);
    });

  it('acknowledges what it handed out', async () => {
    const sent = await ask('POST', '/services/collector/event', '{"event":"a"}', channel);
    expect(sent.body).to.deep.equal({ text: 'Success', code: 0, ackId: 0 });
    expect(await ask('POST', '/services/collector/ack', '{"acks":[0]}', channel)).to.deep.equal({
      status: 200,
      body: { acks: { '0': true } },
    });
    expect((await ask('POST', '/services/collector/ack?channel=x', '{"acks":[1,2]}')).body).to.deep.equal({
      acks: { '1': true, '2': true },
    });
    expect((await ask('POST', '/services/collector/ack', '{"acks":[]}', channel)).body).to.deep.equal({ acks: {} });
  });
  it('asks for a channel', async () => {
    const { status, body } = await ask('POST', '/services/collector/ack', '{"acks":[0]}');
    expect(status).to.equal(400);
    expect(body).to.include({ text: 'Data channel is missing', code: 10 });
  });
  for (const body of ['', 'null', '[]', '{}', '{"acks":5}', '{"acks":["0"]}', '{"acks":[-1]}', '{"acks":[1.5]}', '{"acks"'])
    it(`refuses ${JSON.stringify(body)} as a question for acknowledgements`, async () => {
      const answer = await ask('POST', '/services/collector/ack', body, channel);
      expect(answer.status).to.equal(400);
      expect(answer.body).to.include({ code: 6 });
    });
});
