import { expect } from 'chai';
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { RangeConsumer, type Expired } from '../../../pipeline/bus/consumer/range-consumer.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { rangeStore } from '../../fakes/range-store.ts';
import { until } from '../instance.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

describe('records that Kafka deletes before they are read', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  before(async () => {
    broker = await leaseBroker();
  });
  after(async () => {
    await broker.giveBack();
  });

  it('are reported once, and what comes behind them is read', async () => {
    const log = pino({ level: 'silent' });
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [logsSignal.topic], { partitions: 1 });
    const [producer, admin] = [kafka.producer(), kafka.admin()];
    await Promise.all([producer.connect(), admin.connect()]);
    // none of ours: each becomes a dead letter
    const send = (count: number): Promise<unknown> =>
      producer.send({ topic: LOGS_TOPIC, messages: Array.from({ length: count }, () => ({ value: 'x' })) });
    const seen: number[] = [];
    const expired: Expired[] = [];
    const consumer = (): RangeConsumer =>
      new RangeConsumer({
        ...{ kafka, log, groupId: 'g', signal: logsSignal, store: rangeStore({}), budget: 1e6 },
        limits: { rows: 1000, bytes: 1e9, waits: [{ ms: 0, rows: Infinity }] },
        onCrash: () => undefined,
        onExpired: (gap) => expired.push(gap),
        deadLetter: (letters) => Promise.resolve(void seen.push(...letters.map(({ offset }) => offset))),
        deadLetterLimit: 10_000,
      });
    const read = async (last: number): Promise<void> => {
      const own = consumer();
      await own.start();
      await until(
        `record ${String(last)}`,
        () => Promise.resolve(seen.at(-1)),
        (offset) => offset === last,
      );
      await own.stop();
    };
    await send(3);
    await read(2);
    await send(5);
    // kafkajs must know the topic's leaders by then
    await admin.fetchTopicOffsets(LOGS_TOPIC);
    await admin.deleteTopicRecords({ topic: LOGS_TOPIC, partitions: [{ partition: 0, offset: '6' }] });
    await read(7);
    await until(
      'the report',
      () => Promise.resolve(expired),
      ({ length }) => length > 0,
    );
    expect(expired).to.deep.equal([{ topic: LOGS_TOPIC, partition: 0, first: 3, last: 5 }]);
    expect(seen).to.deep.equal([0, 1, 2, 6, 7]);
    await send(1);
    await read(8);
    expect(expired).to.have.length(1);
    await Promise.all([producer.disconnect(), admin.disconnect()]);
  });
});
