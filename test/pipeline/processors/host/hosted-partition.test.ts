import { expect } from 'chai';
import { pino } from 'pino';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import { HostedPartition, type Hosted, type Snapshot } from '../../../../pipeline/processors/host/hosted-partition.ts';
import type { Fold, Input } from '../../../../pipeline/processors/base/processor.ts';
import { SnapshotBudget } from '../../../../pipeline/processors/host/snapshot-budget.ts';
import { WriteQueue } from '../../../../pipeline/processors/host/write-queue.ts';
import { FakeStates } from '../../../fakes/processor-host.ts';
import { billed } from '../inputs.ts';

const log = pino({ level: 'silent' });
const out = (text: string): AbsoluteRecord => ({ topic: 't', partition: 0, key: null, value: Buffer.from(text), headers: {} });

/** Counts records, tells each, and throws at one offset. */
const counting = (name: string, throwsAt = -1): Fold<{ count: number }> => ({
  name,
  init: () => ({ count: 0 }),
  fold(state, { offset }: Input) {
    if (offset === throwsAt) throw new Error('does not know this');
    state.count += 1;
    return [out(`${name} ${String(offset)}`)];
  },
  snapshot: ({ count }) => Buffer.from(String(count)),
  restore: (bytes) => (/^\d+$/.test(bytes.toString()) ? { count: Number(bytes.toString()) } : null),
});

class World {
  readonly written: string[] = [];
  readonly events: string[] = [];
  readonly states = new FakeStates();
  fails = 0;
  now = 0;
  readonly writes = new WriteQueue({
    retryMs: 1,
    log,
    write: (records) => {
      if (this.fails-- > 0) return Promise.reject(new Error('Kafka is away'));
      for (const { value } of records) this.events.push(value.toString());
      return Promise.resolve();
    },
  });

  open(
    processors: readonly Fold<{ count: number }>[],
    snapshots: ReadonlyMap<string, Snapshot> = new Map(),
    budget = new SnapshotBudget(),
  ): HostedPartition {
    const hosted = processors.map((processor): Hosted => ({
      processor: processor,
      states: {
        load: (partitions) => this.states.load(partitions),
        save: (partition, next, bytes) => {
          this.events.push(`${processor.name} saved ${String(next)}: ${bytes.toString()}`);
          return this.states.save(partition, next, bytes);
        },
      },
    }));
    return new HostedPartition({ partition: 0, hosted, snapshots, budget, writes: this.writes, log, now: () => this.now });
  }
}

const take = (partition: HostedPartition, from: number, to: number): void => {
  for (let offset = from; offset < to; offset++) partition.take(billed(1, 1, 5)(0, offset));
};

describe('a hosted partition', () => {
  it('saves a snapshot when all that it has told before is written, also where that took several tries', async () => {
    const world = new World();
    const partition = world.open([counting('a')]);
    take(partition, 0, 2);
    world.fails = 3;
    await partition.finish();
    expect(world.events).to.deep.equal(['a 0', 'a 1', 'a saved 2: 2']);
  });

  it('begins each processor at its own snapshot, and gives none a record twice', async () => {
    const world = new World();
    const partition = world.open([counting('a'), counting('b')], new Map([['b', { next: 2, bytes: Buffer.from('2') }]]));
    expect(partition.next).to.equal(0);
    take(partition, 0, 3);
    await partition.finish();
    expect(world.events).to.deep.equal(['a 0', 'a 1', 'a 2', 'b 2', 'a saved 3: 3', 'b saved 3: 3']);
  });

  it('folds from the beginning where a snapshot cannot be read', () => {
    const partition = new World().open([counting('a')], new Map([['a', { next: 7, bytes: Buffer.from('?') }]]));
    expect(partition.next).to.equal(0);
  });

  it('halts a processor that throws, alone, and keeps its last snapshot', async () => {
    const world = new World();
    const partition = world.open([counting('a', 3), counting('b')]);
    take(partition, 0, 2);
    await partition.finish();
    take(partition, 2, 6);
    await partition.finish();
    expect(partition.next).to.equal(6);
    const [a, b] = partition.status;
    expect(a).to.include({ processor: 'a', next: 3, saved: 2, halted: 'offset 3: does not know this' });
    expect(b).to.include({ processor: 'b', next: 6, saved: 6, halted: null });
    // after a mend it goes on from there
    const mended = world.open([counting('a')], new Map([['a', { next: 2, bytes: Buffer.from('2') }]]));
    take(mended, 0, 6);
    await mended.finish();
    expect(world.events.at(-1)).to.equal('a saved 6: 6');
  });

  it('takes one snapshot after the other where there is no room for both, and all of them in the end', async () => {
    const world = new World();
    const budget = new SnapshotBudget(1);
    const partition = world.open([counting('a'), counting('b')], new Map(), budget);
    const saved = async (): Promise<string[]> => {
      partition.look();
      await world.writes.idle();
      return world.events.splice(0).filter((event) => event.includes('saved'));
    };
    take(partition, 0, 2);
    world.now += 30_000;
    expect(await saved()).to.deep.equal(['a saved 2: 2']);
    expect(await saved()).to.deep.equal(['b saved 2: 2']);
    // one that is lost with its partition leaves its room to others
    take(partition, 2, 4);
    world.now += 30_000;
    world.fails = Infinity;
    partition.look();
    expect(budget.take(1)).to.equal(null);
    world.writes.end();
    partition.abandon();
    expect(budget.take(1)).to.be.a('function');
  });

  it('saves every 30 seconds or 50,000 records, and not what has not changed', async () => {
    const world = new World();
    const partition = world.open([counting('a')]);
    const saved = async (): Promise<string[]> => {
      partition.look();
      await world.writes.idle();
      return world.events.splice(0).filter((event) => event.includes('saved'));
    };
    take(partition, 0, 10);
    expect(await saved()).to.deep.equal([]);
    world.now += 30_000;
    expect(await saved()).to.deep.equal(['a saved 10: 10']);
    world.now += 30_000;
    expect(await saved()).to.deep.equal([]);
    take(partition, 10, 50_010);
    expect(await saved()).to.deep.equal(['a saved 50010: 50010']);
  });

  it('saves a large state more seldom', async () => {
    const world = new World();
    const large = { ...counting('a'), snapshot: () => Buffer.alloc(256 * 10_000, '7') };
    const partition = world.open([large]);
    const savedAt: number[] = [];
    for (let second = 0, seen = 0; second < 120; second++) {
      world.now = second * 1000;
      take(partition, second, second + 1);
      partition.look();
      await world.writes.idle();
      const saves = world.events.filter((event) => event.includes('saved')).length;
      if (saves > seen) savedAt.push(second);
      seen = saves;
    }
    expect(savedAt).to.deep.equal([30, 70, 110]);
  });

  it('takes a large snapshot in slices, and no input until it is whole', async () => {
    const world = new World();
    const slices = (state: { readonly count: number }): Generator<undefined, Buffer> =>
      (function* () {
        for (let slice = 0; slice < 10; slice++) {
          // two of them take longer than a turn may
          world.now += 6;
          world.events.push(`slice ${String(slice)}`);
          yield;
        }
        return Buffer.from(String(state.count));
      })();
    const partition = world.open([{ ...counting('a'), slices }]);
    take(partition, 0, 3);
    await world.writes.idle();
    world.now += 30_000;
    world.events.splice(0);
    partition.look();
    let turns = 0;
    for (; partition.isBehind; turns++) {
      expect(world.events).to.have.length(2 * (turns + 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await world.writes.idle();
    expect([turns, world.events.at(-1)]).to.deep.equal([5, 'a saved 3: 3']);
    take(partition, 3, 4);
    await partition.finish();
    expect(world.events.at(-1)).to.equal('a saved 4: 4');
  });

  it('ends what it takes in slices when it is abandoned, and halts a processor whose slices throw', async () => {
    for (const breaks of [false, true]) {
      const world = new World();
      const budget = new SnapshotBudget(10);
      const slices = (): Generator<undefined, Buffer> =>
        (function* () {
          for (;;) {
            world.now += 20;
            yield;
            if (breaks) throw new Error('is broken');
          }
        })();
      const partition = world.open([{ ...counting('a'), slices }], new Map(), budget);
      take(partition, 0, 3);
      world.now += 30_000;
      partition.look();
      expect([partition.isBehind, budget.take(10)]).to.deep.equal([true, null]);
      if (!breaks) partition.abandon();
      while (partition.isBehind) await new Promise((resolve) => setImmediate(resolve));
      expect(partition.status[0]?.halted).to.equal(breaks ? 'offset 3: is broken' : null);
      expect(budget.take(10)).to.be.a('function');
    }
  });

  it('writes nothing any more once its queue was ended', async () => {
    const world = new World();
    const partition = world.open([counting('a')]);
    world.writes.end();
    take(partition, 0, 3);
    await partition.finish();
    expect(world.events).to.deep.equal([]);
  });

  it('halts a processor alone whose snapshot, news or beginning throws', async () => {
    const fail = (): never => {
      throw new Error('is broken');
    };
    for (const broken of ['init', 'snapshot', 'news'] as const) {
      const world = new World();
      const partition = world.open([{ ...counting('a'), [broken]: fail }, counting('b')]);
      take(partition, 0, 2);
      partition.look();
      await partition.finish();
      const [a, b] = partition.status;
      expect(a?.halted, broken).to.match(/^offset \d: is broken$/);
      expect(b, broken).to.include({ next: 2, saved: 2, halted: null });
    }
  });

  it('halts a processor alone whose state is too large to be saved', async () => {
    const world = new World();
    const large = Buffer.alloc(64 * 1024 * 1024 + 1);
    const partition = world.open([{ ...counting('a'), snapshot: () => large }, counting('b')]);
    take(partition, 0, 2);
    await partition.finish();
    expect(partition.status.map(({ halted }) => halted)).to.deep.equal([
      'offset 2: its state has 67108865 bytes; at most 67108864 are kept',
      null,
    ]);
    expect(partition.status[1]?.saved).to.equal(2);
  });

  it('folds from the beginning where a processor throws at its snapshot', () => {
    const throwing = { ...counting('a'), restore: () => { throw new Error('is broken'); } }; // prettier-ignore
    const partition = new World().open([throwing], new Map([['a', { next: 7, bytes: Buffer.from('3') }]]));
    expect(partition.next).to.equal(0);
    expect(partition.status[0]?.halted).to.equal(null);
  });
});
