import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../../fakes/eventually.ts';
import { FakeGroupBroker } from '../../../fakes/group-broker.ts';

/** A promise, and what ends it. */
function gate(): { readonly passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

describe('range consumer', () => {
  let broker: FakeGroupBroker;

  beforeEach(async () => {
    broker = new FakeGroupBroker();
    await broker.consumer.start();
    broker.emit('join');
  });

  afterEach(() => broker.consumer.stop());

  it('asks where the group stands only when the last commit of the assignment before is over', async () => {
    const late = gate();
    // the commit behind the range is under way while the group joins anew
    let isCommitting = false;
    broker.beforeCommit = () => {
      isCommitting = broker.stored.length > 0;
      return isCommitting ? late.passed : Promise.resolve();
    };
    await broker.batch(0, 1);
    await eventually(
      'a stored range',
      () => isCommitting,
      (is) => is,
    );
    broker.emit('rebalancing');
    broker.emit('join');
    broker.beforeCommit = () => Promise.resolve();
    // the consumer has been told the old position, and reads the same again
    const again = broker.batch(0, 1, 2);
    await turn();
    late.open();
    await again;
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '3',
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2]);
  });

  it('keeps the reader of an assignment when the opening of the one before fails late', async () => {
    const broken = gate();
    let isAsked = false;
    broker.beforeLookUp = async () => {
      isAsked = true;
      await broken.passed;
      throw new Error('the broker is away');
    };
    const lost = broker.batch(0).catch((error: unknown) => error);
    await eventually(
      'a look-up',
      () => isAsked,
      (asked) => asked,
    );
    broker.emit('rebalancing');
    broker.emit('join');
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    await broker.batch(0, 1);
    broken.open();
    await lost;
    await broker.batch(2, 3);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset, metadata }) => offset === '4' && !metadata.includes('e'),
    );
    expect(lookUps).to.equal(1);
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2, 3]);
  });

  it('does not wait for a reader of an assignment before that is still being opened', async () => {
    let isAsked = false;
    broker.beforeLookUp = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    void broker.batch(0).catch(() => undefined);
    await eventually(
      'a look-up',
      () => isAsked,
      (asked) => asked,
    );
    broker.emit('rebalancing');
    broker.emit('join');
    broker.beforeLookUp = () => Promise.resolve();
    await broker.batch(0, 1);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset, metadata }) => offset === '2' && !metadata.includes('e'),
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1]);
  });

  for (const what of ['commit', 'look-up'] as const)
    it(`goes on where the answer to a ${what} never comes`, async () => {
      const slow = new FakeGroupBroker(50);
      await slow.consumer.start();
      slow.emit('join');
      const never = new Promise<void>(() => undefined);
      if (what === 'commit') slow.beforeCommit = () => never;
      else slow.beforeLookUp = () => never;
      void slow.batch(0, 1).catch(() => undefined);
      if (what === 'commit')
        await eventually(
          'another consumer',
          () => slow.consumers,
          (count) => count === 2,
        );
      else await new Promise((resolve) => setTimeout(resolve, 100));
      slow.beforeCommit = slow.beforeLookUp = () => Promise.resolve();
      slow.emit('join');
      await slow.batch(0, 1);
      await eventually(
        'the end',
        () => slow.committed,
        ({ offset, metadata }) => offset === '2' && !metadata.includes('e'),
      );
      expect(slow.storedOffsets).to.deep.equal([0, 1]);
      await slow.consumer.stop();
    });

  it('does not store a range whose intent was refused', async () => {
    broker.beforeCommit = () => Promise.reject(new Error('not a member'));
    await broker.batch(0, 1);
    broker.emit('rebalancing');
    expect(broker.stored).to.deep.equal([]);
  });

  it('opens no reader for a batch of before a crash, whose commits nobody would take', async () => {
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    broker.isRunning = false;
    await broker.batch(0, 1);
    expect(lookUps).to.equal(0);
    broker.isRunning = true;
    await broker.batch(0, 1);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '2',
    );
    expect([lookUps, broker.storedOffsets]).to.deep.equal([1, [0, 1]]);
  });

  it('reads anew what lies before a batch that was fetched under an assignment before', async () => {
    broker.beforeCommit = () => Promise.reject(new Error('the group is joined anew'));
    await broker.batch(0, 1);
    broker.emit('join');
    broker.beforeCommit = () => Promise.resolve();
    await broker.batch(2, 3);
    expect(broker.sought).to.deep.equal(['0']);
    await broker.batch(0, 1, 2, 3, 4);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '5',
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('goes on behind offsets that the log has no more', async () => {
    await broker.batch(7, 8);
    await broker.batch(7, 8);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '9',
    );
    expect([broker.sought, broker.storedOffsets]).to.deep.equal([['0'], [7, 8]]);
  });

  /** Offsets that are missing behind the first three records, where the log begins at `low`. */
  async function missing(low: string): Promise<void> {
    await broker.batch(0, 1, 2);
    broker.low = low;
    await broker.batch(7, 8);
    await broker.batch(7, 8);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '9',
    );
  }
  it('reports records that have expired before they were read', async () => {
    await missing('7');
    expect(broker.expired).to.deep.equal([[3, 6]]);
  });
  it('reports those that expired while nobody consumed, before it joins', async () => {
    const late = new FakeGroupBroker();
    [late.committed, late.low] = [{ offset: '3', metadata: '' }, '6'];
    await late.consumer.start();
    expect(late.expired).to.deep.equal([[3, 5]]);
    await late.consumer.stop();
  });
  it('reports those before the begin of the log alone', async () => {
    await missing('5');
    expect(broker.expired).to.deep.equal([[3, 4]]);
  });
  it('reports none where the log still begins before them: those offsets have no records', async () => {
    await missing('0');
    expect(broker.expired).to.deep.equal([]);
  });

  it('reads no more while it holds its budget, and goes on when that is stored', async () => {
    const late = gate();
    broker.beforeStore = () => late.passed;
    broker.emit('join', [0, 1]);
    await broker.batch(...Array.from({ length: 20 }, (_, offset) => offset));
    expect([...broker.paused]).to.deep.equal([0, 1]);
    expect(broker.drained).to.equal(0);
    late.open();
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '20',
    );
    await eventually(
      'room',
      () => broker.paused.size,
      (size) => size === 0,
    );
    expect(broker.drained).to.equal(1);
  });

  it('counts what is still being stored for the assignment before', async () => {
    const late = gate();
    broker.beforeStore = () => late.passed;
    await broker.batch(...Array.from({ length: 20 }, (_, offset) => offset));
    await eventually(
      'a range that is being stored',
      () => broker.committed.metadata,
      (metadata) => metadata.includes('"e"'),
    );
    broker.emit('rebalancing');
    broker.emit('join', [1]);
    expect([...broker.paused]).to.deep.equal([1]);
    late.open();
    await eventually(
      'room',
      () => broker.paused.size,
      (size) => size === 0,
    );
  });

  it('leaves a batch alone whose partition went to another member', async () => {
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    broker.emit('join', []);
    await broker.batch(0, 1);
    expect([lookUps, broker.stored]).to.deep.equal([0, []]);
  });

  it('fetches no more while what was begun is stored at the end', async () => {
    const late = gate();
    broker.beforeCommit = () => late.passed;
    await broker.batch(0, 1);
    const stopping = broker.consumer.stop();
    expect([broker.isPaused, broker.stored.length]).to.deep.equal([true, 0]);
    late.open();
    await stopping;
    expect([broker.storedOffsets, broker.committed.offset]).to.deep.equal([[0, 1], '2']);
  });

  it('asks for what comes next when what comes ends before it', async () => {
    broker.committed = { offset: '5', metadata: '' };
    await broker.batch(0, 1);
    expect(broker.sought).to.deep.equal(['5']);
    await broker.batch(5, 6);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '7',
    );
    expect(broker.storedOffsets).to.deep.equal([5, 6]);
  });

  it('looks anew where it stands when Kafka has not what comes next, and begins anew', async () => {
    await broker.batch(0, 1, 2, 3);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '4',
    );
    // the log ends at 2, and kafkajs has committed its own mark
    broker.end = '2';
    broker.committed = { offset: '-2', metadata: '' };
    await broker.batch(0, 1);
    expect(broker.sought).to.deep.equal(['4']);
    await broker.batch(0, 1);
    // the reader of before is gone; a new one begins at the end of the log
    await broker.batch(0, 1);
    expect(broker.sought).to.deep.equal(['4', '2']);
    await broker.batch(2, 3);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '4',
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2, 3, 2, 3]);
    expect(broker.stored.at(-1)?.inDoubt).to.be.a('number');
  }).timeout(240_000);

  it('looks anew where it stands once, when the records of a new leader come', async () => {
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    broker.leader = 3;
    await broker.batch(0, 1);
    await broker.batch(2);
    broker.leader = 4;
    await broker.batch(3);
    await eventually(
      'the look-ups',
      () => lookUps,
      (count) => count === 2,
    );
    broker.leader = 3;
    await broker.batch(0, 1, 2);
    broker.leader = 4;
    await broker.batch(3, 4);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '5',
    );
    expect(lookUps).to.equal(2);
    expect([...new Set(broker.storedOffsets)]).to.deep.equal([0, 1, 2, 3, 4]);
  });
});
