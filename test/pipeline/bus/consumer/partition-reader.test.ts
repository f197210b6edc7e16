import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { decodeMetadata, type Progress } from '../../../../pipeline/bus/reading/commit-metadata.ts';
import type { PaceLimits } from '../../../../pipeline/bus/consumer/insert-pace.ts';
import type { PartitionReader, PartitionReaderOptions } from '../../../../pipeline/bus/consumer/partition-reader.ts';
import type { Range, RangeStore } from '../../../../pipeline/bus/consumer/range.ts';
import { TICK } from '../../../../pipeline/bus/records/record.ts';
import type { LogRecord } from '../../../../pipeline/logs/record.ts';
import { logRecord } from '../../../fakes/log-record.ts';
import { loneReader } from '../../../fakes/range-store.ts';
import { extent } from '../../../extent.ts';

const LIMITS: PaceLimits = { rows: 50, bytes: 1e9, waits: [{ ms: 0, rows: Infinity }] };
const log = pino({ level: 'silent' });

const record = (offset: number, count = 10): LogRecord =>
  logRecord({ offset, count, bytes: 0, timestamp: 0, value: Buffer.from(`${offset}\n`) });

const tick = (offset: number): LogRecord => logRecord({ offset, count: 0, bytes: 0, timestamp: 0, encoding: TICK, value: Buffer.alloc(0) });

/** Nothing is stored beyond what is committed. */
const highest = (): Promise<number> => Promise.resolve(-1);

/** A partition without an intent, of which no record is a dead letter. */
const options: Omit<PartitionReaderOptions, 'store' | 'commit' | 'pace' | 'limits'> & { readonly limits: PaceLimits } = {
  topic: 't',
  partition: 0,
  progress: { from: 0, intent: null, dead: new Set(), appendedBy: null, inDoubtTo: -1, insert: null },
  limits: LIMITS,
  log,
  isCurrent: () => true,
  deadLetter: () => Promise.reject(new Error('no record is a dead letter')),
  deadLetterLimit: 100,
  onHalt: () => undefined,
  onCapacity: () => undefined,
};

/** Kafka's committed offset and ClickHouse's table, which outlive every process; each step can be made the last one. */
class World {
  committed = { offset: 0, metadata: '' };
  readonly stored = new Map<number, number>();
  readonly tokens = new Set<string>();
  readonly ranges: Range[] = [];
  /** How many more steps this process lives. */
  stepsLeft = Infinity;

  #step(): void {
    if (this.stepsLeft-- <= 0) throw new Error('killed');
  }

  /** The rows may be written in part, or whole without an answer. */
  readonly store: Partial<RangeStore> = {
    highest: (_partition, from) => Promise.resolve(Math.max(-1, ...[...this.stored.keys()].filter((offset) => offset >= from))),
    store: (range) => {
      this.#step();
      const token = `${range.start}-${range.end}`;
      const half = this.stepsLeft <= 0 ? Math.floor(range.records.length / 2) : range.records.length;
      for (const { offset } of range.records.slice(0, half)) {
        // a token makes the repeat complete what is missing, and only that
        if (!this.tokens.has(token) || !this.stored.has(offset)) this.stored.set(offset, (this.stored.get(offset) ?? 0) + 1);
      }
      this.tokens.add(token);
      this.ranges.push(range);
      this.#step();
      return Promise.resolve([]);
    },
  };

  readonly commit = (offset: number, metadata: string): Promise<void> => {
    this.#step();
    this.committed = { offset, metadata };
    this.#step();
    return Promise.resolve();
  };

  progress(): Progress {
    return decodeMetadata(this.committed.offset, this.committed.metadata);
  }

  /** A process that owns the partition until it is killed or told to finish. */
  open(): { reader: PartitionReader; kill: () => void } {
    let current = true;
    const reader = loneReader({
      ...options,
      progress: this.progress(),
      store: this.store,
      commit: this.commit,
      isCurrent: () => current && this.stepsLeft > 0,
    });
    reader.start();
    return {
      reader,
      kill: () => {
        current = false;
        void reader.abandon();
      },
    };
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 45_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('partition reader', () => {
  it('writes the intent before it stores, and commits after', async () => {
    const world = new World();
    const steps: string[] = [];
    const reader = loneReader({
      ...options,
      store: {
        highest,
        store: (range, again) => {
          steps.push(`store ${range.start}-${range.end} ${again ? 'again' : 'first'}`);
          return Promise.resolve([]);
        },
      },
      commit: (offset, metadata) => {
        steps.push(`commit ${offset} ${metadata}`);
        return world.commit(offset, metadata);
      },
    });
    reader.start();
    for (const offset of [5, 6, 9]) reader.add(record(offset));
    await reader.finish();
    expect(steps).to.deep.equal(['commit 5 {"e":9,"v":1,"t":0}', 'store 5-9 first', 'commit 10 {"v":1,"t":0}']);
  });

  it('consumes ticks by a commit alone, and takes those among rows with them', async () => {
    const world = new World();
    const commits: string[] = [];
    const reader = loneReader({
      ...options,
      // no round of inserts comes by itself
      limits: { ...LIMITS, waits: [{ ms: 1e9, rows: Infinity }] },
      store: world.store,
      commit: (offset, metadata) => {
        commits.push(`${offset} ${metadata}`);
        return world.commit(offset, metadata);
      },
    });
    reader.start();
    for (const offset of [0, 1]) reader.add(tick(offset));
    await until(() => world.committed.offset === 2);
    expect([commits, world.ranges]).to.deep.equal([['2 {"v":1,"t":0}'], []]);
    for (const one of [tick(2), record(3), tick(4)]) reader.add(one);
    await reader.finish();
    expect(commits.slice(1)).to.deep.equal(['2 {"e":4,"v":1,"t":0}', '5 {"v":1,"t":0}']);
    expect(world.ranges.map(({ start, end, rows }) => [start, end, rows])).to.deep.equal([[2, 4, 10]]);
  });

  it('repeats exactly the range of an intent that it finds', async () => {
    const world = new World();
    world.committed = { offset: 3, metadata: '{"e":7,"v":1}' };
    const { reader } = world.open();
    for (let offset = 3; offset < 12; offset++) reader.add(record(offset));
    await until(() => world.committed.offset === 12);
    await reader.finish();
    expect(world.ranges.map(({ start, end, records }) => [start, end, records.length])).to.deep.equal([
      [3, 7, 5],
      [8, 11, 4],
    ]);
  });

  it('takes no record before the committed offset, though it is read', async () => {
    const world = new World();
    world.committed = { offset: 5, metadata: '' };
    const { reader } = world.open();
    for (let offset = 2; offset < 8; offset++) reader.add(record(offset));
    await reader.finish();
    expect([...world.stored.keys()]).to.deep.equal([5, 6, 7]);
    expect(world.committed).to.deep.equal({ offset: 8, metadata: '{"v":1,"t":0}' });
  });

  it('is full when a range is gathered while another is stored', async () => {
    let release: (refused: []) => void = () => undefined;
    const reader = loneReader({
      ...options,
      commit: () => Promise.resolve(),
      store: {
        highest,
        store: () =>
          new Promise((resolve) => {
            release = resolve;
          }),
      },
    });
    reader.start();
    for (let offset = 0; offset < 5; offset++) reader.add(record(offset));
    await until(() => !reader.full);
    for (let offset = 5; offset < 10; offset++) reader.add(record(offset));
    expect(reader.full).to.equal(true);
    void reader.abandon();
    release([]);
  });

  it('is full while the range of an intent is stored, too, but not before it is whole', async () => {
    const reader = loneReader({
      ...options,
      progress: { from: 0, intent: { start: 0, end: 9 }, dead: new Set(), appendedBy: null, inDoubtTo: -1, insert: null },
      commit: () => Promise.resolve(),
      store: { highest, store: () => new Promise(() => undefined) },
    });
    reader.start();
    for (let offset = 0; offset < 9; offset++) reader.add(record(offset));
    expect(reader.full).to.equal(false);
    reader.add(record(9));
    await until(() => !reader.full);
    for (let offset = 10; offset < 15; offset++) reader.add(record(offset));
    expect(reader.full).to.equal(true);
    void reader.abandon();
  });

  it('tells what it holds, and when there is room again', async () => {
    let release: (refused: []) => void = () => undefined;
    const stored = new Promise<[]>((resolve) => {
      release = resolve;
    });
    const told: { gathered: number; storing: number }[] = [];
    const reader: PartitionReader = loneReader({
      ...options,
      commit: () => Promise.resolve(),
      store: { highest, store: () => stored },
      onCapacity: () => told.push(reader.holding),
    });
    const original = { key: null, value: Buffer.alloc(1000), headers: {}, timestamp: '0' };
    const large = (offset: number): LogRecord => ({ ...record(offset), original });
    reader.start();
    for (let offset = 0; offset < 5; offset++) reader.add(large(offset));
    const { gathered } = reader.holding;
    expect(gathered).to.be.greaterThan(5000);
    await until(() => told.length === 1);
    reader.add(large(5));
    expect(reader.holding).to.include({ gathered: gathered / 5, storing: gathered, isFull: false, isOwed: false });
    release([]);
    await until(() => told.length >= 2);
    expect(told.slice(0, 2).map(({ storing }) => storing)).to.deep.equal([gathered, 0]);
    void reader.abandon();
    expect(reader.holding).to.include({ gathered: 0, isFull: false });
  });

  it('owes the range of an intent until it is whole', () => {
    const reader = loneReader({
      ...options,
      progress: { ...options.progress, intent: { start: 0, end: 9 } },
      commit: () => Promise.resolve(),
      store: { highest, store: () => new Promise(() => undefined) },
    });
    reader.start();
    for (let offset = 0; offset < 9; offset++) reader.add(record(offset));
    expect(reader.holding).to.include({ isOwed: true, isFull: false });
    reader.add(record(9));
    expect(reader.holding.isOwed).to.equal(false);
    void reader.abandon();
  });

  it('is full of records that cannot be read, too: they are kept until they are dead letters', () => {
    const reader = loneReader({
      ...options,
      limits: { ...LIMITS, bytes: 1000 },
      commit: () => Promise.resolve(),
      store: { highest, store: () => Promise.resolve([]) },
    });
    const unread = (offset: number): LogRecord => ({
      ...record(offset, 0),
      value: Buffer.alloc(0),
      fault: { reason: 'foreign', detail: 'x' },
      original: { key: null, value: Buffer.alloc(600), headers: {}, timestamp: '0' },
    });
    reader.add(unread(0));
    expect(reader.full).to.equal(false);
    reader.add(unread(1));
    expect(reader.full).to.equal(true);
    void reader.abandon();
  });

  it('repeats a range that could not be stored, as a repeat', async () => {
    const tries: boolean[] = [];
    const reader = loneReader({
      ...options,
      commit: () => Promise.resolve(),
      store: {
        highest,
        store: (_range, again) => {
          tries.push(again);
          return tries.length < 2 ? Promise.reject(new Error('down')) : Promise.resolve([]);
        },
      },
    });
    reader.start();
    reader.add(record(0));
    await until(() => tries.length === 2);
    await reader.finish();
    expect(tries).to.deep.equal([false, true]);
  });

  it('takes a range that is too large as two, each with its intent, and says that what they hold is in doubt', async () => {
    const [commits, ranges]: [string[], Range[]] = [[], []];
    const reader = loneReader({
      ...options,
      limits: { ...LIMITS, rows: 30 },
      commit: (offset, metadata) => {
        commits.push(`${offset} ${metadata}`);
        return Promise.resolve();
      },
      store: {
        store: (range) => {
          ranges.push(range);
          return Promise.resolve(range.rows > 20 ? 'too large' : []);
        },
      },
    });
    for (let offset = 0; offset < 3; offset++) reader.add(record(offset));
    reader.start();
    await until(() => commits.length === 5);
    await reader.finish();
    expect(ranges.map(({ start, end, rows, inDoubt }) => [start, end, rows, inDoubt])).to.deep.equal([
      [0, 2, 30, null],
      [0, 1, 20, 0],
      [2, 2, 10, 0],
    ]);
    expect(commits).to.deep.equal([
      '0 {"e":2,"v":1,"t":0}',
      '0 {"e":1,"v":1,"t":0,"m":2}',
      '2 {"v":1,"t":0,"m":2}',
      '2 {"e":2,"v":1,"t":0,"m":2}',
      '3 {"v":1,"t":0}',
    ]);
  });

  it('asks for what is stored beyond the commits from two hours before their latest append time on', async () => {
    const since = async (appendedBy: number | null): Promise<unknown> => {
      const asked: unknown[][] = [];
      const highest: RangeStore['highest'] = (...all) => {
        asked.push(all);
        return Promise.resolve(-1);
      };
      const reader = loneReader({
        ...options,
        progress: { ...options.progress, from: 7, appendedBy },
        commit: () => Promise.resolve(),
        store: { highest },
      });
      reader.start();
      await until(() => asked.length === 1);
      await reader.finish();
      return asked[0];
    };
    expect(await since(1_795_000_000_000)).to.deep.equal([0, 7, 1_794_992_800_000]);
    expect(await since(null)).to.deep.equal([0, 7, null]);
  });

  it('commits nothing after a range that it could not store when it was told to finish', async () => {
    const commits: string[] = [];
    let tries = 0;
    const reader = loneReader({
      ...options,
      commit: (offset, metadata) => {
        commits.push(`${offset} ${metadata}`);
        return Promise.resolve();
      },
      store: {
        highest,
        store: () => {
          tries += 1;
          return Promise.reject(new Error('down'));
        },
      },
    });
    reader.start();
    reader.add(record(0));
    await until(() => tries === 1);
    reader.add(record(1));
    await reader.finish();
    expect(commits).to.deep.equal(['0 {"e":0,"v":1,"t":0}']);
  });

  it('stores every record once, whichever step a process dies at', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 25 }),
        async (lives, batches) => {
          const world = new World();
          const total = batches.reduce((sum, size) => sum + size, 0);
          for (const life of [...lives, Infinity]) {
            world.stepsLeft = life;
            const { reader, kill } = world.open();
            let offset = world.committed.offset;
            for (const size of batches) {
              for (let i = 0; i < size && offset < total; i++) reader.add(record(offset++));
              await new Promise((resolve) => setImmediate(resolve));
            }
            await until(() => world.stepsLeft <= 0 || world.committed.offset === total);
            kill();
          }
          return world.stored.size === total && [...world.stored.values()].every((times) => times === 1);
        },
      ),
      { numRuns: extent(100, 500) },
    );
  }).timeout(600_000);
});
