import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { main } from '../../cli/main.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

type Asked = { readonly start: string; readonly end: string; readonly before: string | null };
type Log = Readonly<Record<string, unknown>>;

const WINDOW = { start: '2026-11-18T09:00:00Z', end: '2026-11-18T10:00:00Z' };
const log = (n: number): Log => ({ _time: `2026-11-18T09:00:0${String(n)}Z`, _stream: '{}', _msg: `m${String(n)}`, level: 'info', n });

describe('logweir query', () => {
  let server: http.Server;
  const asked: Asked[] = [];
  /** Pages as the service has them: the newest first; of rows of pipes `oldest_time` is null. */
  let pages: (readonly [logs: readonly Log[], oldestTime: string | null, hasMore: boolean])[] = [];
  before(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        asked.push(JSON.parse(body) as Asked);
        const [logs, oldestTime, hasMore] = pages.shift() ?? [[], null, false];
        response.end(JSON.stringify({ logs, has_more: hasMore, oldest_time: oldestTime, window: WINDOW }));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  beforeEach(() => {
    asked.length = 0;
    pages = [
      [[log(4), log(3)], 'c3', true],
      [[log(2), log(1)], 'c1', false],
    ];
  });

  async function query(argv: readonly string[], isTerminal = false): Promise<CapturedOutput & { readonly code: number }> {
    const to = new CapturedOutput({ isTerminal });
    const env = { LOGWEIR_URL: `127.0.0.1:${String((server.address() as AddressInfo).port)}`, LOGWEIR_API_KEY: 'k' };
    return Object.assign(to, { code: await main(['query', '*', ...argv], env, to) });
  }
  const order = (text: string): string => [...text.matchAll(/\bm(\d)\b/g)].map(([, n]) => n).join('');

  for (const output of ['lines', 'ndjson', 'csv'])
    it(`prints the oldest first, over pages, and with --newest-first the newest: ${output}`, async () => {
      const saved = [...pages];
      expect(order((await query(['--output', output])).stdout)).to.equal('1234');
      expect(asked.map(({ before }) => before)).to.deep.equal([null, 'c3']);
      pages = saved;
      expect(order((await query(['--output', output, '--newest-first'])).stdout)).to.equal('4321');
    });

  it('keeps the order of rows of pipes, also of such that have a time and a stream', async () => {
    for (const argv of [[], ['--newest-first']]) {
      pages = [[[log(1), log(3), log(2)], null, false]];
      expect(order((await query(argv)).stdout)).to.equal('132');
    }
  });

  it('prints each page as it is read with --newest-first', async () => {
    pages = [
      [[log(4)], 'c4', true],
      [[{ not: 'read' }], 'c3', false],
    ];
    const { stdout } = await query(['--newest-first', '--limit', '1']);
    expect([order(stdout), asked.length]).to.deep.equal(['4', 1]);
  });

  it('prints lines on a terminal, NDJSON elsewhere, and what --output or --format names on both', async () => {
    const saved = [...pages];
    for (const [argv, isTerminal, first] of [
      [[], true, '\u001b[90m2026-11-18T09:00:01Z\u001b[39m \u001b[32mINFO \u001b[39m m1 \u001b[90mn=\u001b[39m1'],
      [['--color', 'never'], true, '2026-11-18T09:00:01Z INFO  m1 n=1'],
      [[], false, JSON.stringify(log(1))],
      [['--output', 'json'], true, JSON.stringify(log(1))],
      [['--format', 'lines'], false, '2026-11-18T09:00:01Z INFO  m1 n=1'],
      [['--output=csv'], false, '_time,level,service,_msg,_stream,n'],
    ] as const) {
      pages = [...saved];
      expect((await query(argv, isTerminal)).stdout.split('\n')[0], argv.join(' ')).to.equal(first);
    }
  });

  it('prints CSV of all rows with the columns of all', async () => {
    pages = [[[log(2), { ...log(1), _msg: '=1+1, "x"', 'http.status': 200 }], null, false]];
    expect((await query(['--output', 'csv', '--timezone', 'Asia/Tokyo'])).stdout).to.equal(
      '_time,level,service,_msg,_stream,n,http.status\n' +
        '2026-11-18T18:00:02+09:00,info,,m2,{},2,\n' +
        '2026-11-18T18:00:01+09:00,info,,"\'=1+1, ""x""",{},1,200\n',
    );
    pages = [[[], null, false]];
    expect(await query(['--output', 'csv'])).to.include({ stdout: '', code: 0 });
  });

  it('shows times in the zone, and reads those without one in it; JSON keeps them as they are stored', async () => {
    const saved = [...pages];
    const zone = ['--timezone', 'Europe/Berlin', '--start', '2026-11-18T10:00', '--end', '2026-11-18'];
    expect((await query([...zone, '--output', 'lines'])).stdout.split(' ')[0]).to.equal('2026-11-18T10:00:01+01:00');
    expect(asked[0]).to.include({ start: '2026-11-18T09:00:00Z', end: '2026-11-18T22:59:59.999999999Z' });
    pages = saved;
    expect((await query(zone)).stdout).to.contain('"_time":"2026-11-18T09:00:01Z"');
    pages = [];
    expect((await query(zone)).stderr).to.equal('Nothing matches from 2026-11-18T10:00:00+01:00 to 2026-11-18T11:00:00+01:00.\n');
    asked.length = 0;
    await query(['--start', '2026-11-18T10:00', '--end', '-5m']);
    expect(asked[0]).to.include({ start: '2026-11-18T10:00', end: '-5m' });
  });

  for (const [argv, sentence] of [
    [['--output', 'xml'], '--output is lines, ndjson or csv (got "xml").'],
    [['--color', 'sometimes'], '--color is auto, always or never.'],
    [['--timezone', 'Mars/Base'], '--timezone "Mars/Base" is not a known time zone'],
  ] as const)
    it(`exits with 2 for ${argv.join(' ')}`, async () => {
      const { code, stderr, stdout } = await query(argv);
      expect([code, stdout, stderr.startsWith(sentence)]).to.deep.equal([2, '', true]);
      expect(asked).to.deep.equal([]);
    });
});
