import { expect } from 'chai';
import { pino } from 'pino';
import { StoragePace } from '../../../api/limits/storage-pace.ts';
import { eventually } from '../../fakes/eventually.ts';

const MUCH = 1024 ** 3;

describe('storage pace', () => {
  let now = 0;
  let next = 0;
  let stored: () => Promise<ReadonlyMap<number, number>>;
  let waited: number[] = [];
  let pace: StoragePace;

  beforeEach(async () => {
    [now, next, waited] = [0, 0, []];
    stored = () => Promise.resolve(new Map());
    pace = new StoragePace({
      stored: () => stored(),
      log: pino({ level: 'silent' }),
      now: () => now,
      onWaited: (seconds) => waited.push(seconds),
      everyMs: 1,
    });
    await pace.start();
  });
  afterEach(() => pace.stop());

  function sent(tenantId: number, bytes: number): void {
    pace.sent([{ partition: 0, offset: next++, timestamp: 0, tenantId, bytes }]);
  }

  it('makes no request wait while little is not stored', () => {
    expect(pace.turn(1, 100)).to.equal(null);
    sent(1, 1000);
    expect(pace.turn(1, 100)).to.equal(null);
  });

  it('makes requests wait until there is room again, in their order', async () => {
    sent(1, MUCH);
    const order: number[] = [];
    const turns = [1, 2, 3].map((number) => (pace.turn(1, 100) ?? Promise.reject(new Error('no wait'))).then(() => order.push(number)));
    now = 2000;
    stored = () => Promise.resolve(new Map([[0, next]]));
    await Promise.all(turns);
    expect(order).to.deep.equal([1, 2, 3]);
    expect(waited).to.deep.equal([2, 2, 2]);
    expect(pace.turn(1, 100)).to.equal(null);
  });

  it('lets a request go on after 2.5 s, though there is no room', async () => {
    sent(1, MUCH);
    const turn = pace.turn(1, 100);
    now = 2500;
    await turn;
    expect(waited).to.deep.equal([2.5]);
    expect(pace.turn(1, 100)).to.not.equal(null);
  });

  it('does not make a tenant wait that sends little, nor one that has sent nothing', () => {
    sent(1, MUCH);
    sent(2, MUCH / 100);
    expect(pace.turn(1, 100)).to.not.equal(null);
    expect(pace.turn(2, 100)).to.equal(null);
    expect(pace.turn(3, 100)).to.equal(null);
  });

  it('lets the tenant go on first that has sent less', async () => {
    sent(1, MUCH);
    sent(2, MUCH / 2);
    const order: number[] = [];
    const turns = [1, 2].map((tenantId) =>
      (pace.turn(tenantId, MUCH) ?? Promise.reject(new Error('no wait'))).then(() => order.push(tenantId)),
    );
    now = 2000;
    stored = () => Promise.resolve(new Map([[0, next]]));
    await turns[1];
    expect(order).to.deep.equal([2]);
    await turns[0];
  });

  it('lets at most 1,000 wait', () => {
    sent(1, MUCH);
    for (let n = 0; n < 1000; n++) expect(pace.turn(1, 1)).to.not.equal(null);
    expect(pace.turn(1, 1)).to.equal(null);
  });

  it('goes on where Kafka does not say what is stored', async () => {
    let asked = 0;
    stored = () => {
      asked += 1;
      return Promise.reject(new Error('Kafka is away.'));
    };
    sent(1, MUCH);
    const turn = pace.turn(1, 100);
    now = 2500;
    await eventually(
      'a question',
      () => asked,
      (times) => times > 1,
    );
    await turn;
  });

  it('asks nothing while everything is stored', async () => {
    let asked = 0;
    stored = () => {
      asked += 1;
      return Promise.resolve(new Map([[0, next]]));
    };
    sent(1, 10);
    now = 2000;
    await eventually(
      'a question',
      () => asked,
      (times) => times > 0,
    );
    const before = asked;
    now = 60_000;
    sent(1, 10);
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(asked).to.equal(before);
  });

  it('lets all go on when it stops', async () => {
    sent(1, MUCH);
    const turn = pace.turn(1, 100);
    await pace.stop();
    await turn;
    expect(pace.turn(1, 100)).to.equal(null);
  });
});
