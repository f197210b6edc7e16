import { expect } from 'chai';
import { pino } from 'pino';
import { Checks } from '../../../api/admin/checks.ts';
import { createInternalListener, type InternalOptions } from '../../../api/admin/internal.ts';
import { Peers } from '../../../api/admin/peers.ts';
import { rejectionsRoute } from '../../../api/admin/rejections.ts';
import { createTenant } from '../../../api/control/accounts.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { HttpServer } from '../../../api/http/http-server.ts';
import { RejectionLog, type RejectedEntry } from '../../../api/ingest/rejection-log.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

const TOKEN = 'admin-token';
const LOG = pino({ level: 'silent' });

const at = (second: number, change: Partial<RejectedEntry> = {}): RejectedEntry => ({
  time: new Date(Date.UTC(2026, 10, 20, 10, 0, second)).toISOString(),
  format: 'lines',
  reason: 'not a line',
  sample: `second ${String(second)}`,
  index: 0,
  request_id: `r${String(second)}`,
  ...{ status: 200, path: '/lines', client: 'curl/8' },
  ...change,
});

describe('rejections, read', () => {
  const running: { stop(): Promise<unknown> }[] = [];
  const [own, other] = [new RejectionLog(), new RejectionLog()];
  const peers = new Peers('127.0.0.1', TOKEN);
  let admin: HttpServer;
  let host: Awaited<ReturnType<typeof startHost>>;

  async function listen(role: string, change: Partial<InternalOptions>): Promise<HttpServer> {
    const server = createInternalListener({
      host: '127.0.0.1',
      port: 0,
      token: TOKEN,
      role,
      metrics: new Metrics(role),
      checks: new Checks(),
      log: LOG,
      ...change,
    });
    await server.start();
    running.push(server);
    return server;
  }

  before(async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'acme', 'team');
    await createTenant(store, 'quiet', 'team');
    const ingest = await listen('ingest', { rejections: other });
    const sink = await listen('sink', {});
    admin = await listen('app', { rejections: own, peers, control: store });
    peers.set([
      { role: 'ingest', pid: -1, port: ingest.port },
      { role: 'sink', pid: -2, port: sink.port },
      { role: 'gone', pid: -3, port: 1 },
    ]);
    const keys = new FakeKeyStore({ all: {}, writer: { scopes: new Set(['write', 'ingest']) }, quiet: { tenantId: 2 } });
    host = await startHost({ endpoints: [appEndpoint(rejectionsRoute({ log: own, peers }))], keys });
    running.push(host);
    own.add(1, [at(1), at(3)]);
    other.add(1, [at(2), at(4, { index: null, sample: 'bell \u0007, escape \u001b[2J, CSI \u009b2J, delete \u007f, \uFFFD é 😀 \ud800' })]);
  });
  after(() => Promise.all(running.map((server) => server.stop())));

  async function ask(url: string, key: string | null): Promise<{ status: number; text: string; json: () => unknown }> {
    const response = await fetch(url, { headers: key === null ? {} : { authorization: `Bearer ${key}` } });
    const text = await response.text();
    return { status: response.status, text, json: () => JSON.parse(text) as unknown };
  }
  const onAdmin = (path: string, token: string | null = TOKEN): ReturnType<typeof ask> =>
    ask(`http://127.0.0.1:${String(admin.port)}/admin/tenants/${path}`, token);
  const onApp = (tenant: string, key: string | null): ReturnType<typeof ask> => ask(`${host.url}/api/v1/tenants/${tenant}/rejections`, key);
  const ids = (list: unknown): unknown[] => (list as RejectedEntry[]).map(({ request_id }) => request_id);

  it('the operator gets those of all processes, the newest first', async () => {
    const { status, json } = await onAdmin('1/rejections');
    expect(status).to.equal(200);
    expect(ids(json())).to.deep.equal(['r4', 'r3', 'r2', 'r1']);
    expect((json() as RejectedEntry[])[1]).to.deep.equal(at(3));
    expect((await onAdmin('2/rejections')).json()).to.deep.equal([]);
  });

  it('a process that is asked for itself asks nobody', async () => {
    expect(ids((await onAdmin('1/rejections?self=1')).json())).to.deep.equal(['r3', 'r1']);
  });

  it('the tenant gets its own, with a key that may read', async () => {
    const { status, json } = await onApp('1', 'all');
    expect(status).to.equal(200);
    expect(Object.keys(json() as object)).to.deep.equal(['rejections']);
    const { rejections } = json() as { rejections: RejectedEntry[] };
    expect(ids(rejections)).to.deep.equal(['r4', 'r3', 'r2', 'r1']);
    expect(Object.keys(rejections[0] ?? {}).sort()).to.deep.equal([
      'client',
      'format',
      'index',
      'path',
      'reason',
      'request_id',
      'sample',
      'status',
      'time',
    ]);
    expect((await onApp('2', 'quiet')).json()).to.deep.equal({ rejections: [] });
  });

  it('control characters leave as escapes alone, and all else as it is', async () => {
    for (const { text } of [await onAdmin('1/rejections'), await onApp('1', 'all')]) {
      // eslint-disable-next-line no-control-regex -- it is control characters that must not be there
      expect(text).not.to.match(/[\u0000-\u001f\u007f-\u009f]/);
      expect(text).to.contain('bell \\u0007, escape \\u001b[2J, CSI \\u009b2J, delete \\u007f, \uFFFD é 😀 \\ud800');
    }
  });

  const refused: readonly (readonly [string, () => ReturnType<typeof ask>, number])[] = [
    ['the operator without the token', () => onAdmin('1/rejections', null), 401],
    ['the operator with a wrong token', () => onAdmin('1/rejections', 'all'), 403],
    ['a wrong token among processes', () => onAdmin('1/rejections?self=1', 'all'), 403],
    ['a tenant that is not there', () => onAdmin('99/rejections'), 404],
    ['no tenant', () => onAdmin('x/rejections'), 400],
    ['no key', () => onApp('1', null), 401],
    ['an unknown key', () => onApp('1', 'nobody'), 403],
    ["another tenant's", () => onApp('1', 'quiet'), 403],
    ['a key that may not read', () => onApp('1', 'writer'), 403],
  ];
  for (const [name, action, status] of refused)
    it(`${name}: ${String(status)}`, async () => expect((await action()).status).to.equal(status));

  it('at most 100, over all processes', async () => {
    for (let second = 0; second < 90; second++) {
      own.add(2, [at(2 * second)]);
      other.add(2, [at(2 * second + 1)]);
    }
    const list = (await onAdmin('2/rejections')).json() as RejectedEntry[];
    expect(ids(list)).to.deep.equal(Array.from({ length: 100 }, (_, i) => `r${String(179 - i)}`));
  });

  it('the CLI shows them, as a table and as JSON, without a control character', async () => {
    const run = async (...argv: string[]): Promise<string> => {
      let out = '';
      const env = { LOGWEIR_ADMIN_PORT: String(admin.port), LOGWEIR_ADMIN_TOKEN: TOKEN };
      const code = await adminCommand(['rejections', '--tenant', '1', ...argv], env, {
        out: (text) => {
          out += text;
        },
        err: (text) => {
          out += text;
        },
      });
      expect(code, out).to.equal(0);
      return out;
    };
    const table = await run();
    expect(table).to.match(/^TIME\s+FORMAT\s+INDEX\s+REASON\s+SAMPLE\s+REQUEST_ID\n/);
    expect(table.split('\n')[3]).to.match(/^2026-11-20T10:00:03\.000Z\s+lines\s+0\s+not a line\s+second 3\s+r3$/);
    const json = await run('--json');
    expect(ids(JSON.parse(json))).to.deep.equal(['r1', 'r2', 'r3', 'r4']);
    expect(ids(JSON.parse(await run('--json', '--newest-first')))).to.deep.equal(['r4', 'r3', 'r2', 'r1']);
    // eslint-disable-next-line no-control-regex -- it is control characters that must not be there
    for (const out of [table, json]) expect(out.replaceAll('\n', '')).not.to.match(/[\u0000-\u001f\u007f-\u009f]/);
  });
});
