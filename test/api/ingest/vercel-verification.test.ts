import { expect } from 'chai';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { vercelVerification } from '../../../api/ingest/vercel-verification.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { vercel } from '../../../pipeline/normalizers/vercel.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { startHost } from '../../fakes/test-host.ts';

describe("Vercel's verification of a drain", () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      normalizers: [vercel],
      publisher: new FakeLogPublisher(),
      limits: [],
      maxBodyBytes: 10_000,
      metrics: new Metrics('test'),
    });
    host = await startHost({ endpoints: [...endpoints, ...vercelVerification] });
  });
  after(() => host.stop());

  for (const [method, body] of [['GET'], ['HEAD'], ['POST', '[{"message":"a"}]']] as const)
    it(`answers ${method} with the value of the URL`, async () => {
      const response = await fetch(`${host.url}/api/v1/drain/vercel?api_key=all&verify=team-1`, {
        method,
        ...(body === undefined ? {} : { body }),
      });
      await response.text();
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-vercel-verify')).to.equal('team-1');
    });
  it('needs a key', async () => {
    const response = await fetch(`${host.url}/api/v1/drain/vercel?verify=team-1`);
    await response.text();
    expect(response.status).to.equal(401);
  });
  it('sends no value that it was not given', async () => {
    const response = await fetch(`${host.url}/api/v1/drain/vercel?api_key=all`);
    await response.text();
    expect(response.headers.get('x-vercel-verify')).to.equal(null);
  });
});
