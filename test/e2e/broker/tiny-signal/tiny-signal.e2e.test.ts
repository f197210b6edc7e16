import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { pino } from 'pino';
import { auditedLog } from '../../../../pipeline/bus/measured/audited-log.ts';
import { DeadLetters } from '../../../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../../../pipeline/bus/connection/kafka.ts';
import { RecordPublisher } from '../../../../pipeline/bus/producer/record-publisher.ts';
import { busTopics, ensureTopics } from '../../../../pipeline/bus/records/topics.ts';
import type { Store } from '../../../../pipeline/store/client.ts';
import { audit } from '../../../../sinks/audit/audit.ts';
import { storedPositions } from '../../../../sinks/audit/stored.ts';
import { leaseBroker, type LeasedBroker } from '../../../engines/leased-broker.ts';
import { until } from '../../instance.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { PendingPings, pings, PINGS_TABLE } from './pings.ts';

const log = pino({ level: 'silent' });
const KILLS = 3;
/** Published before each start of the consumer. */
const RECORDS = 400;
const ROUNDS = KILLS + 1;
const PINGS = 7;

describe('a signal that the bus has never heard of', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  let own: LogsqlStore;
  let store: Store;
  let running: ChildProcess | null = null;

  before(async () => {
    [broker, own] = await Promise.all([leaseBroker(), LogsqlStore.start()]);
    store = own.store;
    await store.command(PINGS_TABLE);
  });
  after(async () => {
    running?.kill('SIGKILL');
    await Promise.all([broker.giveBack(), own.stop()]);
  });

  function startConsumer(): ChildProcess {
    const program = path.join(import.meta.dirname, 'consumer.ts');
    const argument = JSON.stringify({ brokers: broker.brokers, clickhouse: own.config });
    return spawn(process.execPath, [program, argument], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const stored = async (): Promise<number> => Number((await store.ownerRows('SELECT count() FROM pings'))[0]?.[0]);

  it('is sent, stored once through kills, dead-lettered and audited by what it says of itself', async () => {
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [pings.topic, ...busTopics], { partitions: 1 });
    const publisher = new RecordPublisher({ kafka, log, topic: pings.topic.name });
    await publisher.start();
    const publish = async (record: PendingPings): Promise<void> => {
      publisher.enqueue(record);
      await publisher.acknowledged(new Set([record]));
    };
    const some = (n: number): { at: number; host: string }[] =>
      Array.from({ length: PINGS }, (_, k) => ({ at: n, host: `${String(n)}-${String(k)}` }));
    const bad = ROUNDS * RECORDS;
    await publish(new PendingPings(1, some(bad), 99));
    const publishRound = async (round: number): Promise<void> => {
      const numbers = Array.from({ length: RECORDS }, (_, n) => round * RECORDS + n);
      await Promise.all(numbers.map((n) => publish(new PendingPings(n % 3, some(n)))));
    };

    for (let kill = 0; kill < KILLS; kill++) {
      const before = await stored();
      await publishRound(kill);
      running = startConsumer();
      await until('more rows', stored, (rows) => rows > before);
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    await publishRound(KILLS);
    await publisher.stop();
    running = startConsumer();
    const lag = auditedLog(kafka, pings, 'pings');
    await until(
      'the end',
      () => lag.positions(null, null),
      (positions) => positions.every(({ committed, end }) => committed === end),
      120_000,
    );

    const [counts] = await store.ownerRows(
      'SELECT count(), uniqExact(host), countIf(toUnixTimestamp64Milli(at) >= {bad:UInt64}) FROM pings',
      {
        bad,
      },
    );
    expect(counts?.map(Number)).to.deep.equal([bad * PINGS, bad * PINGS, 0]);
    const letters = new Map<string, string>();
    await new DeadLetters(kafka).read(0, (found) => {
      for (const { topic, partition, offset, reason } of found) letters.set(`${topic}:${String(partition)}:${String(offset)}`, reason);
      return Promise.resolve(true);
    });
    expect([...letters.values()]).to.deep.equal(['rows']);
    const [key = ''] = letters.keys();
    const report = await audit({
      ...{ log: lag, signal: pings, stored: storedPositions(store, 'pings'), from: null, to: null, now: Date.now },
      deadLetters: () =>
        Promise.resolve({
          last: (partition, offset) => (key === `pings.v1:${String(partition)}:${String(offset)}` ? Date.now() : null),
          expired: [],
        }),
    });
    expect(report).to.include({ records: bad + 1, lost: 0, doubled: 0, stray: 0, dead_lettered: 99 });
  });
});
