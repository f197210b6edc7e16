import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { IdempotentProducer, type IdempotentProducerOptions } from '../../../../pipeline/bus/producer/idempotent-producer.ts';
import { createKafka } from '../../../../pipeline/bus/connection/kafka.ts';
import type { SentRecord } from '../../../../pipeline/bus/producer/sent-record.ts';
import { eventually } from '../../../fakes/eventually.ts';
import { pendingRecord, type FakePending } from '../../../fakes/pending-record.ts';
import { ProduceCluster } from '../../../fakes/produce-cluster.ts';

const log = pino({ level: 'silent' });
const texts = (messages: readonly { readonly value: Buffer }[]): string[] => messages.map(({ value }) => String(value).trim());
const NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20;
const MESSAGE_TOO_LARGE = 10;
const DUPLICATE_SEQUENCE_NUMBER = 46;
const OUT_OF_ORDER_SEQUENCE_NUMBER = 45;

describe('idempotent producer', () => {
  let cluster: ProduceCluster;
  let producer: IdempotentProducer;
  let sent: SentRecord[];
  // the codecs are known from then on
  before(() => void createKafka({ brokers: [''], clientId: 'test', log }));

  async function start(partitions = 1, brokers = 1, more: Partial<IdempotentProducerOptions> = {}): Promise<void> {
    cluster = new ProduceCluster(partitions, brokers);
    sent = [];
    const onSent = (records: readonly SentRecord[]): void => void sent.push(...records);
    producer = new IdempotentProducer({ connect: cluster.connect, log, topic: 'logs.v1', onSent, pauseMs: 1, ...more });
    await producer.start();
  }
  beforeEach(() => start());
  afterEach(async () => {
    cluster.fateOf = () => ({ answer: 'answered' });
    for (const one of cluster.sends) one.answer();
    cluster.down.clear();
    await producer.stop();
  });

  const enqueue = (...records: FakePending[]): void => records.forEach((record) => producer.enqueue(record));
  const nthSend = (n: number): Promise<ProduceCluster['sends'][number]> =>
    eventually(
      `send ${String(n)}`,
      () => cluster.sends[n],
      (send) => send !== undefined,
    ) as Promise<ProduceCluster['sends'][number]>;
  const results = (records: readonly FakePending[]): Promise<(Error | null)[]> => Promise.all(records.map(({ result }) => result));

  it('has one request in flight to a broker, and fills the next one meanwhile', async () => {
    const records = ['a', 'b', 'c', 'd'].map((text) => pendingRecord(text));
    enqueue(records[0]!);
    const first = await nthSend(0);
    enqueue(...records.slice(1));
    expect(producer.pendingBytes).to.equal(8);
    first.answer();
    const second = await nthSend(1);
    expect(texts(second.messages)).to.deep.equal(['b', 'c', 'd']);
    second.answer();
    expect(await results(records)).to.deep.equal([null, null, null, null]);
    expect(cluster.mostInFlight).to.equal(1);
    expect(producer.pendingBytes).to.equal(0);
    expect(cluster.logs[0]?.map(({ sequence }) => sequence)).to.deep.equal([0, 1]);
  });

  it('sends the batches of all partitions of a broker in one request, to each broker one', async () => {
    await start(100, 2);
    const records = Array.from({ length: 100 }, (_, partition) => pendingRecord(`p${String(partition)}`, { partition }));
    enqueue(...records);
    const sends = [await nthSend(0), await nthSend(1)];
    expect(sends.map(({ broker }) => broker)).to.have.members([0, 1]);
    for (const { broker, batches, answer } of sends) {
      expect(batches.map(({ partition }) => partition)).to.deep.equal(Array.from({ length: 50 }, (_, n) => 2 * n + broker));
      answer();
    }
    expect(await results(records)).to.deep.equal(records.map(() => null));
    expect(cluster.sends).to.have.length(2);
  });

  it('sends up to the size of a request, first what has waited longest, each partition in its order', async () => {
    await start(3);
    const large = Buffer.alloc(3_000_000);
    const of = (text: string, partition: number): FakePending => pendingRecord(text, { partition, compression: 'none' });
    const big = (partition: number): FakePending => pendingRecord('', { partition, compression: 'none', value: large });
    const records = [of('a', 2), of('b', 1), big(2), of('d', 1), big(2), of('f', 2), of('g', 0)];
    enqueue(...records);
    for (const n of [0, 1]) (await nthSend(n)).answer();
    expect(await results(records)).to.deep.equal(records.map(() => null));
    const sizes = cluster.sends.map(({ messages }) => messages.map(({ partition, value }) => [partition, value.length]));
    expect(sizes).to.deep.equal([
      [
        [2, 2],
        [2, 3_000_000],
        [1, 2],
        [1, 2],
        [0, 2],
      ],
      [
        [2, 3_000_000],
        [2, 2],
      ],
    ]);
  });

  it('sends records of one compression in a batch, and keeps the order of the partition', async () => {
    const records = [pendingRecord('a'), pendingRecord('b', { compression: 'none' }), pendingRecord('c')];
    enqueue(...records);
    for (const n of [0, 1, 2]) (await nthSend(n)).answer();
    await results(records);
    expect(cluster.texts(0)).to.deep.equal(['a', 'b', 'c']);
  });

  it('tells where records lie before their requests are answered', async () => {
    await start(2);
    const order: string[] = [];
    const other = { tenantId: 2, bytes: 7 };
    const records = [pendingRecord('a'), pendingRecord('x', { info: other }), pendingRecord('y', { info: other, partition: 1 })];
    records.forEach((each) => void each.result.then(() => order.push(`done ${String(sent.length)}`)));
    enqueue(...records);
    (await nthSend(0)).answer();
    await results(records);
    expect(sent.map(({ partition, offset, tenantId, bytes }) => [partition, offset, tenantId, bytes])).to.deep.equal([
      [0, 100, 1, 1],
      [0, 101, 2, 7],
      [1, 100, 2, 7],
    ]);
    expect(order).to.deep.equal(['done 3', 'done 3', 'done 3']);
  });

  it('does not send what nobody waits for any more, and counts what has grown', async () => {
    const [first, gone, last] = [pendingRecord('a'), pendingRecord('b'), pendingRecord('c')];
    enqueue(first);
    const send = await nthSend(0);
    enqueue(gone, last);
    last.size += 10;
    producer.grew(last.partition, 10);
    expect(producer.pendingBytes).to.equal(16);
    gone.cancelled = true;
    send.answer();
    const second = await nthSend(1);
    expect(texts(second.messages)).to.deep.equal(['c']);
    second.answer();
    await last.result;
    expect(await gone.result).to.be.instanceOf(Error);
    expect([first.sealed, gone.sealed, last.sealed]).to.deep.equal([1, 0, 1]);
    expect(producer.pendingBytes).to.equal(0);
  });

  it('sends the same bytes again where an answer is lost, and is told where they lie', async () => {
    const [first, second] = [pendingRecord('a'), pendingRecord('b')];
    enqueue(first);
    (await nthSend(0)).decide({ answer: 'lost' });
    const again = await nthSend(1);
    expect(again.batches[0]?.bytes.equals(cluster.sends[0]!.batches[0]!.bytes)).to.equal(true);
    // what comes meanwhile does not change the batch
    enqueue(second);
    again.answer();
    (await nthSend(2)).answer();
    expect(await results([first, second])).to.deep.equal([null, null]);
    expect(cluster.texts(0)).to.deep.equal(['a', 'b']);
    expect(sent.map(({ offset }) => offset)).to.deep.equal([100, 101]);
    expect(cluster.identities).to.equal(1);
  });

  it('follows a leader that moves while a batch is repeated, and stores it once', async () => {
    await start(2, 2);
    const [moved, stays] = [pendingRecord('a', { partition: 0 }), pendingRecord('s', { partition: 1 })];
    enqueue(moved);
    const send = await nthSend(0);
    send.decide({ answer: 'answered', codes: new Map([[0, NOT_ENOUGH_REPLICAS_AFTER_APPEND]]) });
    const second = await nthSend(1);
    expect(second.broker).to.equal(0);
    // the old leader had it alone
    cluster.move(0, 1);
    second.answer();
    const third = await nthSend(2);
    expect(third.broker).to.equal(1);
    // and answers, which is lost, before it leads no more
    third.decide({ answer: 'lost' });
    const fourth = await nthSend(3);
    cluster.logs[0]!.forEach((one) => (one.committed = true));
    cluster.move(0, 0);
    fourth.answer();
    (await nthSend(4)).answer();
    enqueue(stays);
    (await nthSend(5)).answer();
    expect(await results([moved, stays])).to.deep.equal([null, null]);
    expect(cluster.texts(0)).to.deep.equal(['a']);
    expect(new Set(cluster.sends.slice(0, 5).map(({ batches }) => batches[0]?.bytes.toString('hex'))).size).to.equal(1);
  });

  it('fails one partition, which goes on as another producer, and no other', async () => {
    await start(3);
    const records = [0, 1, 2].map((partition) => pendingRecord(`a${String(partition)}`, { partition }));
    enqueue(...records);
    const later = [0, 1, 2].map((partition) => pendingRecord(`b${String(partition)}`, { partition }));
    const send = await nthSend(0);
    enqueue(...later);
    send.decide({ answer: 'answered', isAppended: true, codes: new Map([[1, MESSAGE_TOO_LARGE]]) });
    expect((await results(records)).map((error) => error === null)).to.deep.equal([true, false, true]);
    expect(producer.failing).to.equal(true);
    cluster.fateOf = () => ({ answer: 'answered' });
    (await nthSend(1)).answer();
    expect(await results(later)).to.deep.equal([null, null, null]);
    expect(producer.failing).to.equal(false);
    const ids = [0, 1, 2].map((partition) => cluster.logs[partition]!.map(({ producerId }) => producerId));
    expect(ids).to.deep.equal([
      ['1001', '1001'],
      ['1001', '1002'],
      ['1001', '1001'],
    ]);
    expect(sent.map(({ partition }) => partition)).to.have.members([0, 2, 0, 1, 2]);
  });

  for (const code of [DUPLICATE_SEQUENCE_NUMBER, OUT_OF_ORDER_SEQUENCE_NUMBER])
    it(`refuses what Kafka answers with code ${String(code)}: it is not known where that is, if anywhere`, async () => {
      const record = pendingRecord('a');
      enqueue(record);
      (await nthSend(0)).decide({ answer: 'answered', codes: new Map([[0, code]]) });
      expect(await record.result).to.be.instanceOf(Error);
      expect(sent).to.deep.equal([]);
      const next = pendingRecord('b');
      enqueue(next);
      (await nthSend(1)).answer();
      expect(await next.result).to.equal(null);
      expect(cluster.sends[1]!.batches[0]).to.deep.include({ producerId: '1002', sequence: 0 });
    });

  it('gives up a batch that is not answered, and the connection, whatever comes later', async () => {
    await start(1, 1, { deadlineMs: 200 });
    const first = pendingRecord('a');
    enqueue(first);
    cluster.fateOf = () => ({ answer: 'silent', isAppended: false });
    (await nthSend(0)).decide({ answer: 'silent', isAppended: false });
    expect((await first.result)?.message).to.match(/^Kafka did not/);
    cluster.fateOf = () => ({ answer: 'answered' });
    const second = pendingRecord('b');
    enqueue(second);
    expect(await second.result).to.equal(null);
    // what was on its way comes in after all
    cluster.append(0, cluster.sends[0]!.batches[0]!);
    cluster.append(0, cluster.sends[0]!.batches[0]!);
    expect(cluster.texts(0)).to.deep.equal(['b', 'a']);
    expect(sent.map(({ offset }) => offset)).to.deep.equal([100]);
    expect(producer.pendingBytes).to.equal(0);
  });

  it('does not hold the partitions of other brokers while one is silent or refuses connections', async () => {
    await start(2, 2);
    cluster.fateOf = ({ broker }) => (broker === 0 ? { answer: 'silent' } : { answer: 'answered' });
    const held = pendingRecord('a', { partition: 0 });
    enqueue(held);
    for (let n = 0; n < 20; n++) {
      const record = pendingRecord(`b${String(n)}`, { partition: 1 });
      enqueue(record);
      expect(await record.result).to.equal(null);
    }
    expect(producer.oldestAge(held.enqueuedAt + 5)).to.equal(5);
    expect(producer.pendingOf(0, held.enqueuedAt + 5)).to.deep.equal({ bytes: 2, oldestMs: 5 });
    expect(producer.pendingOf(1, held.enqueuedAt + 5)).to.deep.equal({ bytes: 0, oldestMs: 0 });
    held.cancelled = true;
    await start(2, 2, { deadlineMs: 200 });
    cluster.down.add(0);
    cluster.fateOf = () => ({ answer: 'answered' });
    const unreachable = pendingRecord('a', { partition: 0 });
    const other = pendingRecord('b', { partition: 1 });
    enqueue(unreachable, other);
    expect(await other.result).to.equal(null);
    // it was never sent, so nothing was sealed
    expect((await unreachable.result)?.message).to.equal('Kafka did not take the record in time.');
    expect(unreachable.sealed).to.equal(0);
    expect(producer.failing).to.equal(true);
  });

  it('waits for a partition without a leader, and sends when there is one', async () => {
    await start(2);
    cluster.fateOf = () => ({ answer: 'answered' });
    cluster.leaders[0] = -1;
    const [waits, goes] = [pendingRecord('a', { partition: 0 }), pendingRecord('b', { partition: 1 })];
    enqueue(waits, goes);
    expect(await goes.result).to.equal(null);
    cluster.leaders[0] = 0;
    expect(await waits.result).to.equal(null);
  });

  it('leaves a gap between requests, and sends all that came meanwhile', async () => {
    await start(3, 1, { gapMs: 40 });
    cluster.fateOf = () => ({ answer: 'answered' });
    const began = performance.now();
    const records = Array.from({ length: 30 }, (_, n) => pendingRecord(String(n), { partition: n % 3 }));
    enqueue(records[0]!);
    expect(await records[0]!.result).to.equal(null);
    for (const record of records.slice(1)) {
      enqueue(record);
      await turn();
    }
    await results(records);
    expect(performance.now() - began).to.be.greaterThan(39);
    // one more for each gap that a busy machine took to queue them
    expect(cluster.sends.length).to.be.lessThan(3 + (performance.now() - began) / 40);
  });

  it('sends what is queued before it stops', async () => {
    const last = pendingRecord('a');
    enqueue(last);
    const stopped = producer.stop();
    (await nthSend(0)).answer();
    await stopped;
    expect(await last.result).to.equal(null);
  });
});
