import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { embeddedEngines } from '../../../main/engines.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { extent } from '../../extent.ts';
import { faultPreload, SHORT_PERIODS } from '../../faults/fault-points.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance, shareWith } from '../shared.ts';

const SERVICES = ['gate', 'cart', 'stock', 'pay'];
const PER_REQUEST = 25;

shareWith(() =>
  Promise.resolve({
    NODE_OPTIONS: `--import=${faultPreload({ periods: { ...SHORT_PERIODS, 'span-step': 3000 } })}`,
    // as processors.e2e.test.ts has it
    LOGWEIR_LOG_PARTITIONS: '4',
  }),
);

type Sum = { calls: number; errors: number };

describe('what is derived from spans, while processes are killed', function () {
  this.timeout(900_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  let store: Store;
  const operations = new Map<string, number>();
  const edges = new Map<string, Sum>();

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    store = new Store(loadConfig({ ...instance.env, ...embeddedEngines(instance.env) }).clickhouse);
  });
  after(() => store.close());

  /** Sends spans of one service; resolves when they are acknowledged. */
  async function post(service: string, spans: readonly object[]): Promise<void> {
    const body = { resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] }, scopeSpans: [{ spans }] }] }; // prettier-ignore
    const { status } = await instance.call('POST', `${instance.ingest}/v1/traces`, body, { Authorization: `Bearer ${tenant.key}` });
    if (status !== 200) {
      await new Promise((resolve) => setImmediate(resolve));
      await post(service, spans);
    }
  }

  /** Sends spans again, as a client does whose answer was lost: kept, and counted no more. */
  const again: (() => Promise<void>)[] = [];

  /** Sends traces through all services, each service on its own, callees before their callers now and then. */
  async function send(turn: number): Promise<void> {
    const now = BigInt(Date.now()) * 1_000_000n;
    const traces = Array.from({ length: PER_REQUEST }, () => ({ trace: randomBytes(16).toString('hex'), ids: SERVICES.map(() => randomBytes(8).toString('hex')) })); // prettier-ignore
    const requests = SERVICES.map((service, place) => {
      const spans = traces.map(({ trace, ids }, index) => {
        const isError = (turn + index + place) % 5 === 0;
        const key = `${service} ${String(index % 3)}`;
        operations.set(key, (operations.get(key) ?? 0) + 1);
        const [caller] = place === 0 ? [] : [SERVICES[place - 1]];
        if (caller !== undefined) {
          const sum = edges.get(`${caller} ${service}`) ?? { calls: 0, errors: 0 };
          edges.set(`${caller} ${service}`, { calls: sum.calls + 1, errors: sum.errors + (isError ? 1 : 0) });
        }
        return {
          ...{ traceId: trace, spanId: ids[place], ...(place === 0 ? {} : { parentSpanId: ids[place - 1] }) },
          ...{
            name: String(index % 3),
            kind: 2,
            startTimeUnixNano: String(now),
            endTimeUnixNano: String(now + 1_000_000n * BigInt(index)),
          },
          ...(isError ? { status: { code: 2 } } : {}),
        };
      });
      return (): Promise<void> => post(service, spans);
    });
    for (const request of turn % 2 === 0 ? requests : requests.reverse()) await request();
    // half of a turn's services at once, and those of the turn before, over what is killed between
    for (const request of [...again.splice(0), ...requests.slice(0, 2)]) await request();
    again.push(...requests.slice(2));
  }

  /** Ends a process without notice; resolves when its successor is there. */
  async function kill(role: string): Promise<void> {
    const { pid } = instance.processes().get(role) ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until(
      'another process',
      () => Promise.resolve(instance.processes().get(role)?.pid ?? pid),
      (found) => found !== pid,
    );
  }

  const rows = async (scope: number, columns: string): Promise<Map<string, readonly number[]>> => {
    const found = await store.ownerRows(
      `SELECT ${columns} AS name, sum(n), sum(e) FROM (SELECT service, operation, caller, any(spans) AS n, any(errors) AS e FROM span_counts WHERE tenant_id = {id:UInt32} AND scope = ${String(scope)} AND span = 60 GROUP BY service, operation, caller, kind, time, log_part, segment) GROUP BY name ORDER BY name`,
      { id: tenant.id },
    );
    return new Map(found.map(([name, ...numbers]) => [String(name), numbers.map(Number)]));
  };
  const sum = (all: ReadonlyMap<string, readonly number[]>): number => [...all.values()].reduce((one, [count = 0]) => one + count, 0);

  it('is a recount of what is stored, each span and call once', async () => {
    const turns = extent(60, 400);
    const killed = ['processors', 'sink', 'processors', 'processors', 'sink', 'processors'];
    for (let turn = 0; turn < turns; turn++) {
      await send(turn);
      const role = turn % Math.ceil(turns / killed.length) === 3 ? killed[Math.floor(turn / Math.ceil(turns / killed.length))] : undefined;
      if (role !== undefined) await kill(role);
    }
    const total = turns * PER_REQUEST;
    const copies = total * SERVICES.length - again.length * PER_REQUEST;
    await until('all spans and copies', async () => Number((await store.ownerRows('SELECT count() FROM spans WHERE tenant_id = {id:UInt32}', { id: tenant.id }))[0]?.[0]), (count) => count >= total * SERVICES.length + copies); // prettier-ignore
    await until('all operations', async () => sum(await rows(0, "concat(service, ' ', operation)")), (count) => count >= total * SERVICES.length); // prettier-ignore
    await until('all calls', async () => sum(await rows(1, "concat(caller, ' ', service)")), (count) => count >= total * (SERVICES.length - 1)); // prettier-ignore
    const counted = await rows(0, "concat(service, ' ', operation)");
    expect([...counted.keys()].sort()).to.deep.equal([...operations.keys()].sort());
    // a step is three seconds here: on a busy machine a copy may come too late, which the audit below tells exactly
    for (const [name, [count = 0]] of counted) expect(count, name).to.be.at.least(operations.get(name) ?? 0);
    expect(sum(counted)).to.be.lessThan(total * SERVICES.length + copies);
    const called = await rows(1, "concat(caller, ' ', service)");
    // on a busy machine both sides of a call may not come in time
    const matched = [...called].filter(([name]) => !name.startsWith(' '));
    const unmatched = sum(called) - sum(new Map(matched));
    expect(sum(called)).to.equal(total * (SERVICES.length - 1));
    for (const [name, [calls = 0, errors = 0]] of matched) {
      expect(calls, name).to.be.at.most(edges.get(name)?.calls ?? 0);
      expect(errors, name).to.be.at.most(edges.get(name)?.errors ?? 0);
    }
    expect(unmatched).to.be.lessThan(total / 2);
    const { status, body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/services`, undefined, {
      Authorization: `Bearer ${tenant.key}`,
    });
    expect([status, (body as { readonly services: unknown }).services]).to.deep.equal([200, [...SERVICES].sort()]);
  });

  it('is what an audit finds', async () => {
    const { code, out } = await auditOf('span_counts.v1');
    expect(code, out).to.equal(0);
    expect(JSON.parse(out)).to.deep.include({ topic: 'span_counts.v1', lost: 0, doubled: 0, stray: 0, recounted: [] });
  });

  async function auditOf(topic: string): Promise<{ readonly code: number; readonly out: string }> {
    const { code, stdout } = await runCli(instance, tenant, ['audit', '--topic', topic, '--json']);
    return { code, out: stdout };
  }
});
