import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventReader } from '../../cli/event-stream.ts';
import { main } from '../../cli/main.ts';
import { tailCommand } from '../../cli/tail.ts';

const entry = (id: string, n: number): string =>
  `id: ${id}\ndata: {"_time":"2026-11-18T10:00:00Z","_msg":"m","level":"error","n":${String(n)}}\n\n`;

describe('logweir tail', () => {
  let server: http.Server;
  const asked: { readonly url: URL; readonly lastId: string }[] = [];
  /** What is answered, one after the other: a status, and what is sent before the connection is closed. */
  let answers: (readonly [status: number, text: string])[] = [];
  const ending = { controller: new AbortController() };
  before(async () => {
    server = http.createServer((request, response) => {
      asked.push({ url: new URL(request.url ?? '', 'http://x'), lastId: String(request.headers['last-event-id'] ?? '') });
      // all was read by then
      if (answers.length === 0) ending.controller.abort();
      const [status, text] = answers.shift() ?? [200, ''];
      response.writeHead(status, { 'Content-Type': 'text/event-stream' }).end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  beforeEach(() => {
    asked.length = 0;
    ending.controller = new AbortController();
  });

  async function run(argv: readonly string[], isTerminal = false): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    const env = { LOGWEIR_URL: `127.0.0.1:${String((server.address() as AddressInfo).port)}`, LOGWEIR_API_KEY: 'k' };
    const output = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), isTerminal };
    return { code: await tailCommand(argv, env, output, ending.controller.signal), out, err };
  }

  it('prints entries as they come, and goes on behind the last one when the connection is lost', async () => {
    answers = [
      [200, `event: ready\nid: p0\ndata: {}\n\n${entry('p1', 1)}${entry('p2', 2)}id: p3\ndata: {"cut off`],
      [200, entry('p3', 3)],
    ];
    const { code, out, err } = await run(['level:error', '--since', '-5m', '--fields', '_time,a b']);
    expect(code).to.equal(0);
    expect(out.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { n: number }).n]))).to.deep.equal([1, 2, 3]);
    expect(err).to.contain('Connecting again');
    expect(asked.map(({ lastId }) => lastId)).to.deep.equal(['', 'p2', 'p3']);
    expect(asked[0]?.url.pathname).to.equal('/api/v1/tenants/1/tail');
    expect(asked[0]?.url.searchParams.get('query')).to.equal('level:error | fields "_time", "a b"');
    expect(asked[0]?.url.searchParams.get('since')).to.equal('-5m');
  });

  it('prints lines on a terminal, and says what was dropped, cut and failed', async () => {
    answers = [
      [
        200,
        'event: backfill\ndata: {"count":10000,"cut":true}\n\n' +
          entry('p1', 1) +
          'event: dropped\ndata: {"count":7,"reason":"slow","since":"a","until":"b"}\n\nevent: failed\ndata: {"detail":"The service stops."}\n\n',
      ],
    ];
    const { out, err } = await run(['*'], true);
    expect(out).to.contain('ERROR').and.to.contain('m');
    for (const words of ['more stored entries than these 10000', '7 entries were dropped (slow)', 'The service stops.'])
      expect(err).to.contain(words);
  });

  it('ends with the code of a wrong query and of a refused key', async () => {
    for (const [status, name] of [
      [400, 'UsageError'],
      [403, 'Error'],
    ] as const) {
      answers = [[status, '{"detail":"no"}']];
      const error = await run(['*']).catch((thrown: unknown) => thrown as Error);
      expect(error).to.include({ name, message: 'no' });
    }
    let err = '';
    const output = { out: () => undefined, err: (text: string) => void (err += text), isTerminal: false };
    expect(await main(['tail'], { LOGWEIR_API_KEY: 'k' }, output)).to.equal(2);
    expect(await main(['tail', '*', '--format', 'x'], { LOGWEIR_API_KEY: 'k' }, output)).to.equal(2);
    expect(err).to.contain('one argument');
  });

  it('reads text with separators of lines, which JSON has unescaped', () => {
    const [event] = new EventReader().take('id: a\ndata: {"_msg":"a\u2028b\u2029c"}\n\n');
    expect(event).to.deep.equal({ type: 'message', id: 'a', data: '{"_msg":"a\u2028b\u2029c"}' });
  });

  it('reads events however they are cut', () => {
    const text = `event: ready\nid: a\ndata: {}\n\n: a comment\n\n${entry('b', 1)}`;
    for (let size = 1; size < 20; size++) {
      const reader = new EventReader();
      const events = Array.from({ length: Math.ceil(text.length / size) }, (_none, at) => [
        ...reader.take(text.slice(at * size, (at + 1) * size)),
      ]).flat();
      expect(events.filter(({ data }) => data !== '').map(({ type, id }) => [type, id])).to.deep.equal([['ready', 'a'], ['message', 'b']]); // prettier-ignore
    }
  });
});
