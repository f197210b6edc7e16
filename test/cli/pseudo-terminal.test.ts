import { expect } from 'chai';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { visible } from '../../cli/output.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Runs the command behind it on a pseudo terminal of 60 columns, and prints what that got. With `STDERR=log` its standard error is a pipe. */
const ON_A_TERMINAL = `
import fcntl, os, pty, struct, subprocess, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 60, 0, 0))
log = subprocess.PIPE if os.environ.get('STDERR') == 'log' else slave
child = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, stderr=log)
os.close(slave)
while True:
    try: part = os.read(master, 65536)
    except OSError: break
    if not part: break
    sys.stdout.buffer.write(part)
child.wait()
if child.stderr: sys.stderr.buffer.write(child.stderr.read())
`;
const CODE = "import { main } from './cli/main.ts'; process.exitCode = await main(process.argv.slice(1));";
const HOSTILE = 'a\u001b[2J\u009b2J\u202eb\rc';

describe('on a pseudo terminal', function () {
  this.timeout(60_000);
  let server: http.Server;
  before(async function () {
    if (spawnSync('python3', ['-c', 'import pty, termios']).status !== 0) this.skip();
    const log = { _time: '2026-11-18T10:00:00Z', _stream: '{}', level: 'error', _msg: HOSTILE };
    server = http.createServer((request, response) => {
      request.resume();
      // demo then has time to draw how far it is
      const delayMs = request.url?.includes('/ingest') === true ? 150 : 0;
      setTimeout(() => response.end(JSON.stringify({ logs: [log], has_more: false, oldest_time: log._time, window: { start: 'a', end: 'b' } })), delayMs); // prettier-ignore
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server?.close()); // eslint-disable-line @typescript-eslint/no-unnecessary-condition -- it may have been skipped

  function run(argv: readonly string[], more: Record<string, string> = {}): Promise<{ readonly out: string; readonly err: string }> {
    const { NO_COLOR: _none, FORCE_COLOR: _either, ...own } = process.env;
    const url = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const env = { ...own, TERM: 'xterm', LOGWEIR_URL: url, LOGWEIR_API_KEY: 'k', ...more };
    const node = [process.execPath, '--input-type=module-typescript', '-e', CODE, '--', ...argv];
    return new Promise((resolve) => {
      // a terminal ends lines with both
      execFile('python3', ['-c', ON_A_TERMINAL, ...node], { cwd: ROOT, env }, (_error, out, err) => resolve({ out: out.replaceAll('\r\n', '\n'), err })); // prettier-ignore
    });
  }
  const LINE = '2026-11-18T10:00:00Z ERROR a\\u001b[2J\\u009b2J\\u202eb\\rc\n';

  it('lines have colours, and no other escape sequence', async () => {
    const { out } = await run(['query', '*']);
    expect(out).to.contain('\u001b[31mERROR\u001b[39m');
    // eslint-disable-next-line no-control-regex -- colours
    expect(out.replaceAll(/\u001b\[\d+m/g, '')).to.equal(LINE);
  });

  for (const [argv, env] of [
    [[], { NO_COLOR: '1' }],
    [[], { TERM: 'dumb' }],
    [['--color', 'never'], { FORCE_COLOR: '1' }],
  ] as const)
    it(`has none with ${[...argv, JSON.stringify(env)].join(' ')}`, async () => {
      expect((await run(['query', '*', ...argv], env)).out).to.equal(LINE);
    });

  it('JSON is escaped, and the same JSON', async () => {
    const { out } = await run(['query', '*', '--output', 'ndjson']);
    expect(visible(out)).to.equal(out);
    expect(JSON.parse(out)).to.deep.include({ _msg: HOSTILE });
  });

  it('progress is a line that is written over, no wider than the terminal, and lines alone where standard error is a log', async () => {
    const demo = ['demo', '--count', '4000', '--rate', '1', '--backfill', '2h', '--no-incident'];
    const { out } = await run(demo);
    const drawn = out.split('\r\u001b[2K').slice(1, -1);
    expect(
      drawn.some((line) => / % of the past, /.test(line)),
      out,
    ).to.equal(true);
    for (const line of drawn) expect(line.length).to.be.at.most(59);
    expect(out).to.match(/logweir demo: 4000 entries sent\.\n$/);
    expect(await run(demo, { STDERR: 'log' })).to.deep.equal({ out: '', err: 'logweir demo: 4000 entries sent.\n' });
  });
});
