import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { gzipSync } from 'node:zlib';
import { adminCommand } from '../../../cli/admin.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { encodeHeaders } from '../../../pipeline/bus/records/record.ts';
import { askClickHouse } from '../engine.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance, shareWith } from '../shared.ts';
import { markLayout, marksSignal } from '../../signals/marks/mark.ts';
import { killEach } from './kills.ts';

shareWith(() => Promise.resolve({ LOGWEIR_SIGNALS: path.resolve(import.meta.dirname, '../../signals/marks/index.ts') }));

type Tenant = { readonly id: number; readonly key: string };
const KILLS = ['ingest', 'sink', 'processors', 'sink', 'ingest', 'processors'];
const PER_BODY = 20;

describe('a signal of one folder and one line', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;
  const line = (name: string, more: object = {}): string => `${JSON.stringify({ time: Date.now(), name, number: 1.5, ...more })}\n`;
  const post = (body: string | Buffer, key = tenant.key, headers: Readonly<Record<string, string>> = {}): ReturnType<Instance['call']> =>
    instance.call('POST', `${instance.ingest}/api/v1/marks`, body, { Authorization: `Bearer ${key}`, ...headers });

  async function admin<Answer>(...argv: string[]): Promise<Answer> {
    let text = '';
    const write = (part: string): void => void (text += part);
    const code = await adminCommand([...argv, '--json'], instance.env, { out: write, err: write });
    if (code !== 0) throw new Error(text);
    return JSON.parse(text) as Answer;
  }
  const countOf = async (where: string): Promise<number> =>
    Number((await askClickHouse(instance, `SELECT count() FROM marks WHERE tenant_id = ${String(tenant.id)} AND ${where}`))[0]?.[0]);
  const counted = (where: string, count: number): Promise<number> =>
    until(`${String(count)} marks`, () => countOf(where), (found) => found >= count); // prettier-ignore
  const kafka = (): Kafka =>
    createKafka({
      brokers: [readFileSync(path.join(instance.dataDir, 'kafka', 'brokers'), 'utf8').trim()],
      ...{ clientId: 'test', log: pino({ level: 'silent' }) },
    });

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  it('is taken at its path, and stored as it was sent', async () => {
    const time = Date.now();
    const { status, body } = await post(line('nan', { time, number: 0.1 }) + line('other'));
    expect([status, body]).to.deep.equal([200, { status: 'ok', accepted: 2, rejected: 0 }]);
    await counted("name IN ('nan', 'other')", 2);
    const where = `tenant_id = ${String(tenant.id)} AND name = 'nan'`;
    const [row] = await askClickHouse(instance, `SELECT toUnixTimestamp64Milli(time), number, retention_days FROM marks WHERE ${where}`);
    expect(row).to.deep.equal([String(time), '0.1', '0']);
  });

  it('has credentials, scopes, caps on both sides, and encodings as every path has', async () => {
    const reader = await admin<{ key: string }>('key', 'create', '--tenant', String(tenant.id), '--scopes', 'read');
    expect((await fetch(`${instance.ingest}/api/v1/marks`, { method: 'POST', body: line('x') })).status).to.equal(401);
    expect((await post(line('x'), 'unknown')).status).to.equal(403);
    expect((await post(line('x'), reader.key)).status).to.equal(403);
    expect((await post(gzipSync(line('zipped')), tenant.key, { 'Content-Encoding': 'gzip' })).status).to.equal(200);
    expect((await post(gzipSync(line('y'.repeat(200_000))), tenant.key, { 'Content-Encoding': 'gzip' })).status).to.equal(413);
    expect((await post(line('z'.repeat(100_000)))).status).to.equal(413);
    expect((await instance.call('GET', `${instance.ingest}/api/v1/marks`)).status).to.equal(405);
    const app = await instance.call('POST', `${instance.app}/api/v1/marks`, line('by the app host'), {
      Authorization: `Bearer ${tenant.key}`,
    });
    expect(app.status).to.equal(200);
  });

  it('rejects rows by themselves, and keeps the reasons for their tenant', async () => {
    const bad = ['[]', '{"time":1.5,"name":"a","number":1}', '{"time":1,"name":"","number":1}', '{"time":1,"name":"a","number":"1"}', '{'];
    const { body } = await post([line('good').trim(), ...bad, line('ancient', { time: -1e14 }).trim()].join('\n'));
    expect(body).to.deep.equal({ status: 'ok', accepted: 1, rejected: 6 });
    const seen = await until(
      'the rejections',
      () => admin<{ reason: string; format: string; path: string }[]>('rejections', '--tenant', String(tenant.id)),
      (found) => found.filter(({ format }) => format === 'marks_json').length >= 6,
    );
    const own = seen.filter(({ format }) => format === 'marks_json').map(({ reason }) => reason);
    expect(own).to.include.members(['there is no name', 'there is no number', 'not a JSON object', 'the time is out of bounds']);
  });

  it('is limited by the rate and the volume of the plan, in its own unit, and takes nothing of what logs may take', async () => {
    const own = await admin<{ tenant_id: number; key: string }>('tenant', 'create', '--name', 'slow', '--plan', 'custom');
    for (const [flag, value] of [
      ['entries_per_second', '1'],
      ['daily_bytes', '2000'],
    ])
      // prettier-ignore
      await admin('tenant', 'set-flag', '--tenant', String(own.tenant_id), '--flag', flag ?? '', '--value', value ?? '');
    const burst = line('b').repeat(15);
    await until('the limits', () => post(burst, own.key), ({ status }) => status === 429); // prettier-ignore
    const { status, body } = await post(burst, own.key);
    expect(status).to.equal(429);
    expect((body as { detail: string }).detail).to.match(/ marks\/s|daily volume quota/);
    const usage = await until(
      'the usage',
      () => admin<{ bytes: number; signals: Record<string, number> }[]>('usage', '--tenant', String(own.tenant_id)),
      (days) => (days[0]?.signals['marks'] ?? 0) > 0,
    );
    expect(usage[0]?.signals['logs']).to.equal(0);
    expect(usage[0]?.bytes).to.equal(usage[0]?.signals['marks']);
  });

  it('is stored once through kills of every process, and counted to the byte', async () => {
    const billed = async (): Promise<number> =>
      (await admin<{ signals: Record<string, number>; pending_bytes: number }[]>('usage', '--tenant', String(tenant.id)))[0]?.signals['marks'] ?? 0; // prettier-ignore
    const settled = async (): Promise<number> => (await admin<{ pending_bytes: number }[]>('usage', '--tenant', String(tenant.id)))[0]?.pending_bytes ?? -1; // prettier-ignore
    await until('what was sent before', settled, (pending) => pending === 0);
    const before = await billed();
    const { names: acknowledged, bytes } = await killEach(instance, KILLS, async (turn) => {
      const names = Array.from({ length: PER_BODY }, (_none, at) => `kill ${String(turn * PER_BODY + at)}`);
      const body = names.map((name) => line(name)).join('');
      const { status } = await post(body).catch(() => ({ status: 0 }));
      return { names, bytes: Buffer.byteLength(body), isTaken: status === 200 };
    });
    await counted("startsWith(name, 'kill ')", acknowledged.size);
    const rows = await askClickHouse(
      instance,
      `SELECT name, count() FROM marks WHERE tenant_id = ${String(tenant.id)} AND startsWith(name, 'kill ') GROUP BY name`,
    );
    const stored = new Map(rows.map(([name = '', count]) => [name, Number(count)]));
    expect([...acknowledged].filter((name) => !stored.has(name))).to.deep.equal([]);
    expect([...stored.values()].filter((count) => count !== 1)).to.deep.equal([]);
    // what was not acknowledged may be stored, and counts then
    await until('the usage', settled, (pending) => pending === 0);
    expect(await billed()).to.be.at.least(before + bytes);
    const { stdout, code } = await runCli(instance, tenant, ['audit', '--topic', 'marks.v1', '--json']);
    expect(code, stdout).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ lost: 0, doubled: 0 });
  });

  it('keeps what cannot be stored as dead letters, and replays it', async () => {
    const began = new Date().toISOString();
    const producer = kafka().producer();
    await producer.connect();
    const value = markLayout.encode([{ time: BigInt(Date.now()) * 1_000_000n, name: 'damaged', number: 0n }]);
    const info = { tenantId: tenant.id, retentionDays: 0, count: 2, bytes: 10, encoding: 'columns' };
    await producer.send({ topic: 'marks.v1', messages: [{ partition: 0, value, headers: encodeHeaders(marksSignal, info) }] });
    await producer.disconnect();
    await askClickHouse(instance, "ALTER TABLE marks ADD CONSTRAINT narrow CHECK name != 'refused'");
    expect((await post(line('refused'))).status).to.equal(200);
    type Letter = { readonly reason: string; readonly topic: string; readonly detail: string };
    const letters = (): Promise<Letter[]> => admin<Letter[]>('dead-letter', 'list', '--from', began, '--limit', '1000');
    const own = (all: readonly Letter[]): Letter[] => all.filter(({ topic }) => topic === 'marks.v1');
    const found = own(await until('two dead letters', letters, (all) => own(all).length === 2));
    expect(found.map(({ reason }) => reason).sort()).to.deep.equal(['refused', 'rows']);
    await askClickHouse(instance, 'ALTER TABLE marks DROP CONSTRAINT narrow');
    const [tally] = await admin<{ replayed: number }[]>('dead-letter', 'replay', '--reason', 'refused', '--from', began);
    expect(tally?.replayed).to.equal(1);
    await counted("name = 'refused'", 1);
    expect(await countOf("name IN ('refused', 'damaged')")).to.equal(1);
  });

  it('has metrics with its name, and its lag is watched', async () => {
    const shown = [
      /logweir_entries_total\{format="marks_json",signal="marks",role="ingest"\} [1-9]/,
      /logweir_consumer_lag\{topic="marks.v1",partition="0",role="sink"\} 0/,
      /logweir_dead_letters_total\{topic="marks.v1",reason="rows",role="sink"\} [1-9]/,
    ];
    await until(
      'the metrics',
      async () => String((await instance.call('GET', `${instance.admin}/metrics`)).body),
      (text) => shown.every((series) => series.test(text)),
    );
  });
});
