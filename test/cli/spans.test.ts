import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { main } from '../../cli/main.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

const WINDOW = { start: '2026-11-18T09:00:00Z', end: '2026-11-18T10:00:00Z' };
const TRACE = 'a0000000000000000000000000000001';
const span = (n: number, more: object = {}): object => ({
  ...{
    _time: `2026-11-18T09:00:0${String(n)}Z`,
    _stream: '{service="cart"}',
    _msg: 'get',
    trace_id: TRACE,
    span_id: `b00000000000000${String(n)}`,
  },
  ...{
    name: 'get',
    service: 'cart',
    kind: 'server',
    status: 'unset',
    duration: 12_500_000,
    'user.id': `u${String(n)}`,
    'resource.host.name': 'h',
  },
  ...more,
});

describe('logweir spans', () => {
  let server: http.Server;
  const asked: (readonly [string | undefined, unknown])[] = [];
  let spans: readonly object[] = [];
  before(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        asked.push([request.url, JSON.parse(body)]);
        response.end(
          JSON.stringify({ spans, has_more: false, oldest_time: WINDOW.start, window: WINDOW, hints: ['No span has the status "x".'] }),
        );
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  beforeEach(() => {
    asked.length = 0;
    spans = [span(2, { status: 'error', status_message: 'no\nanswer' }), span(1)];
  });

  async function run(argv: readonly string[]): Promise<CapturedOutput & { readonly code: number }> {
    const to = new CapturedOutput({ isTerminal: false });
    const env = { LOGWEIR_URL: `127.0.0.1:${String((server.address() as AddressInfo).port)}`, LOGWEIR_API_KEY: 'k' };
    return Object.assign(to, { code: await main(['spans', ...argv], env, to) });
  }

  it('prints spans as lines, the oldest first', async () => {
    const { stdout, code } = await run(['status:error', '--output', 'lines', '--start', '-2h']);
    expect(code).to.equal(0);
    expect(stdout.split('\n')).to.deep.equal([
      `2026-11-18T09:00:01Z  12.5ms cart get server user.id=u1 ${TRACE}`,
      `2026-11-18T09:00:02Z  12.5ms cart get server ERROR no\\nanswer user.id=u2 ${TRACE}`,
      '',
    ]);
    expect(asked[0]?.[0]).to.equal('/api/v1/tenants/1/spans/search');
    expect(asked[0]?.[1]).to.include({ query: 'status:error', start: '-2h' });
  });

  it('prints all fields as NDJSON, and rows of pipes', async () => {
    expect(JSON.parse((await run(['*'])).stdout.split('\n')[0] ?? '')).to.deep.equal(span(1));
    spans = [{ service: 'cart', n: 3 }];
    expect((await run(['* | stats by (service) count() n', '--output', 'lines'])).stdout).to.equal('cart n=3\n');
  });

  it('says what a query that found nothing may have meant, and what its help is', async () => {
    spans = [];
    const { stderr, code } = await run(['status:x']);
    expect([code, stderr]).to.deep.equal([0, `Nothing matches from ${WINDOW.start} to ${WINDOW.end}.\nNo span has the status "x".\n`]);
    expect((await run(['--help'])).stdout).to.include("Usage: logweir spans '<LogsQL>'");
    expect((await run([])).code).to.equal(2);
  });
});
