import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { embeddedEngines } from '../../../main/engines.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { HyperLogLog } from '../../../pipeline/processors/base/hyperloglog.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { inputOf } from '../../../pipeline/processors/base/input.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { isWhole } from '../../extent.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance, shareWith } from '../shared.ts';

const PROCESSORS = ['examples/processors/distinct-users.ts', 'examples/processors/service-entries.ts'].join(',');
const PARTITIONS = 4;
const SERVICES = ['web', 'api', "o'neil"];
const HOUR_MS = 3_600_000;

type Point = readonly [string, number];
type Series = { readonly labels: { readonly service: string }; readonly points: readonly Point[] };

/** Of each service: how many entries were sent, and the users of each hour of their times. */
class Sent {
  readonly entries = new Map<string, number>();
  readonly users = new Map<string, Set<string>>();

  add(service: string, user: string, ms: number): void {
    this.entries.set(service, (this.entries.get(service) ?? 0) + 1);
    const key = `${service} ${new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString().replace('.000', '')}`;
    const users = this.users.get(key) ?? new Set<string>();
    this.users.set(key, users.add(user));
  }
}

shareWith(() => Promise.resolve({ LOGWEIR_PROCESSORS: PROCESSORS, LOGWEIR_LOG_PARTITIONS: String(PARTITIONS) }));

describe('processors of others', function () {
  this.timeout(900_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  const sent = new Sent();
  let count = 0;

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  /** Sends entries of several services and users in many streams, of this hour and of three hours ago; resolves when they are acknowledged. */
  async function send(requests: number): Promise<void> {
    for (let request = 0; request < requests; request++) {
      const streams = SERVICES.map((service, at) => {
        const host = `h${String((request * 7 + at) % 23)}`;
        const values = Array.from({ length: 40 }, () => {
          const user = `user-${String((count * 7919) % (300 * (at + 1)))}`;
          const ms = Date.now() - (count % 3 === 0 ? 3 * HOUR_MS : 0);
          sent.add(service, user, ms);
          count += 1;
          return [`${String(ms)}000000`, `request ${String(count)}`, { user }];
        });
        return { stream: { service, host }, values };
      });
      const { status } = await instance.call(
        'POST',
        `${instance.ingest}/loki/api/v1/push`,
        { streams },
        { Authorization: `Bearer ${tenant.key}` },
      );
      expect(status).to.equal(204);
    }
  }

  async function measured(name: string): Promise<readonly Series[]> {
    const { status, body } = await instance.call(
      'GET',
      `${instance.app}/api/v1/tenants/${String(tenant.id)}/measures?name=${name}&start=-2d&end=${encodeURIComponent(new Date(Date.now() + HOUR_MS).toISOString())}`,
      undefined,
      { Authorization: `Bearer ${tenant.key}` },
    );
    if (status !== 200) throw new Error(`/measures answered ${String(status)}: ${JSON.stringify(body)}`);
    return (body as { measures: Series[] }).measures;
  }

  const counted = async (): Promise<Map<string, number>> =>
    new Map((await measured('entries')).map(({ labels, points }) => [labels.service, points.reduce((sum, [, value]) => sum + value, 0)]));

  const shards = async (value: number): Promise<void> => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const url = `${instance.admin}/admin/tenants/${String(tenant.id)}/flags/shards`;
    const { status } = await instance.call('PUT', url, { value: String(value) }, { Authorization: `Bearer ${token}` });
    expect(status).to.equal(200);
  };

  /** Ends the processors' process without notice; resolves when its successor is there. */
  async function kill(): Promise<void> {
    const { pid } = instance.processes().get('processors') ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until(
      'another process',
      () => Promise.resolve(instance.processes().get('processors')?.pid ?? pid),
      (found) => found !== pid,
    );
  }

  const isAll = (found: ReadonlyMap<string, number>): boolean => SERVICES.every((service) => (found.get(service) ?? 0) >= (sent.entries.get(service) ?? 0)); // prettier-ignore

  it('count each entry once, while the tenant is spread over more and more partitions and their process is killed', async () => {
    await send(20);
    await until('the first entries', counted, isAll);
    for (const k of [2, 4]) {
      const load = send(60);
      await shards(k);
      if (isWhole || k === PARTITIONS) await kill();
      await load;
    }
    await send(10);
    await until('all entries', counted, isAll);
    await kill();
    await send(1);
    const found = await until('the last ones', counted, isAll);
    expect([...found].sort()).to.deep.equal([...sent.entries].sort());
    const config = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
    const store = new Store(config.clickhouse);
    const partitions = await store.ownerRows('SELECT uniqExact(kafka_part) FROM logs WHERE tenant_id = {id:UInt32}', { id: tenant.id });
    await store.close();
    expect(partitions).to.deep.equal([[PARTITIONS]]);
  });

  it('count different users of each service and hour, within what the sketch promises', async () => {
    const found = await until(
      'the users',
      async () =>
        new Map(
          (await measured('distinct_users')).flatMap(({ labels, points }) =>
            points.map(([time, value]): [string, number] => [`${labels.service} ${time}`, value]),
          ),
        ),
      (measures) => [...sent.users].every(([key, { size }]) => Math.abs((measures.get(key) ?? 0) - size) <= 4 * HyperLogLog.error * size),
    );
    expect([...found.keys()].sort()).to.deep.equal([...sent.users.keys()].sort());
  });

  it('have their measures stored once, as the audit counts them', async () => {
    const audited = async (): Promise<string> => {
      const { code, stdout, stderr } = await runCli(instance, tenant, ['audit', '--topic', 'measures.v1']);
      return `${String(code)} ${stdout}${stderr}`;
    };
    // what came last may be on its way into the table
    expect(await until('a whole table', audited, (told) => told.startsWith('0 '))).to.match(/measures/);
  });

  it('are shown to operators', async () => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const { body } = await instance.call('GET', `${instance.admin}/admin/processors`, undefined, { Authorization: `Bearer ${token}` });
    const names = (body as { processor: string; halted: string | null }[]).map(({ processor, halted }) => `${processor} ${String(halted)}`);
    for (const name of ['distinct-users', 'distinct-users-merged', 'service-entries', 'service-entries-merged', 'volume', 'usage'])
      expect(names.filter((one) => one === `${name} null`)).to.have.length(PARTITIONS);
  });

  it('are told what operators say in every partition of the log, and the log is as whole as before', async () => {
    const admin = async (...words: string[]): Promise<readonly [number, string]> => {
      const { code, stdout, stderr } = await runCli(instance, tenant, ['admin', 'processor', ...words]);
      return [code, stdout + stderr];
    };
    const set = (processor: string, value: string): ReturnType<typeof admin> =>
      admin('set', '--processor', processor, '--setting', 'max_groups', '--value', value);
    expect(await set('service-entries', '1')).to.satisfy(
      ([code, told]: [number, string]) => code === 2 && /those that do: volume/.test(told),
    );
    expect(await set('volume', '7')).to.satisfy(([code, told]: [number, string]) => code === 2 && /from 1000 to 200000/.test(told));
    expect((await set('volume', '30000'))[0]).to.equal(0);
    const { kafka: brokers } = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
    const kafka = createKafka({ ...brokers, clientId: 'test', log: pino({ level: 'silent' }) });
    const consumer = kafka.consumer({ groupId: 'test-settings' });
    const told = new Map<number, unknown>();
    await consumer.connect();
    await consumer.subscribe({ topic: LOGS_TOPIC, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ partition, message }) => {
        const input = inputOf(partition, message);
        // other tests set something in this instance too
        if (input.kind === 'tick' && input.setting?.processor === 'volume') told.set(partition, input.setting.value);
        return Promise.resolve();
      },
    });
    await until(
      'the setting',
      () => Promise.resolve([...told.values()]),
      (values) => values.length === PARTITIONS,
    );
    await consumer.disconnect();
    expect([...told.values()]).to.deep.equal(Array.from({ length: PARTITIONS }, () => 30_000));
    const audited = async (): Promise<string> => {
      const { code, stdout, stderr } = await runCli(instance, tenant, ['audit']);
      return `${String(code)} ${stdout}${stderr}`;
    };
    await until('a whole table', audited, (one) => one.startsWith('0 '));
    expect((await admin('settings'))[1]).to.match(/volume +max_groups .*30000/);
    const changes = await runCli(instance, tenant, ['admin', 'audit-log', '--json']);
    expect(changes.stdout).to.match(/"processor set".*"max_groups"/);
  });
});
