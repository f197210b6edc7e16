import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { StateLog } from '../../../../pipeline/bus/state/state-log.ts';
import { CHUNK_BYTES, encodeSnapshot, SnapshotReader, type StateRecord } from '../../../../pipeline/bus/state/state-snapshot.ts';
import { extent } from '../../../extent.ts';
import type { StateTopic } from '../../../../pipeline/bus/state/state-topic.ts';

const log = pino({ level: 'silent' });
const signal = new AbortController().signal;

/** A topic in memory, compacted as far as it may be or not at all, whose appends may fail. */
class FakeTopic implements StateTopic {
  readonly name = 'state.test.v1';
  readonly records = new Map<number, StateRecord[]>();
  readonly read_: number[] = [];
  /** So many more records are taken, then none. */
  left = Infinity;

  append(partition: number, records: readonly StateRecord[]): Promise<void> {
    const own = this.records.get(partition) ?? [];
    this.records.set(partition, own);
    for (const record of records) {
      if (this.left <= 0) return Promise.reject(new Error('killed'));
      this.left -= 1;
      own.push(record);
    }
    return Promise.resolve();
  }

  read(partitions: readonly number[], take: (partition: number, records: readonly StateRecord[]) => void): Promise<void> {
    for (const partition of partitions) {
      this.read_.push(partition);
      take(partition, this.records.get(partition) ?? []);
    }
    return Promise.resolve();
  }

  compact(): void {
    for (const [partition, records] of this.records) {
      const last = new Map(records.map((record, index) => [record.key, index]));
      this.records.set(
        partition,
        records.filter((record, index) => last.get(record.key) === index && record.value !== null),
      );
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const loaded = async (topic: StateTopic, partition = 0) =>
  (await new StateLog({ topic, log }).load([partition], { signal })).get(partition) ?? null;

describe('states on a topic', () => {
  it('come back, of the partitions that are asked for, and no others are read', async () => {
    const topic = new FakeTopic();
    const states = new StateLog({ topic, log });
    const large = randomBytes(3 * CHUNK_BYTES + 17);
    await states.save(0, 10, Buffer.from('zero'));
    await states.save(1, 20, large);
    await states.save(2, 30, Buffer.alloc(0));
    const found = await new StateLog({ topic, log }).load([1, 2, 3], { signal });
    expect([...found.keys()]).to.deep.equal([1, 2]);
    expect(found.get(1)?.next).to.equal(20);
    expect(found.get(1)?.bytes.equals(large)).to.equal(true);
    expect(found.get(2)?.bytes.length).to.equal(0);
    expect(topic.read_).to.deep.equal([1, 2, 3]);
  });

  it('the furthest whole one counts, wherever a writer was killed, and whatever the topic has compacted', async () => {
    const cut = fc.integer({ min: 0, max: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ next: fc.integer({ min: 1, max: 9 }), cut, compacts: fc.boolean() }), { maxLength: 8 }),
        async (saves) => {
          const topic = new FakeTopic();
          let [furthest, content] = [0, ''];
          for (const [index, { next, cut: left, compacts }] of saves.entries()) {
            const states = new StateLog({ topic, log });
            await states.load([0], { signal });
            topic.left = left;
            const text = `${String(index)} ${'x'.repeat(10)}`;
            const isSaved = await states.save(0, next, Buffer.concat([Buffer.from(text), randomBytes(CHUNK_BYTES)])).then(
              () => true,
              () => false,
            );
            topic.left = Infinity;
            if (isSaved && next >= furthest) [furthest, content] = [next, text];
            if (compacts) topic.compact();
            const found = await loaded(topic);
            expect(found?.next ?? 0).to.be.at.least(furthest);
            if (found?.next === furthest && isSaved) expect(found.bytes.toString('latin1', 0, content.length)).to.equal(content);
          }
        },
      ),
      { numRuns: extent(10, 60) },
    );
  });

  it('never mix the chunks of two owners', async () => {
    const topic = new FakeTopic();
    const [one, other] = [randomBytes(2 * CHUNK_BYTES), randomBytes(2 * CHUNK_BYTES)];
    const [first, second] = [
      await encodeSnapshot('one', { next: 5, bytes: one }),
      await encodeSnapshot('other', { next: 5, bytes: other }),
    ];
    for (const [index, chunk] of first.chunks.entries()) await topic.append(0, [chunk, second.chunks[index] as StateRecord]);
    await topic.append(0, [first.manifest]);
    expect((await loaded(topic))?.bytes.equals(one)).to.equal(true);
    await topic.append(0, [second.manifest]);
    expect((await loaded(topic))?.bytes.equals(other)).to.equal(true);
  });

  it('leave little behind', async () => {
    const topic = new FakeTopic();
    for (let owner = 0; owner < 3; owner++) {
      const states = new StateLog({ topic, log });
      await states.load([0], { signal });
      for (let next = 1; next < 20; next++) await states.save(0, 100 * owner + next, randomBytes(CHUNK_BYTES + 1));
    }
    topic.compact();
    expect(topic.records.get(0)?.map(({ key }) => key.replace(/^.*\//, ''))).to.deep.equal(['0', '1', 'manifest']);
  });

  it('are refused where they are too large, when they are saved and when they are read', async () => {
    const topic = new FakeTopic();
    const small = new StateLog({ topic, log, maxBytes: 1000 });
    expect(await small.save(0, 1, Buffer.alloc(1001)).catch((error: unknown) => (error as Error).message)).to.contain(
      '1001 bytes; at most 1000',
    );
    await new StateLog({ topic, log }).save(0, 1, Buffer.alloc(1001));
    expect((await small.load([0], { signal })).size).to.equal(0);
  });

  it('hold no more than two of them while they are read, whatever lies on the topic', () => {
    const reader = new SnapshotReader(2 * CHUNK_BYTES);
    for (let index = 0; index < 100; index++) reader.take({ key: `one/${String(index)}`, value: Buffer.alloc(CHUNK_BYTES) });
    expect(reader.openBytes).to.be.at.most(5 * CHUNK_BYTES);
  });

  it('are not what is broken, or not ours', async () => {
    const { chunks, manifest } = await encodeSnapshot('one', { next: 5, bytes: randomBytes(2 * CHUNK_BYTES) });
    const told = JSON.parse(String(manifest.value)) as Record<string, number>;
    const claims = (change: object): StateRecord => ({ key: manifest.key, value: Buffer.from(JSON.stringify({ ...told, ...change })) });
    const broken: readonly (readonly StateRecord[])[] = [
      [...chunks.slice(1), manifest],
      [manifest, ...chunks],
      [...chunks, claims({ crc: 1 })],
      [...chunks, claims({ version: 2 })],
      [...chunks, claims({ next: -1 })],
      [...chunks, claims({ size: 5 })],
      [...chunks, claims({ chunks: 1e9 })],
      [...chunks, claims({ size: 1e15, packed: 1e15, chunks: 2e9 })],
      [...chunks, { key: manifest.key, value: Buffer.from('null') }],
      [...chunks, { key: 'other', value: Buffer.from('{}') }, { key: '', value: null }],
    ];
    for (const records of broken) {
      const reader = new SnapshotReader(64 * 1024 * 1024);
      for (const record of records) reader.take(record);
      expect(await reader.furthest()).to.equal(null);
    }
  });
});
