import { expect } from 'chai';
import { Kafka, logLevel } from 'kafkajs';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SET_HEADER } from '../../../api/engine/set-engine.ts';
import { isWhole } from '../../extent.ts';
import { askClickHouse } from '../engine.ts';
import { countedByPatterns, everyAnswer, sendEverything } from '../every-question.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import { pace } from '../pace.ts';
import { ShardEngines } from '../shard-engines.ts';
import { newTenant, runCli } from '../shared.ts';

const PARTITIONS = 4;

/** What takes a restart of the service or of a server, and is of what unit tests show too. */
const itAtLength = isWhole ? it : it.skip;

const lines = (answer: unknown): string => JSON.stringify(answer, null, 1);

/** The first lines in which two texts differ. */
function firstDifference(one: string, other: string): string {
  const [ones, others] = [one.split('\n'), other.split('\n')];
  const at = ones.findIndex((line, index) => line !== others[index]);
  return [ones, others].map((all) => all.slice(at, at + 3).join('')).join(' | ');
}

describe('a set whose rows lie in several shards', function () {
  this.timeout(900_000);
  let engines: ShardEngines;
  let instance: Instance;
  const sent = new Map<number, number>();

  /** The settings of an instance whose set b has so many shards. */
  function settings(shards: number, out: string, order: readonly number[] = [0, 1, 2]): Record<string, string> {
    const file = engines.writeSets(order.slice(0, shards));
    return { LOGWEIR_CLICKHOUSE_SETS_FILE: file, LOGWEIR_CLICKHOUSE_SETS_OUT: out, LOGWEIR_LOG_PARTITIONS: String(PARTITIONS) };
  }

  before(async () => {
    engines = await ShardEngines.start(3);
    instance = await startInstance({ env: settings(2, 'a') });
  });
  after(async () => {
    await instance.stop();
    await engines.stop();
  });

  async function send(count: number, tenant = { id: 1, key: instance.key }): Promise<void> {
    const before = sent.get(tenant.id) ?? 0;
    const entries = Array.from({ length: count }, (_none, index) => ({ _msg: `entry ${String(before + index)}`, service: `s${String(index)}`, level: 'info' })); // prettier-ignore
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, { Authorization: `Bearer ${tenant.key}` });
    expect(status).to.equal(200);
    sent.set(tenant.id, before + count);
  }
  const search = (): ReturnType<Instance['call']> =>
    instance.call('POST', `${instance.app}/api/v1/tenants/1/search`, { query: '*', start: '-1h', limit: 10 });
  const status = async (): Promise<number> => (await search()).status;
  async function again(env: Readonly<Record<string, string>>): Promise<void> {
    await instance.stop({ keep: true });
    instance = await startInstance({ dataDir: instance.dataDir, env });
  }
  /** What searches that go on have answered before, while and after something was done: a status, and what was counted. */
  async function countingWhile<Done>(
    { id, key }: { readonly id: number; readonly key: string },
    done: () => Promise<Done>,
  ): Promise<{ readonly answers: ReadonlySet<string>; readonly port: Done }> {
    const answers = new Set<string>();
    let asked = 0;
    let isOver = false;
    const loops = [1, 2, 3, 4].map(async () => {
      while (!isOver) {
        const { status: code, body } = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(id)}/search`, { query: 'entry | count() n', start: '-1h' }, { Authorization: `Bearer ${key}` }); // prettier-ignore
        answers.add(code === 200 ? `200 ${String((body as { logs: { n: number }[] }).logs[0]?.n)}` : String(code));
        asked += 1;
        await pace();
      }
    });
    await until('answers', () => Promise.resolve(asked), (count) => count > 20); // prettier-ignore
    const port = await done();
    await until('a refusal', () => Promise.resolve(answers), (all) => all.has('503')); // prettier-ignore
    isOver = true;
    await Promise.all(loops);
    return { answers, port };
  }
  const stored = async (shards: number): Promise<number> => {
    const counts = await Promise.all(
      Array.from({ length: shards }, (_none, index) => engines.ask(index, 'SELECT count() FROM logweir.logs')),
    );
    return counts.reduce((sum, [row]) => sum + Number(row?.[0]), 0);
  };
  const allSent = (): number => [...sent.values()].reduce((sum, count) => sum + count, 0);
  const untilStored = (shards = 2): Promise<number> => until('all entries', () => stored(shards), (count) => count === allSent()); // prettier-ignore
  const partitionsOf = async (index: number): Promise<string> =>
    (await engines.ask(index, "SELECT arrayStringConcat(arraySort(groupUniqArray(kafka_part)), ',') FROM logweir.logs"))[0]?.[0] ?? '';
  const warnings = async (): Promise<string> =>
    ((await instance.call('GET', `${instance.admin}/ready`)).body as { warnings: string[] }).warnings.join('\n');
  const cli = (...args: string[]): ReturnType<typeof runCli> => runCli(instance, { id: 1, key: instance.key }, args);
  const untilServing = (): Promise<number> => until('an answer', status, (code) => code === 200);
  const adminAuth = (): Record<string, string> => ({ Authorization: `Bearer ${readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim()}` }); // prettier-ignore
  /** A tenant whose streams lie in every partition. */
  async function wideTenant(partitions = PARTITIONS): ReturnType<typeof newTenant> {
    const tenant = await newTenant(instance);
    const url = `${instance.admin}/admin/tenants/${String(tenant.id)}/flags/shards`;
    const { status: code, body } = await instance.call('PUT', url, { value: partitions }, adminAuth());
    expect(code, JSON.stringify(body)).to.equal(200);
    return tenant;
  }

  it('each have the partitions that are theirs, and one query sees all', async () => {
    const tenants: { readonly id: number; readonly key: string }[] = [];
    for (let made = 0; made < 3; made++) tenants.push(await newTenant(instance));
    for (const tenant of [{ id: 1, key: instance.key }, ...tenants, await wideTenant()]) await send(40, tenant);
    await untilStored();
    await untilServing();
    expect([await partitionsOf(0), await partitionsOf(1)]).to.deep.equal(['0,2', '1,3']);
    const { headers, body } = await search();
    expect(headers.get(SET_HEADER)).to.equal('b');
    expect((body as { count: number }).count).to.equal(10);
    expect(await instance.count('*')).to.equal(sent.get(1));
    for (const { id, key } of tenants) {
      const answer = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(id)}/search`, { query: '* | count()', start: '-1h' }, { Authorization: `Bearer ${key}` }); // prettier-ignore
      expect(JSON.stringify(answer.body)).to.contain('40');
    }
  });

  itAtLength('answer every kind of question as one does', async () => {
    const tenant = await wideTenant();
    const at = Date.now() - 60_000;
    const traces = await sendEverything(instance, tenant, 11, at);
    sent.set(tenant.id, 400);
    await untilStored();
    const rows = async (table: string): Promise<number[]> =>
      Promise.all([0, 1].map(async (index) => Number((await engines.ask(index, `SELECT count() FROM logweir.${table} WHERE tenant_id = ${String(tenant.id)}`))[0]?.[0]))); // prettier-ignore
    for (const [table, count] of [['logs', 400], ['spans', 200], ['samples', 150], ['replay_chunks', 12]] as const) // prettier-ignore
      await until(`all of ${table}`, () => rows(table), ([one = 0, other = 0]) => one > 0 && other > 0 && one + other >= count); // prettier-ignore
    const counted = (): Promise<number> => until('patterns', () => countedByPatterns(instance, tenant, at), (count) => count === 400); // prettier-ignore
    await counted();
    const ofShards = await everyAnswer(instance, tenant, at, traces);
    await again(settings(2, 'b'));
    await until('all in the other set', async () => Number((await askClickHouse(instance, `SELECT count() FROM logs WHERE tenant_id = ${String(tenant.id)}`))[0]?.[0]), (count) => count === 400); // prettier-ignore
    for (const [table, count] of [['spans', 200], ['samples', 150], ['replay_chunks', 12]] as const) // prettier-ignore
      await until(table, async () => Number((await askClickHouse(instance, `SELECT count() FROM ${table} WHERE tenant_id = ${String(tenant.id)}`))[0]?.[0]), (found) => found >= count); // prettier-ignore
    await counted();
    const ofOne = await everyAnswer(instance, tenant, at, traces);
    const differences = Object.entries(ofOne).filter(([question, answer]) => lines(ofShards[question]) !== lines(answer));
    const told = differences.map(([question, answer]) => `${question}\n${firstDifference(lines(ofShards[question]), lines(answer))}`);
    expect(told, told.join('\n')).to.deep.equal([]);
    expect(Object.values(ofOne).filter((answer) => (answer as { status: number }).status === 200).length).to.be.greaterThan(60);
    await again(settings(2, 'a'));
  });

  for (const index of isWhole ? [1, 0] : [1])
    it(`give no half answers: 503 while shard ${String(index + 1)} is killed under ingest, and all once when it is back`, async () => {
      const tenant = await wideTenant();
      await send(60, tenant);
      await untilStored();
      await untilServing();
      const { answers, port } = await countingWhile(tenant, () => engines.kill(index));
      expect([...answers].sort(), 'no half answer').to.deep.equal(['200 60', '503']);
      const { status: code, headers, body } = await search();
      expect([code, (body as { detail: string }).detail]).to.deep.equal([503, 'The log store cannot be reached; retry later.']);
      expect(Number(headers.get('Retry-After'))).to.be.greaterThan(0);
      for (const one of [{ id: 1, key: instance.key }, tenant]) await send(20, one);
      await until('the warning', warnings, (text) => text.includes('The set b does not serve: it is unavailable.'));
      expect(await status()).to.equal(503);
      await engines.start(index, port);
      await untilServing();
      await untilStored();
      const { stdout, stderr } = await cli('audit', '--set', 'b');
      expect(stdout, stderr).to.contain('0 lost, 0 doubled');
    });

  itAtLength('give no half answers while one of them is silent', async () => {
    const tenant = await wideTenant();
    await send(60, tenant);
    await untilStored();
    await untilServing();
    const { answers } = await countingWhile(tenant, () => engines.signal(1, 'SIGSTOP'));
    try {
      expect([...answers].sort()).to.deep.equal(['200 60', '503']);
      const { status: code, headers } = await search();
      expect([code, Number(headers.get('Retry-After')) > 0]).to.deep.equal([503, true]);
    } finally {
      await engines.signal(1, 'SIGCONT');
    }
    await untilServing();
  });

  itAtLength('are not written where the file names them in another order', async () => {
    await again(settings(2, 'a', [1, 0]));
    await send(20, await wideTenant());
    await until('the warning', warnings, (text) => text.includes('Nothing is stored in the set b: it has another server as its shard 1'));
    await until('the warning', warnings, (text) => text.includes('The set b does not serve: it has another server as its shard 1'));
    expect(await status()).to.equal(503);
    await again(settings(2, 'a'));
    await untilStored();
    await untilServing();
    expect((await cli('audit', '--set', 'b')).stdout).to.contain('0 lost, 0 doubled');
  });

  itAtLength('do not serve while one of them has no row policy', async () => {
    const port = await engines.kill(1);
    engines.setReader(1, '<databases remove="1"/>');
    await engines.start(1, port);
    await until('the warning', warnings, (text) => /has no row policy on .*logs in shard 2/.test(text));
    expect(await status()).to.equal(503);
    engines.setReader(1);
    await engines.kill(1);
    await engines.start(1, port);
    await untilServing();
  });

  itAtLength('lose the rows of a deleted tenant in each, and refuse a backup', async () => {
    const refused = await cli('admin', 'backup', '--set', 'b', '--at', 'place');
    expect([refused.code, refused.stderr]).to.satisfy(([code, text]: [number, string]) => code !== 0 && text.includes('has shards'));
    const tenant = await wideTenant();
    await send(60, tenant);
    await untilStored();
    const id = String(tenant.id);
    const rows = async (): Promise<number[]> =>
      (await Promise.all([0, 1].map((index) => engines.ask(index, `SELECT count() FROM logweir.logs WHERE tenant_id = ${id}`)))).flat(2).map(Number); // prettier-ignore
    expect(Math.min(...(await rows()))).to.be.greaterThan(0);
    const { body } = await instance.call('GET', `${instance.admin}/admin/tenants`, undefined, adminAuth());
    const name = (body as { tenant_id: number; name: string }[]).find(({ tenant_id: one }) => String(one) === id)?.name ?? '';
    expect((await cli('admin', 'tenant', 'delete', '--tenant', id, '--name', name)).code).to.equal(0);
    await until('the certificate', async () => (await cli('admin', 'tenant', 'deletion', '--tenant', id, '--json')).stdout, (text) => /"deleted"/.test(text)); // prettier-ignore
    expect(await rows()).to.deep.equal([0, 0]);
    sent.delete(tenant.id);
  });

  it('get another one, which takes up the partitions that are added', async () => {
    await untilStored();
    expect([await partitionsOf(0), await partitionsOf(1)]).to.deep.equal(['0,2', '1,3']);
    await addPartitions();
    await again(settings(3, ''));
    await send(80, await wideTenant(2 * PARTITIONS));
    await send(40);
    await untilStored(3);
    // those that are added go to the one with the fewest
    expect([await partitionsOf(0), await partitionsOf(1), await partitionsOf(2)]).to.deep.equal(['0,2,6', '1,3,7', '4,5']);
    const a = instance.processes().get('clickhouse')?.pid ?? 0;
    process.kill(a, 'SIGSTOP');
    try {
      const seen = await until('the set b', async () => (await search()).headers.get(SET_HEADER), (set) => set === 'b'); // prettier-ignore
      expect(seen).to.equal('b');
      expect(await instance.count('*')).to.equal(sent.get(1));
    } finally {
      process.kill(a, 'SIGCONT');
    }
    await until('the set a', warnings, (text) => !text.includes('The set a does not serve'));
    await engines.kill(2);
    expect([await status(), (await search()).headers.get(SET_HEADER)]).to.deep.equal([200, 'a']);
  });

  /** As an operator does, with Kafka's own tool: those of every topic that has as many as the log. */
  async function addPartitions(): Promise<void> {
    const brokers = readFileSync(path.join(instance.dataDir, 'kafka/brokers'), 'utf8').trim().split(',');
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata();
    const grown = topics.filter(({ partitions, name }) => partitions.length === PARTITIONS && !name.startsWith('__'));
    await admin.createPartitions({ topicPartitions: grown.map(({ name }) => ({ topic: name, count: 2 * PARTITIONS })) });
    await admin.disconnect();
  }
});
