import { expect } from 'chai';
import { pino } from 'pino';
import { InsertPace, type PaceLimits, type Waiting } from '../../../../pipeline/bus/consumer/insert-pace.ts';
import type { Seat } from '../../../../pipeline/bus/consumer/insert-round.ts';
import { rangeStore } from '../../../fakes/range-store.ts';

const LIMITS: PaceLimits = { rows: 100, bytes: 1e9, waits: [{ ms: 60_000, rows: 0 }] };
const store = rangeStore({ joins: () => Promise.resolve(true) });

class Partition implements Waiting {
  oldestAt = performance.now();
  rows: number;
  readonly bytes = 1;
  isUrgent = false;

  constructor(rows: number) {
    this.rows = rows;
  }
}

describe('insert pace', () => {
  const pace = (limits: Partial<PaceLimits> = {}): InsertPace =>
    new InsertPace({ limits: { ...LIMITS, ...limits }, store, log: pino({ level: 'silent' }) });
  /** Whether a turn came, once all that is due has happened. */
  async function came(turn: Promise<Seat | null>): Promise<boolean> {
    let did = false;
    void turn.then(() => (did = true));
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    return did;
  }

  it('begins when all partitions together have enough, with one id for all', async () => {
    const own = pace();
    const [one, two] = [own.turn(new Partition(40)), own.turn(new Partition(40))];
    expect(await came(one)).to.equal(false);
    const three = own.turn(new Partition(20));
    const ids = new Set((await Promise.all([one, two, three])).map((seat) => seat?.id));
    expect([...ids])
      .to.have.length(1)
      .and.not.to.include(undefined);
  });

  it('takes those that waited longest, up to its limit, and one at least', async () => {
    const own = pace();
    const [young, old, large] = [new Partition(60), new Partition(30), new Partition(500)];
    old.oldestAt -= 1000;
    large.oldestAt += 1000;
    const turns = [young, old, large].map((partition) => own.turn(partition));
    const [first, second] = await Promise.all(turns.slice(0, 2));
    expect(first?.id).to.equal(second?.id);
    expect(await came(turns[2] as Promise<Seat | null>), 'one round at a time').to.equal(false);
    first?.leave();
    second?.leave();
    expect(await turns[2], 'alone').to.equal(null);
  });

  it('counts what comes while it waits', async () => {
    const own = pace();
    const partition = new Partition(40);
    const turn = own.turn(partition);
    partition.rows += 60;
    own.grew(partition, 60, 0);
    expect(await came(turn)).to.equal(true);
  });

  it('begins at once where one cannot wait, and gives the others their place', async () => {
    const own = pace();
    const [patient, urgent] = [new Partition(1), new Partition(1)];
    const turn = own.turn(patient);
    urgent.isUrgent = true;
    const [one, other] = await Promise.all([turn, own.turn(urgent)]);
    expect(one?.id).to.equal(other?.id).and.to.be.a('string');
  });

  it('lets one that was withdrawn go, and does not count it', async () => {
    const own = pace();
    const gone = new Partition(99);
    const turn = own.turn(gone);
    own.withdraw(gone);
    expect(await turn).to.equal(null);
    expect(await came(own.turn(new Partition(2)))).to.equal(false);
  });

  it('waits no longer where no more comes', async () => {
    const waits = [
      { ms: 10, rows: 50 },
      { ms: 60_000, rows: 0 },
    ];
    const [young, old] = [new Partition(99), new Partition(99)];
    old.oldestAt -= 20;
    young.oldestAt += 60_000;
    expect(await pace({ waits, idleMs: 30 }).turn(old)).to.equal(null);
    expect(await came(pace({ waits, idleMs: 0 }).turn(young)), 'not before the first wait').to.equal(false);
  });

  it('waits longer the more comes', async () => {
    const waits = [
      { ms: 10, rows: 50 },
      { ms: 60_000, rows: 0 },
    ];
    expect(await pace({ waits }).turn(new Partition(49)), 'little comes').to.equal(null);
    const much = new Partition(50);
    much.oldestAt -= 20;
    expect(await came(pace({ waits }).turn(much))).to.equal(false);
  });
});
