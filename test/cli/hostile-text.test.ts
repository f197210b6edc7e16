import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { WebSocketServer } from 'ws';
import { ADMIN_COMMANDS } from '../../cli/admin-commands.ts';
import { alertsCommand } from '../../cli/alerts.ts';
import { auditCommand, type Audited } from '../../cli/audit.ts';
import { detectorCommand } from '../../cli/detector/detector.ts';
import { commands, main } from '../../cli/main.ts';
import { visible, type Sink } from '../../cli/output.ts';
import { tailCommand } from '../../cli/tail.ts';
import { topicCommand } from '../../cli/topic.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

const CLI = path.resolve(import.meta.dirname, '../../cli');
/** Text that a terminal obeys, in each of the ways it has. */
const H = 'H\u001b[31m\u001b]0;owned\u0007\u009b2J\u0000\b\rx\u007f\u202egnp\u2066\u2028E';
const SHOWN = /H\\u001[bB]\[31m\\u001[bB]\]0;owned\\u0007\\u009[bB]2J\\u0000(?:\\u0008|\\b)\\rx\\u007[fF]\\u202[eE]gnp\\u2066\\u2028E/;
const TIME = '2026-11-18T10:00:00Z';
const entry = { _time: TIME, _stream: H, level: H, service: H, _msg: H, [H]: H };
const alert = { id: 1, severity: H, title: H, description: H, state: H, stream: H, fired_at: TIME, last_updated_at: H, resolved_at: H };
const pattern = { fingerprint: H, normalized_message: H, level: H, count: 1, is_new: true, first_seen: H, last_seen: H, trend: [1], a: 1, b: 2, expected: 1 }; // prettier-ignore
const plan = { statements: [{ sql: H, values: { [H]: { type: H, value: H } } }], indexes: [H], memory: [H], otherwise: null };
const span = { spanId: H, parentSpanId: H, name: H, startTimeUnixNano: '1', endTimeUnixNano: '2', status: { code: 2, message: H } };
const foundSpan = { _time: '2026-11-18T10:00:00Z', name: H, service: H, kind: 'server', status: 'error', status_message: H, duration: 5, trace_id: H, [H]: H }; // prettier-ignore
const foundSession = { _time: TIME, session_id: H, duration_ms: H, user: H, url: H, events: H, errors: H, rage_clicks: H, [H]: H };
const trace = { resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: H } }] }, scopeSpans: [{ spans: [span] }] }] }; // prettier-ignore
const accountItem = { id: H, name: H, scopes: [H], project_id: H, query: H, start: H, end: H, columns: [H], filter: H, labels: { [H]: H }, created_at: H, updated_at: H, expires_at: H, last_used: H, owner: H }; // prettier-ignore
const usage = {
  ...{ days: [{ day: H, bytes: 1, signals: [H] }], keys: [{ key_id: H, name: H, signal: H }], services: [{ service: H, entries: 1 }] },
  ...{ refused: [{ signal: H, status: 400, error: H, reason: H }], limits: [{ name: H, unit: H, clears: H }] },
};
const tail = [
  `data: ${JSON.stringify(entry)}`,
  `event: dropped\ndata: ${JSON.stringify({ count: 1, reason: H, since: H, until: H })}`,
  `event: failed\ndata: ${JSON.stringify({ detail: H })}`,
  '',
].join('\n\n');
const ADMIN_ROW = Object.fromEntries(ADMIN_COMMANDS.flatMap(({ columns }) => columns).map((column) => [column, column === 'flags' ? { [H]: [H] } : H])); // prettier-ignore

/** What the service answers to a path. */
function answerOf(url: string, body: string): unknown {
  if (url.includes('explain=')) return { explain: { query: H, plan, subqueries: [] } };
  if (url.includes('/spans/search')) return { spans: [foundSpan, { [H]: H }], has_more: false, oldest_time: null, window: { start: H, end: H }, hints: [H] }; // prettier-ignore
  if (url.includes('/replay/sessions')) return { sessions: [foundSession], has_more: true };
  if (url.includes('/patterns/diff')) return { new: [pattern], gone: [pattern], changed: [pattern] };
  if (url.includes('/patterns')) return { patterns: [pattern] };
  if (url.includes('/traces/') && !url.includes('/logs')) return trace;
  if (url.includes('/alerts')) return { items: [alert] };
  if (url.includes('/admin/')) return [ADMIN_ROW];
  if (url.includes('/usage')) return usage;
  if (/\/(keys|saved-searches|account\/projects|ai\/playbooks)(\?|$)/.test(url)) return { items: [accountItem] };
  if (url.includes('/metric-rules')) return { items: [{ id: H, group: H, alert: H, expr: H, interval: '1m', labels: { a: H } }] };
  if (!url.includes('/search') && !url.includes('/logs')) return {};
  const isEmpty = body.includes('"nothing"');
  return { logs: isEmpty ? [] : [entry], has_more: false, oldest_time: TIME, hints: [H], window: { start: H, end: H } };
}

describe('hostile text in what commands print', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-hostile-'));
  const detector = path.join(folder, 'always.mjs');
  let server: http.Server;
  /** A status that the service answers with instead, and for how many requests. */
  let failing = { status: 0, times: 0 };
  before(async () => {
    writeFileSync(detector, "export default { name: 'always', description: 'x', init: () => 0, look: (state) => ({ state, found: { side: 'up', z: 9, mean: 1, low: 0, high: 2 } }) };"); // prettier-ignore
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const url = request.url ?? '';
        if (failing.times-- > 0) response.writeHead(failing.status, { 'Retry-After': '0' }).end(JSON.stringify({ detail: H }));
        else if (url.includes('/tail')) response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(tail);
        else if (url.includes('/select/')) response.end(`${JSON.stringify({ svc: H, n: '1' })}\n`);
        else response.end(JSON.stringify(answerOf(url, body)));
      });
    });
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.send(JSON.stringify({ type: H, alert }));
      socket.close(1011, H.slice(0, 40));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    failing = { status: 0, times: 0 };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs a command on a terminal and in a log: nothing a terminal obeys comes out on it, and what came is there to be seen. */
  async function shows(run: (env: Record<string, string>, to: Sink) => Promise<unknown>, isShown = SHOWN): Promise<void> {
    const at = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const env = {
      LOGWEIR_URL: at,
      LOGWEIR_API_KEY: 'k',
      LOGWEIR_ADMIN_PORT: at.split(':')[1] ?? '',
      LOGWEIR_ADMIN_TOKEN: 't',
      NO_COLOR: '1',
    };
    const to = new CapturedOutput({ isTerminal: true });
    await run(env, to);
    const all = (to.stdout + to.stderr).replaceAll('\r\u001b[2K', '');
    expect(visible(all)).to.equal(all);
    expect(all).to.match(isShown);
  }

  const FORMATS = [[], ['--output', 'ndjson'], ['--output', 'csv']];
  const cases: readonly (readonly string[])[] = [
    ...FORMATS.flatMap((format) => [
      ['query', '*', ...format],
      ['alerts', ...format],
      ['patterns', ...format],
      ['patterns', '--diff', ...format],
    ]),
    ...[[], ['--output', 'lines'], ['--output', 'csv']].map((format) => ['spans', '*', ...format]),
    ...[[], ['--output', 'lines'], ['--output', 'csv']].map((format) => ['replay', 'list', ...format]),
    ...[[], ['--output', 'json']].map((format) => ['trace', 'a', '--logs', ...format]),
    ['rules', 'list'],
    ['usage'],
    ['usage', '--json'],
    ...['keys', 'saved', 'projects', 'playbooks'].flatMap((name) => [
      [name, 'list'],
      [name, 'list', '--json'],
    ]),
    ['query', 'nothing'],
    ['query', '*', '--explain'],
    ...['table', 'json', 'csv'].map((format) => [
      'backtest',
      detector,
      '--by',
      'svc',
      '--since',
      '-1h',
      '--out',
      folder,
      '--output',
      format,
    ]),
    ...ADMIN_COMMANDS.flatMap(({ name, required }) => {
      const argv = ['admin', ...name.split(' '), ...required.flatMap((flag) => [`--${flag}`, '1'])];
      return [argv, [...argv, '--json']];
    }),
  ];
  for (const argv of cases) it(`is shown by ${argv.join(' ').replaceAll(folder, '')}`, () => shows((env, to) => main(argv, env, to)));

  const failures = [...cases.filter((argv) => !argv.includes('--output')), ['demo', '--count', '1', '--backfill', '0s']];
  for (const status of [400, 403, 500])
    it(`is shown of an answer with ${String(status)}, by every command`, async () => {
      expect([...new Set([...failures.map(([name]) => name), 'tail', 'backtest'])].sort()).to.deep.equal(
        // what an MCP client and its server tell each other is no text for a terminal
        commands
          .map(({ name }) => name)
          .filter((name) => name !== 'mcp')
          .sort(),
      );
      const backtest = ['backtest', detector, '--by', 'svc', '--out', folder];
      // a tail goes on until its end where the service has failed
      for (const argv of [...failures, backtest, ...(status === 500 ? [] : [['tail', '*']])]) {
        failing = { status, times: 1 };
        await shows((env, to) => main(argv, env, to));
      }
    });

  for (const format of FORMATS)
    it(`is shown by tail ${format.join(' ')}`, () => shows((env, to) => tailCommand(['*', ...format], env, to, AbortSignal.timeout(500))));

  it('is shown by tail of a failure, by demo of a batch that is sent again, and by alerts --follow', async () => {
    failing = { status: 500, times: 1 };
    await shows((env, to) => tailCommand(['*'], env, to, AbortSignal.timeout(500)));
    failing = { status: 429, times: 1 };
    await shows((env, to) => main(['demo', '--count', '1', '--backfill', '0s'], env, to));
    await shows((env, to) => alertsCommand(['--follow'], env, to, AbortSignal.timeout(500)));
  });

  it('is shown by audit, topic and detector', async () => {
    const finding = { kind: H, partition: 0, hour: H, entries: 1, records: 1, offsets: [H] };
    const report = { topic: H, findings: [finding], partitions: [], lost: 1, doubled: 0, stray: 0, entries: 1, records: 1, dead_lettered: 0, aged_out: 0 }; // prettier-ignore
    const throws = (): Promise<never> => Promise.reject(new Error(H));
    for (const argv of [[], ['--json']]) await shows((env, to) => auditCommand(argv, () => Promise.resolve([report as unknown as Audited]), env, to)); // prettier-ignore
    await shows((env, to) => auditCommand([], throws, env, to));
    await shows((env, to) => topicCommand(['read', 'logs.v1'], async (_request, _env, { lines, unreadable }) => { await lines(`${JSON.stringify(entry)}\n`); unreadable(H); }, env, to)); // prettier-ignore
    await shows((env, to) => topicCommand(['read', 'logs.v1'], throws, env, to));
    const held = [{ name: H, promises: [{ promise: 'p', fault: H }], cost: null }];
    await shows((_env, to) => detectorCommand(['test', detector], () => Promise.resolve(held), to));
    await shows((_env, to) => detectorCommand(['test', detector], throws, to));
  });
});

describe('the sources of the command line', () => {
  const files = readdirSync(CLI, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|mjs)$/.test(file) && file !== 'output.ts');
  /** What would write past `Output`, or bring an escape sequence of its own. */
  const PAST = /process\.std(?:out|err)\b|\bconsole\.|\bstyleText\b|\\u001b|\\u\{1b\}|\\x1b|\\033|'\\r|`\\r|\bto\.(?:out|err)\(/i;
  /** The launcher runs before anything is compiled, and escapes what it prints itself. */
  const OWN = /const log = .*visible\(line\)|char === '\\r' \?|process\.stdout\.on\('error'/;

  for (const file of files)
    it(`${file} writes nothing past output.ts`, () => {
      const lines = readFileSync(path.join(CLI, file), 'utf8').split('\n');
      expect(lines.filter((line) => PAST.test(line) && !(file === 'logweir.mjs' && OWN.test(line)))).to.deep.equal([]);
    });
});
