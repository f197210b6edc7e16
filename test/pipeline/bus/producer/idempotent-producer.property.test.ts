import { expect } from 'chai';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { IdempotentProducer } from '../../../../pipeline/bus/producer/idempotent-producer.ts';
import type { SentRecord } from '../../../../pipeline/bus/producer/sent-record.ts';
import { pendingRecord, type FakePending } from '../../../fakes/pending-record.ts';
import { ProduceCluster, type Fate } from '../../../fakes/produce-cluster.ts';
import { Random } from '../../../fuzz/random.ts';

const RECORDS = 150;
/** What a broker may answer: errors after which it is tried again, and such after which it is not. */
const CODES = [3, 5, 6, 7, 19, 20, 56, 10, 45, 46, 59, 87];

/** Whatever may happen to a request: half of them are simply answered. */
function fate(random: Random, cluster: ProduceCluster): Fate {
  const partitions = cluster.leaders.length;
  const brokers = 3;
  if (random.below(6) === 0) cluster.move(random.below(partitions), random.below(brokers + 1) - 1);
  // a leader comes back
  if (random.below(3) === 0) cluster.leaders.forEach((leader, partition) => leader < 0 && cluster.move(partition, random.below(brokers)));
  if (random.below(8) === 0) cluster.down.add(random.below(brokers));
  if (random.below(2) === 0) cluster.down.clear();
  // a request that was given up comes in late
  const late = cluster.sends[random.below(cluster.sends.length)];
  if (late !== undefined && random.below(4) === 0) for (const batch of late.batches) cluster.append(late.broker, batch);
  const isAppended = random.below(2) === 0;
  const codes = new Map(
    cluster.leaders.map((_, partition) => [partition, random.below(3) === 0 ? (CODES[random.below(CODES.length)] ?? 0) : 0]),
  );
  switch (random.below(10)) {
    case 0:
    case 1:
      return { answer: 'lost', isAppended };
    case 2:
      return { answer: 'silent', isAppended };
    case 3:
    case 4:
      return { answer: 'answered', codes };
    default:
      return { answer: 'answered' };
  }
}

/** Sends records while things go wrong; gives what came of them. */
async function run(
  seed: number,
): Promise<{ cluster: ProduceCluster; records: FakePending[]; results: (Error | null)[]; sent: SentRecord[] }> {
  const random = new Random(seed);
  const cluster = new ProduceCluster(1 + random.below(5), 3);
  cluster.fateOf = () => fate(random, cluster);
  const sent: SentRecord[] = [];
  const producer = new IdempotentProducer({
    ...{ connect: cluster.connect, log: pino({ level: 'silent' }), topic: 'logs.v1' },
    ...{ onSent: (some) => void sent.push(...some), deadlineMs: 60, pauseMs: 0.2 },
  });
  await producer.start();
  const records: FakePending[] = [];
  for (let n = 0; n < RECORDS; n++) {
    const partition = random.below(cluster.leaders.length);
    const record = pendingRecord(`${String(partition)}-${String(n)}`, { partition, compression: 'none', info: { tenantId: n, bytes: n } });
    records.push(record);
    producer.enqueue(record);
    // somebody gives up
    if (random.below(10) === 0) records[random.below(records.length)]!.cancelled = true;
    for (let turns = random.below(10); turns > 0; turns--) await turn();
  }
  await producer.stop();
  const results = await Promise.all(records.map(({ result }) => result));
  expect(producer.pendingBytes).to.equal(0);
  return { cluster, records, results, sent };
}

describe('idempotent producer while things go wrong', function () {
  this.timeout(300_000);

  it('has what is acknowledged on the log once and in order, and what is not at most once', async () => {
    let acknowledgedInAll = 0;
    let refusedInAll = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
        const { cluster, records, results, sent } = await run(seed);
        const acknowledged = new Map<string, number>();
        records.forEach((_, n) => results[n] === null && acknowledged.set(`${String(records[n]!.partition)}-${String(n)}`, n));
        const refused = RECORDS - acknowledged.size;
        cluster.logs.forEach((_, partition) => {
          const texts = cluster.texts(partition);
          expect(new Set(texts).size, 'nothing is on the log twice').to.equal(texts.length);
          const mine = [...acknowledged.keys()].filter((text) => text.startsWith(`${String(partition)}-`));
          expect(texts.filter((text) => acknowledged.has(text))).to.deep.equal(mine);
        });
        // where they lie is told of each of them, and of no other
        expect(sent.map(({ tenantId }) => tenantId).sort((a, b) => a - b)).to.deep.equal([...acknowledged.values()]);
        for (const { partition, offset, tenantId } of sent) {
          const found = cluster.logs[partition]!.find((batch) => batch.offset <= offset && offset < batch.offset + batch.messages.length);
          expect(String(found?.messages[offset - found.offset]?.value).trim()).to.equal(`${String(partition)}-${String(tenantId)}`);
        }
        acknowledgedInAll += acknowledged.size;
        refusedInAll += refused;
      }),
      { numRuns: 60 },
    );
    // it would prove nothing otherwise
    expect(acknowledgedInAll).to.be.greaterThan(1000);
    expect(refusedInAll).to.be.greaterThan(100);
  });
});
