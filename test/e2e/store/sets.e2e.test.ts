import { expect } from 'chai';
import { pino } from 'pino';
import { SetEngine } from '../../../api/engine/set-engine.ts';
import { LocalEngine } from '../../../api/engine/local-engine.ts';
import type { EngineAnswer, QueryEngine, QueryJob } from '../../../api/query/engine.ts';
import type { Store } from '../../../pipeline/store/client.ts';
import { SetWatch } from '../../../pipeline/store/set-watch.ts';
import { until } from '../instance.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { NOW } from '../../logsql/support.ts';
import { at } from '../query-setup.ts';

describe('a set whose row policy is dropped', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let open: Store;
  before(async () => {
    own = await LogsqlStore.start();
    for (const tenantId of [0, 1, 2]) await own.insert(tenantId, [at(tenantId)]);
    open = own.withoutRowFilter();
  });
  after(async () => {
    await open.close();
    await own.stop();
  });

  it('is read no more when a look has found that, and serves again when the policy is back', async () => {
    /** The store that each set is in. */
    const stores: Record<string, Store> = { a: own.store, b: own.store };
    const storeOf = (name: string): Store => stores[name] as Store;
    const sets = ['a', 'b'].map((name) => ({
      ...{ name, hasReader: true, isWhole: false, serversFault: () => Promise.resolve(null) },
      store: {
        ping: () => storeOf(name).ping(),
        ownerRows: (...given: Parameters<Store['ownerRows']>) => storeOf(name).ownerRows(...given),
        rows: (...given: Parameters<Store['rows']>) => storeOf(name).rows(...given),
      },
    }));
    const places = new Map(['a', 'b'].map((name) => [name, { behindMs: 0, missed: null }]));
    const log = pino({ level: 'silent' });
    const watch = new SetWatch({ sets, places: () => Promise.resolve(places), log, everyMs: 10, policiesEveryMs: 20 });
    const local: QueryEngine = {
      run: (job) => new LocalEngine({ store: storeOf(job.set ?? ''), now: () => NOW, limits: { maxFacetFields: 50 } }).run(job),
    };
    const engine = new SetEngine({ engine: local, watch });
    await watch.start();
    const search = (): Promise<EngineAnswer> =>
      engine.run(jobOf({ query: '*', start: '-30d', end: 'now', limit: 10, before: null, enrich: false }));
    const setNow = async (): Promise<unknown> => (await search()).headers?.['X-Set'];
    expect(await setNow()).to.equal('a');

    stores['a'] = open;
    await until('the other set', setNow, (set) => set === 'b');
    expect(watch.warning).to.match(/^The set a does not serve: it has no row policy on logs, streams, and would show rows of all tenants/);
    const { body } = await search();
    expect(JSON.parse(typeof body === 'string' ? body : '{}')).to.include({ count: 1 });
    stores['b'] = open;
    await until('no set', () => search().catch((error: unknown) => (error as { status?: unknown }).status), (status) => status === 503); // prettier-ignore
    stores['a'] = own.store;
    await until('the set', setNow, (set) => set === 'a');
    await watch.stop();
  });

  it('knows what ClickHouse calls silent sockets, failing networks and connections that do not come about', async () => {
    const [names] = await own.store.ownerRows(`SELECT ${['209', '210', '279'].map((code) => `errorCodeToName(${code})`).join(', ')}`);
    expect(names).to.deep.equal(['SOCKET_TIMEOUT', 'NETWORK_ERROR', 'ALL_CONNECTION_TRIES_FAILED']);
  });
});

const jobOf = (parameters: unknown): QueryJob => ({
  ...{ operation: 'search', parameters, tenantId: 1, retentionDays: 0, atOnce: 4, requestId: 'r', startedAt: performance.now() },
  ...{ timeoutMs: 60_000, signal: new AbortController().signal },
});
