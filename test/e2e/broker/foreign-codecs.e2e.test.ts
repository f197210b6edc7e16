import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { prepareKafka } from '../../../compose/embedded/kafka-jars.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

/** By Kafka's number of the codec, which the lowest bits of a batch's attributes carry. */
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const COMPRESSED = CODECS.slice(1);

describe("records that Kafka's own producer wrote", function () {
  this.timeout(600_000);
  let broker: LeasedBroker;

  before(async () => {
    broker = await leaseBroker();
    await ensureTopics(createKafka({ brokers: [broker.brokers], clientId: 'test', log: pino({ level: 'silent' }) }), [logsSignal.topic], {
      partitions: 1,
    });
  });
  after(async () => {
    await broker.giveBack();
  });

  const linesOf = (codec: string): string[] =>
    Array.from(
      { length: 3000 },
      (_, n) => `${codec} ${String(n)} the quick brown fox jumps over the lazy dog ${String((n * 7919) % 1009)}`,
    );

  /** Sends these lines, a record each, in batches of many. */
  async function produce(codec: string, lines: readonly string[]): Promise<void> {
    const { java, classpath } = await prepareKafka({ log: () => undefined });
    const producer = spawn(java, [
      ...['-cp', classpath, 'org.apache.kafka.tools.ConsoleProducer', '--bootstrap-server', broker.brokers, '--topic', LOGS_TOPIC],
      ...['--compression-codec', codec, '--batch-size', '200000', '--timeout', '500'],
    ]);
    let said = '';
    producer.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    producer.stdin.end(`${lines.join('\n')}\n`);
    const code = await new Promise((resolve) => producer.once('exit', resolve));
    if (code !== 0) throw new Error(said.slice(0, 500));
  }

  /** The codecs of the batches that lie in the log. */
  function codecsOnDisk(): Set<string | undefined> {
    const folder = path.join(broker.logDir, `${LOGS_TOPIC}-0`);
    const bytes = Buffer.concat(readdirSync(folder).filter((name) => name.endsWith('.log')).map((name) => readFileSync(path.join(folder, name)))); // prettier-ignore
    const found = new Set<string | undefined>();
    for (let at = 0; at + 61 <= bytes.length; at += 12 + bytes.readInt32BE(at + 8)) found.add(CODECS[bytes.readInt16BE(at + 21) & 7]);
    return found;
  }

  it('are read whatever they are compressed with', async () => {
    for (const codec of COMPRESSED) await produce(codec, linesOf(codec));
    expect([...codecsOnDisk()].sort()).to.deep.equal([...COMPRESSED].sort());
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log: pino({ level: 'silent' }) });
    const consumer = kafka.consumer({ groupId: 'codecs' });
    const expected = COMPRESSED.flatMap(linesOf);
    const read: string[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic: LOGS_TOPIC, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        // a group that the broker has just made may not be ready yet
        if (!payload.restart) reject(payload.error);
      });
      const eachBatch = ({ batch }: { batch: { messages: readonly { value: Buffer | null }[] } }): Promise<void> => {
        for (const { value } of batch.messages) read.push(String(value));
        if (read.length >= expected.length) resolve();
        return Promise.resolve();
      };
      consumer.run({ eachBatch }).catch(reject);
    });
    await consumer.disconnect();
    expect(read).to.deep.equal(expected);
  });
});
