import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ADMIN_COMMANDS } from '../../cli/admin-commands.ts';
import { main } from '../../cli/main.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
type Asked = { readonly url: string; readonly body: string };

describe('the command line', () => {
  let server: http.Server;
  const asked: Asked[] = [];
  /** What the service answers, one after the other; the last one again and again. */
  let answers: (readonly [status: number, body: object, headers?: Record<string, string>])[] = [];
  before(async () => {
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        asked.push({ url: request.url ?? '', body });
        const [status, answer, headers] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [200, {}];
        response.writeHead(status, headers).end(JSON.stringify(answer));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  beforeEach(() => {
    asked.length = 0;
    answers = [[200, { logs: [], has_more: false, window: { start: 'a', end: 'b' } }]];
  });

  const port = (): string => String((server.address() as AddressInfo).port);
  const run = async (...argv: string[]): Promise<{ code: number; out: string; err: string }> => {
    let [out, err] = ['', ''];
    const env = { LOGWEIR_URL: `127.0.0.1:${port()}/`, LOGWEIR_API_KEY: 'k', LOGWEIR_ADMIN_PORT: port(), LOGWEIR_ADMIN_TOKEN: 't' };
    const code = await main(argv, env, { out: (text) => void (out += text), err: (text) => void (err += text), isTerminal: false });
    return { code, out, err };
  };
  const sent = (): unknown => JSON.parse(asked[0]?.body ?? 'null');

  it('takes durations with a minus, as a value of their own or behind =, and queries that begin with one', async () => {
    for (const argv of [
      ['query', '*', '--start', '-15m', '--end', '-5m'],
      ['query', '--start=-15m', '--end=-5m', '*'],
    ]) {
      asked.length = 0;
      expect((await run(...argv)).code).to.equal(0);
      expect(sent()).to.include({ query: '*', start: '-15m', end: '-5m' });
    }
    asked.length = 0;
    expect((await run('query', '-level:info')).code).to.equal(0);
    expect(sent()).to.include({ query: '-level:info' });
    asked.length = 0;
    expect((await run('query', '--', '--x')).code).to.equal(0);
    expect(sent()).to.include({ query: '--x' });
  });

  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['query', '*', '--start'], 'The flag --start needs a value.'],
    [['query', '*', '--start', '--limit', '5'], 'The flag --start needs a value.'],
    [['query', '*', '--explain=yes'], 'The flag --explain takes no value'],
    [['query', '*', '--nope'], 'Unknown argument "--nope".'],
    [['query', '*', '--limit', 'ten'], '--limit is an integer'],
    [['query', '*', '--limit', ''], '--limit is an integer'],
    [['query', 'a', 'b'], 'A query is one argument'],
    [['query', '*', '--url', 'ftp://x'], '--url must be the address of a host'],
    [['demo', '--rate'], 'The flag --rate needs a value.'],
    [['demo', 'now'], 'Unknown argument "now".'],
    [['admin', 'key', 'create', '--tenant'], 'The flag --tenant needs a value.'],
    [['admin', 'key', 'create'], 'The flag --tenant is missing.'],
    [['admin', 'key', 'create', '--tenant', '1', '--scopes', '--json'], 'The flag --scopes needs a value.'],
    [['admin', 'key'], 'There is no command "admin key".'],
    [['nope'], 'There is no command "nope".'],
  ];
  for (const [argv, sentence] of wrong)
    it(`exits with 2 and names what is wrong: ${argv.join(' ')}`, async () => {
      const { code, out, err } = await run(...argv);
      expect([code, out, err.split('\n')[0]?.startsWith(sentence) === true ? sentence : err]).to.deep.equal([2, '', sentence]);
      expect(asked).to.deep.equal([]);
    });

  it('exits as documented for what the service says', async () => {
    for (const [status, code] of [
      [400, 2],
      [401, 3],
      [403, 3],
      [429, 1],
      [503, 1],
    ] as const) {
      // prettier-ignore
      answers = [[status, { detail: 'Told so.' }]];
      const ran = await run('query', '*');
      expect([ran.code, ran.err.includes('Told so.')]).to.deep.equal([code, true]);
    }
    expect(await main(['query', '*'], { LOGWEIR_URL: '127.0.0.1:1', LOGWEIR_API_KEY: 'k' }, { out: () => undefined, err: () => undefined, isTerminal: false })).to.equal(1); // prettier-ignore
  });

  it('demo says at once why the service does not take entries, once', async () => {
    const refused = [429, { detail: 'The daily volume is used up.' }, { 'Retry-After': '0' }] as const;
    answers = [[...refused], [...refused], [200, {}]];
    const { code, err } = await run('demo', '--count', '1', '--backfill', '0s');
    expect([code, asked.length]).to.deep.equal([0, 3]);
    expect(err.match(/The daily volume is used up\. \(HTTP 429\) It is sent again every 0\.1 s\./g)).to.have.length(1);
  });

  it('has a version, and help for each command and admin command', async () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    expect(await run('--version')).to.deep.equal({ code: 0, out: `${version}\n`, err: '' });
    for (const name of ['query', 'demo', 'admin']) {
      const { code, out } = await run(name, '--help');
      expect([code, out.startsWith('Usage:')]).to.deep.equal([0, true]);
    }
    for (const { name, help } of ADMIN_COMMANDS) {
      const { code, out } = await run('admin', ...name.split(' '), '--help');
      expect([code, out.split('\n').length, out.includes(help), out.includes(`logweir admin ${name} `)]).to.deep.equal([0, 4, true, true]);
    }
    expect((await run('admin', 'key', '-h')).out.match(/logweir admin key/g)).to.have.length(4);
    expect(asked).to.deep.equal([]);
  });

  it('ends silently with 0 when the reader of the pipe leaves', async function () {
    this.timeout(60_000);
    const logs = Array.from({ length: 10_000 }, (_, i) => ({ _msg: 'x'.repeat(100), n: i }));
    answers = [[200, { logs, has_more: true, oldest_time: '2026-01-01T00:00:00Z', window: { start: 'a', end: 'b' } }]];
    const code =
      "import { main } from './cli/main.ts'; process.exitCode = await main(['query', '*', '--limit', '1000000', '--newest-first']);";
    const env = { ...process.env, LOGWEIR_URL: `127.0.0.1:${port()}`, LOGWEIR_API_KEY: 'k' };
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { cwd: ROOT, env });
    let err = '';
    child.stderr.on('data', (part: Buffer) => (err += part.toString()));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [exit] = (await once(child, 'exit')) as [number | null];
    expect([exit, err]).to.deep.equal([0, '']);
  });

  it('the launcher helps without an instance: ps', async () => {
    const out = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['cli/logweir.mjs', 'ps', '--help'], { cwd: ROOT }, (error, stdout) =>
        resolve(`${String(error?.code ?? 0)} ${stdout}`),
      );
    });
    expect(out).to.match(/^0 Usage: logweir ps/);
  });
});
