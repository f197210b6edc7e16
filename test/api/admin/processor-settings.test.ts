import { expect } from 'chai';
import { adminRoutes } from '../../../api/admin/admin-routes.ts';
import { Peers } from '../../../api/admin/peers.ts';
import { processorSettingRoutes } from '../../../api/admin/processor-settings.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import type { SettingCheck } from '../../../api/control/processor-settings.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { TOKEN, listen, type Listener } from '../../fakes/internal-listener.ts';

const CHECKS: readonly SettingCheck[] = [
  { name: 'usage' },
  {
    name: 'volume',
    settings: { most: [1], words: ['a'] },
    checkSetting: ({ key, value }) => (key === 'words' || typeof value === 'number' ? null : 'most is a number.'),
  },
];

describe('settings of processors, by the operator', () => {
  let app: Listener;
  let store: ControlStore;
  let other: ControlStore;
  before(async () => {
    const topic = new FakeControlTopic();
    store = (await controlNode(topic)).store;
    other = (await controlNode(topic)).store;
    const peers = new Peers('127.0.0.1', TOKEN);
    const processors = await listen('processors', { control: other });
    peers.set([{ role: 'processors', pid: -1, port: processors.server.port }]);
    app = await listen('app', {
      peers,
      control: store,
      adminRoutes: [...adminRoutes(store, peers), ...processorSettingRoutes(store, peers, CHECKS)],
    });
    await ask('POST', '/admin/tenants', { name: 'a', plan: 'team' });
  });

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: { readonly detail?: string } }> {
    const response = await fetch(app.url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as { readonly detail?: string } };
  }
  const set = (setting: string, body: object, processor = 'volume'): ReturnType<typeof ask> =>
    ask('PUT', `/admin/processors/${processor}/settings/${setting}`, body);
  const known = (): unknown[] => other.settings.map(({ key, tenantId, value, version }) => [key, tenantId, value, version]);

  it('are there in every process once the answer is, and can be taken back', async () => {
    const first = await set('most', { value: 5 });
    expect([first.status, first.json]).to.deep.equal([
      200,
      { processor: 'volume', setting: 'most', tenant_id: null, value: 5, version: 1 },
    ]);
    expect(known()).to.deep.equal([['most', 0, 5, 1]]);
    expect((await set('most', { value: 6, tenant: 1 })).json).to.include({ tenant_id: 1, version: 1 });
    expect((await set('most', { value: 7 })).json).to.include({ version: 2 });
    const all = await ask('GET', '/admin/processors/settings');
    expect(all.json).to.deep.equal([
      { processor: 'volume', setting: 'most', tenant_id: null, value: 7, version: 2 },
      { processor: 'volume', setting: 'most', tenant_id: 1, value: 6, version: 1 },
    ]);
    expect((await ask('DELETE', '/admin/processors/volume/settings/most?tenant=1')).json).to.include({ value: null, version: 2 });
    expect((await ask('GET', '/admin/processors/settings')).json).to.have.length(1);
    expect((await ask('DELETE', '/admin/processors/volume/settings/most?tenant=1')).status).to.equal(404);
    expect((await set('most', { value: 8, tenant: 1 })).json).to.include({ value: 8, version: 3 });
  });

  it('are refused with a sentence where anything is wrong', async () => {
    const before = known();
    const refused = async (answer: ReturnType<typeof ask>, status: number, detail: RegExp): Promise<void> => {
      const { status: got, json } = await answer;
      expect([got, json.detail]).to.satisfy(
        ([code, text]: [number, string]) => code === status && detail.test(text),
        JSON.stringify([got, json]),
      );
    };
    await refused(set('most', { value: 1 }, 'nothing'), 400, /No processor "nothing" has settings; those that do: volume\./);
    await refused(set('most', { value: 1 }, 'usage'), 400, /No processor "usage" has settings/);
    await refused(set('least', { value: 1 }), 400, /no setting "least"; it has most, words\./);
    await refused(set('constructor', { value: 1 }), 400, /no setting "constructor"/);
    await refused(set('most', { value: 'x' }), 400, /most is a number\./);
    await refused(set('words', { value: 'x'.repeat(4095) }), 400, /at most 4096 bytes/);
    await refused(set('most', { value: null }), 400, /value/);
    await refused(set('most', {}), 400, /value/);
    await refused(set('most', { value: 1, tenant: 99 }), 404, /tenant/i);
    await refused(ask('DELETE', '/admin/processors/volume/settings/most?tenant=x'), 400, /tenant/);
    expect(known()).to.deep.equal(before);
  });

  it('are a hundred for a tenant at most', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `k${String(i)}`);
    const checks: SettingCheck[] = [
      { name: 'p', settings: Object.fromEntries([...many, 'last'].map((key) => [key, [1]])), checkSetting: () => null },
    ];
    const { store: own } = await controlNode(new FakeControlTopic());
    const route = processorSettingRoutes(own, new Peers('127.0.0.1', TOKEN), checks).find(({ method }) => method === 'PUT');
    const put = async (setting: string): Promise<number | undefined> =>
      (
        await route?.handle({
          ...{ params: { processor: 'p', setting }, query: new URLSearchParams(), requestId: 'r' },
          body: () => Promise.resolve({ value: 1 }),
        })
      )?.status;
    for (const key of many) expect(await put(key)).to.equal(200);
    expect(await put('last').catch(String)).to.match(/100 settings of this processor already/);
    expect(await put('k3')).to.equal(200);
  });

  it('are set by the command line', async () => {
    const printed: string[] = [];
    const output = { out: (line: string) => void printed.push(line), err: (line: string) => void printed.push(line) };
    const env = { LOGWEIR_ADMIN_TOKEN: TOKEN, LOGWEIR_ADMIN_PORT: new URL(app.url).port };
    const run = (...argv: string[]): Promise<number> => adminCommand(argv, env, output);
    const flags = ['--processor', 'volume', '--setting', 'words'];
    expect(await run('processor', 'set', ...flags, '--value', 'plain text', '--tenant', '1')).to.equal(0);
    expect(await run('processor', 'set', ...flags, '--value', '["a",1]')).to.equal(0);
    expect(store.settings.filter(({ key }) => key === 'words').map(({ tenantId, value }) => [tenantId, value])).to.deep.equal([
      [1, 'plain text'],
      [0, ['a', 1]],
    ]);
    expect(await run('processor', 'settings')).to.equal(0);
    expect(printed.at(-1)).to.include('plain text');
    expect(await run('processor', 'unset', ...flags, '--tenant', '1')).to.equal(0);
    expect(await run('processor', 'set', '--processor', 'volume', '--setting', 'most', '--value', 'x')).to.equal(2);
    expect(printed.at(-1)).to.equal('most is a number.\n');
  });
});
