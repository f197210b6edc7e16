import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { sinkGroup } from '../../../main/roles/sink-group.ts';
import { boundsOf, committedBy } from '../../../pipeline/bus/reading/group-positions.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { plainHeaders } from '../../fakes/log-record.ts';
import { askClickHouse } from '../engine.ts';
import { until, type Instance } from '../instance.ts';
import { sharedInstance, shareWith } from '../shared.ts';

const root = path.resolve(import.meta.dirname, '../../..');

type Finding = {
  readonly kind: string;
  readonly partition: number;
  readonly hour: string;
  readonly entries: number;
  readonly offsets: readonly string[];
};
type Report = {
  readonly records: number;
  readonly entries: number;
  readonly lost: number;
  readonly doubled: number;
  readonly dead_lettered: number;
  readonly findings: readonly Finding[];
  readonly hours: readonly { readonly partition: number; readonly entries: number }[];
};

shareWith(() => Promise.resolve({ LOGWEIR_DURABILITY: 'power-loss' }));

describe('audit of an instance that writes through to the disk', function () {
  this.timeout(600_000);
  const BODIES = 40;
  const PER_BODY = 100;
  let instance: Instance;

  const logweir = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        ['cli/logweir.mjs', ...args],
        { cwd: root, env: instance.env, maxBuffer: 64 * 1024 * 1024 },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  const audit = (...flags: string[]): ReturnType<typeof logweir> => logweir('audit', ...flags);
  const report = async (...flags: string[]): Promise<Report> => JSON.parse((await audit('--json', ...flags)).out) as Report;

  const kafka = (): ReturnType<typeof createKafka> => {
    const brokers = [readFileSync(path.join(instance.dataDir, 'kafka', 'brokers'), 'utf8').trim()];
    return createKafka({ brokers, clientId: 'test', log: pino({ level: 'silent' }) });
  };
  const clickhouse = (statement: string): Promise<string[][]> => askClickHouse(instance, statement);

  before(async () => {
    // audited as a whole: the files after this one write more
    instance = await sharedInstance();
    const url = `${instance.ingest}/api/v1/ingest`;
    for (let body = 0; body < BODIES; body++) {
      const lines = Array.from({ length: PER_BODY }, (_, at) =>
        JSON.stringify({ _msg: `entry ${at}`, app: `app-${(body + at) % 7}`, n: body * PER_BODY + at }),
      );
      const { status } = await instance.call('POST', url, lines.join('\n'), { 'Content-Type': 'application/x-ndjson' });
      expect(status).to.equal(200);
    }
    await until(
      'all entries',
      () => report(),
      ({ entries, lost }) => entries === BODIES * PER_BODY && lost === 0,
      240_000,
    );
  });

  it('has both engines write to the disk before they acknowledge', async () => {
    const settings = await clickhouse(
      "SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory', 'min_rows_to_fsync_after_merge') ORDER BY name",
    );
    expect(settings.map(([, value]) => value)).to.deep.equal(['1', '1', '1']);
    const admin = kafka().admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      resources: ['logs.v1', '__consumer_offsets'].map((name) => ({
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name,
        configNames: ['flush.messages'],
      })),
      includeSynonyms: false,
    });
    await admin.disconnect();
    expect(resources.map(({ configEntries }) => configEntries[0]?.configValue)).to.deep.equal(['1', '1']);
  });

  it('finds nothing, and ends with 0', async () => {
    const { code, out, err } = await audit();
    // how far it is, which it says where it takes some seconds
    expect(err).to.match(/^(?:[\d,]+ records compared …\n)*$/);
    expect(out).to.match(/^logs\.v1: 0 lost, 0 doubled of 4,000 entries in [\d,]+ records\n$/);
    expect(code).to.equal(0);
    const { hours } = await report();
    expect(hours.reduce((sum, { entries }) => sum + entries, 0)).to.equal(BODIES * PER_BODY);
  });

  it('counts no ticks, for which the sink makes no insert, and no reader prints them', async () => {
    const inserts = async (): Promise<string | undefined> => {
      const { body } = await instance.call('GET', `${instance.admin}/metrics`);
      return /^logweir_insert_seconds_count\{[^}]*table="logs"[^}]*\} (\d+)$/m.exec(String(body))?.[1];
    };
    const [before, insertsBefore] = [await report(), await inserts()];
    expect(Number(insertsBefore)).to.be.at.least(1);
    const client = kafka();
    const [producer, admin] = [client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner }), client.admin()];
    await Promise.all([producer.connect(), admin.connect()]);
    const partitions = [...(await boundsOf(admin, LOGS_TOPIC)).keys()];
    for (let round = 0; round < 2; round++)
      await producer.send({ topic: LOGS_TOPIC, messages: partitions.map((partition) => ({ partition, ...encodeTick(logsSignal) })) });
    await until(
      'the ticks',
      async () => [await committedBy(admin, sinkGroup('logs'), LOGS_TOPIC), await boundsOf(admin, LOGS_TOPIC)] as const,
      ([committed, bounds]) => partitions.every((partition) => committed.get(partition)?.offset === bounds.get(partition)?.end),
      240_000,
    );
    await Promise.all([producer.disconnect(), admin.disconnect()]);
    const { records, entries, findings } = await report();
    expect([records, entries, findings]).to.deep.equal([before.records, before.entries, []]);
    expect(await inserts()).to.equal(insertsBefore);
    const read = await logweir('topic', 'read', LOGS_TOPIC);
    expect([read.code, read.err, read.out.split('\n').length - 1]).to.deep.equal([0, '', BODIES * PER_BODY]);
  });

  it('tells apart what is in the dead letters', async () => {
    const producer = kafka().producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    const headers = plainHeaders({ tenantId: 1, retentionDays: 0, count: 3, bytes: 0 });
    const rows = 'none of these\nis\na row\n';
    await producer.send({ topic: LOGS_TOPIC, messages: [{ partition: 0, headers, value: rows }, { partition: 1, value: 'foreign' }] }); // prettier-ignore
    await producer.disconnect();
    const { code, out } = await until(
      'the dead letters',
      () => audit(),
      (answer) => answer.out.includes('3 in the dead letters'),
      240_000,
    );
    expect(out).to.contain('0 lost, 0 doubled of 4,003 entries');
    expect(code).to.equal(0);
  });

  it('finds one lost and one doubled entry, names their positions, and ends with 1', async () => {
    const [lost, doubled] = await clickhouse(
      "SELECT kafka_part, kafka_off, kafka_idx, formatDateTime(arrived, '%FT%H:00Z') FROM logs WHERE kafka_idx > 0 ORDER BY cityHash64(kafka_part, kafka_off, kafka_idx) LIMIT 1 BY kafka_part, kafka_off LIMIT 2",
    );
    if (lost === undefined || doubled === undefined) throw new Error('The table has no rows.');
    const at = ([part, off, index]: string[]): string =>
      `kafka_part = ${part ?? ''} AND kafka_off = ${off ?? ''} AND kafka_idx = ${index ?? ''}`;
    await clickhouse(`INSERT INTO logs SELECT * FROM logs WHERE ${at(doubled)} SETTINGS insert_deduplicate = 0`);
    await clickhouse(`DELETE FROM logs WHERE ${at(lost)}`);
    const found = await report();
    expect(found).to.include({ lost: 1, doubled: 1, dead_lettered: 3 });
    expect(found.findings).to.have.deep.members([
      { kind: 'lost', partition: Number(lost[0]), hour: lost[3], entries: 1, records: 1, offsets: [lost[1]] },
      { kind: 'doubled', partition: Number(doubled[0]), hour: doubled[3], entries: 1, records: 1, offsets: [doubled[1]] },
    ]);
    const { code, out } = await audit('--from', '-1h', '--to', 'now');
    expect(code).to.equal(1);
    expect(out)
      .to.contain('1 lost, 1 doubled of 4,003 entries')
      .and.to.match(/^KIND +PARTITION +HOUR +ENTRIES +RECORDS +OFFSETS\n/);
    expect((await audit('--to', '-1h')).out).to.contain('0 lost, 0 doubled of 0 entries');
  });

  it('refuses what it cannot mean', async () => {
    expect(await audit('--topic', 'none')).to.include({ code: 2, out: '' });
    expect((await audit('--from', 'soon')).err).to.contain('--from "soon" is not a valid time');
    expect((await audit('--frm', '-1h')).code).to.equal(2);
  });
});
