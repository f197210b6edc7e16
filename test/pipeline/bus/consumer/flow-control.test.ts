import { expect } from 'chai';
import fc from 'fast-check';
import { FlowControl, readOn, stuck, type Holding } from '../../../../pipeline/bus/consumer/flow-control.ts';

const BUDGET = 100;
const IDLE: Holding = { gathered: 0, storing: 0, isFull: false, isOwed: false, isHalted: false, isBehind: true, begunAt: 0, storedAt: 0 };

const heldOf = (holdings: readonly Holding[]): number =>
  holdings.reduce((sum, { gathered, storing, isHalted }) => sum + (isHalted ? 0 : gathered + storing), 0);

/** The partitions that are read on, of 0, 1, 2, …, of which so much is held. */
const read = (...partial: readonly Partial<Holding>[]): number[] => {
  const holdings = partial.map((holding) => ({ ...IDLE, ...holding }));
  return [...readOn(new Map(holdings.map((holding, partition) => [partition, holding])), heldOf(holdings), BUDGET)].sort();
};

describe('which partitions are read on', () => {
  it('below half of the budget: those that have room', () => {
    expect(read({ gathered: 20 }, { gathered: 29, isFull: true }, {})).to.deep.equal([0, 2]);
  });

  it('from half of it on: of those with a backlog only one, so that large ranges come about, each in its turn', () => {
    expect(read({ storing: 60, begunAt: 9 }, { gathered: 1, begunAt: 7 }, { gathered: 5, begunAt: 8 })).to.deep.equal([1]);
    expect(read({ storing: 60, begunAt: 9 }, { gathered: 1, begunAt: 7, isFull: true }, { begunAt: 8 })).to.deep.equal([2]);
    expect(read({ gathered: 20 }, { gathered: 30 }, {})).to.deep.equal([1]);
  });

  it('those that are read to their ends go on beside it, since little comes of them', () => {
    expect(read({ gathered: 1, isBehind: false }, { gathered: 60 }, { gathered: 2, isBehind: false }, {})).to.deep.equal([0, 1, 2]);
  });

  it('at the budget: none', () => {
    expect(read({ gathered: 60, isBehind: false }, { gathered: 30, storing: 10 }, {})).to.deep.equal([]);
  });

  it("an intent's range first, also at the budget, since nothing of it can be stored before it is whole", () => {
    expect(read({ gathered: 90 }, { gathered: 5, isOwed: true }, { gathered: 15, isOwed: true })).to.deep.equal([2]);
    expect(read({ gathered: 70 }, { gathered: 1, isOwed: true, isBehind: false })).to.deep.equal([1]);
  });

  it('one whose range is not stored, though others are, counts as one that stands still; where none is stored, none does', () => {
    const at = (storing: number, begunAt: number, storedAt: number): Holding => ({ ...IDLE, storing, begunAt, storedAt });
    expect([...stuck(new Map([at(90, 1000, 0), at(10, 40_000, 31_000)].entries()))]).to.deep.equal([0]);
    expect([...stuck(new Map([at(90, 1000, 0), at(10, 40_000, 30_999)].entries()))]).to.deep.equal([]);
    expect([...stuck(new Map([at(90, 1000, 900), at(90, 1000, 950)].entries()))]).to.deep.equal([]);
  });

  it('one that stands still neither goes on nor holds up the others', () => {
    expect(read({ gathered: 200, storing: 50, isHalted: true }, { gathered: 10 })).to.deep.equal([1]);
  });

  const holding: fc.Arbitrary<Holding> = fc.record({
    gathered: fc.nat(60),
    storing: fc.nat(60),
    isFull: fc.boolean(),
    isOwed: fc.boolean(),
    isHalted: fc.boolean(),
    isBehind: fc.boolean(),
    begunAt: fc.nat(10),
    storedAt: fc.nat(10),
  });

  it('never more than one backlog from half of the budget on, and never nothing where somebody waits for it', () => {
    fc.assert(
      fc.property(fc.array(holding, { minLength: 1, maxLength: 12 }), (holdings) => {
        const chosen = read(...holdings).map((partition) => holdings[partition] as Holding);
        const [held, open] = [heldOf(holdings), holdings.filter(({ isFull, isHalted }) => !isFull && !isHalted)];
        if (held >= BUDGET / 2) expect(chosen.filter(({ isBehind, isOwed }) => isBehind || isOwed).length).to.be.at.most(1);
        if (held < BUDGET || open.some(({ isOwed }) => isOwed)) expect(chosen.length > 0).to.equal(open.length > 0);
        else expect(chosen).to.deep.equal([]);
        expect(chosen.some(({ isFull, isHalted }) => isFull || isHalted)).to.equal(false);
      }),
    );
  });
});

/** Partitions with a backlog each, as a consumer reads them: a fetch brings ten of each that is read, and a range has forty. */
class Backlogs {
  readonly paused = new Set<number>();
  drained = 0;
  readonly ranges: { partition: number; size: number }[] = [];
  readonly flow = new FlowControl({
    budget: BUDGET,
    pause: (partitions) => partitions.forEach((partition) => this.paused.add(partition)),
    resume: (partitions) => partitions.forEach((partition) => this.paused.delete(partition)),
    onDrained: () => (this.drained += 1),
  });
  readonly #held: { left: number; gathered: number; storing: number; begunAt: number }[];
  #clock = 0;

  constructor(lengths: readonly number[]) {
    this.#held = lengths.map((left) => ({ left, gathered: 0, storing: 0, begunAt: 0 }));
    this.flow.assign(lengths.map((_, partition) => partition));
    this.watch();
  }

  watch(): void {
    this.#held.forEach((own, partition) => {
      this.flow.watch(partition, () => ({ ...IDLE, ...own, isFull: own.gathered >= 40, isBehind: own.left > 0 }));
    });
  }

  get held(): number {
    return this.#held.reduce((sum, { gathered, storing }) => sum + gathered + storing, 0);
  }

  get isOver(): boolean {
    return this.#held.every(({ left, gathered, storing }) => left + gathered + storing === 0);
  }

  fetch(): void {
    for (const [partition, own] of this.#held.entries()) {
      if (this.paused.has(partition)) continue;
      const come = Math.min(10, own.left);
      own.left -= come;
      own.gathered += come;
      this.flow.update();
    }
  }

  /** Begins ranges where nothing is being stored: of what is full, or has waited so long that it is stored as it is. */
  begin(isLate: boolean): void {
    for (const [partition, own] of this.#held.entries()) {
      if (own.storing > 0 || own.gathered === 0 || (own.gathered < 40 && !isLate)) continue;
      [own.storing, own.gathered, own.begunAt] = [own.gathered, 0, ++this.#clock];
      this.ranges.push({ partition, size: own.storing });
      this.flow.update();
    }
  }

  store(): void {
    const own = this.#held.filter(({ storing }) => storing > 0).sort((one, other) => one.begunAt - other.begunAt)[0];
    if (own === undefined) return;
    own.storing = 0;
    this.flow.update();
  }
}

describe('flow control', () => {
  it('stays within the budget and a fetch, and reads all partitions to their ends', () => {
    const act = fc.constantFrom('fetch', 'fetch', 'begin', 'late', 'store');
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 12 }), fc.array(act, { maxLength: 200 }), (lengths, acts) => {
        const world = new Backlogs(lengths);
        // below half of the budget each partition may bring one fetch at once
        const most = Math.max(BUDGET + 10, BUDGET / 2 + 10 * lengths.length);
        let peak = 0;
        const run = (what: string): void => {
          if (what === 'fetch') world.fetch();
          else if (what === 'store') world.store();
          else world.begin(what === 'late');
          peak = Math.max(peak, world.held);
        };
        acts.forEach(run);
        for (let round = 0; round < 1000 && !world.isOver; round++) ['fetch', 'begin', 'store', 'late'].forEach(run);
        expect([world.isOver, world.paused.size]).to.deep.equal([true, 0]);
        expect(peak).to.be.at.most(most);
      }),
      { numRuns: 40 },
    );
  });

  it('makes large ranges of many backlogs, and lets each partition have its turn', () => {
    const world = new Backlogs(Array.from({ length: 8 }, () => 200));
    for (let round = 0; round < 400 && !world.isOver; round++) {
      world.fetch();
      world.begin(false);
      world.store();
    }
    expect(world.ranges.every(({ size }) => size >= 40)).to.equal(true);
    const firstTurns = world.ranges.slice(0, 16).map(({ partition }) => partition);
    expect(new Set(firstTurns).size).to.equal(8);
    expect(world.drained).to.equal(1);
  });

  it('lets a partition of which nothing comes keep nobody from reading on', () => {
    const world = new Backlogs([200, 200]);
    world.flow.assign([0, 1, 2]);
    world.watch();
    while (world.held < BUDGET / 2) world.fetch();
    expect([...world.paused]).to.have.length(1);
    expect(world.paused.has(2)).to.equal(false);
  });

  it('resumes what it has paused when the partitions are assigned anew, and nothing after its stop', () => {
    const world = new Backlogs([100, 100]);
    while (world.paused.size < 2) world.fetch();
    world.flow.assign([0]);
    expect(world.paused.size).to.equal(0);
    world.flow.stop();
    world.flow.watch(0, () => ({ ...IDLE, gathered: 2 * BUDGET }));
    world.flow.update();
    expect(world.paused.size).to.equal(0);
  });
});
