import { expect } from 'chai';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { startHost } from '../../fakes/test-host.ts';

/** What became of the streams of a host. */
type Seen = { sent: number; ended: number };

function streaming(path: string, seen: Seen, make: () => AsyncGenerator<string>): Endpoint {
  async function* watched(): AsyncGenerator<string> {
    try {
      for await (const text of make()) {
        seen.sent += 1;
        yield text;
      }
    } finally {
      seen.ended += 1;
    }
  }
  return { methods: ['GET'], path, errors: 'text', access: null, handle: () => Promise.resolve({ status: 200, stream: watched() }) };
}

const MEGABYTE = 'x'.repeat(1_000_000);

describe('an answer that is a stream', () => {
  const seen: Seen = { sent: 0, ended: 0 };
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({
      endpoints: [
        streaming('/three', seen, async function* () {
          yield* ['a\n', 'b\n'];
          await Promise.resolve();
          yield 'c\n';
        }),
        streaming('/fails', seen, async function* () {
          await Promise.resolve();
          yield 'a\n';
          throw new Error('cut');
        }),
        streaming('/endless', seen, async function* () {
          for (;;) {
            await Promise.resolve();
            yield MEGABYTE;
          }
        }),
      ],
    });
  });
  after(() => host.stop());
  beforeEach(() => {
    seen.sent = 0;
    seen.ended = 0;
  });
  const ended = async (): Promise<void> => {
    for (let attempt = 0; seen.ended === 0; attempt += 1) {
      if (attempt > 4000) expect.fail('the stream was not ended');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  it('is sent as JSON lines, without a length', async () => {
    const response = await fetch(`${host.url}/three`);
    expect(response.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8');
    expect(response.headers.get('content-length')).to.equal(null);
    expect(response.headers.get('x-request-id')).to.be.a('string');
    expect(await response.text()).to.equal('a\nb\nc\n');
  });

  it('is cut off where it fails, so that nobody takes it for whole', async () => {
    const response = await fetch(`${host.url}/fails`);
    expect(response.status).to.equal(200);
    const error = await response.text().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error);
  });

  it('goes no faster than the client reads, and ends when the client goes', async () => {
    const response = await fetch(`${host.url}/endless`);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(seen.sent).to.be.below(100);
    await reader?.cancel();
    await ended();
  });

  it('is begun and left where only the headers are asked for', async () => {
    const response = await fetch(`${host.url}/endless`, { method: 'HEAD' });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
    await ended();
    expect(seen.sent).to.equal(1);
  });
});
