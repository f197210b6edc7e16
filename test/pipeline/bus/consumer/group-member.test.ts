import { expect } from 'chai';
import type { ConsumerConfig, EachBatchPayload, Kafka } from 'kafkajs';
import { pino } from 'pino';
import { GroupMember } from '../../../../pipeline/bus/consumer/group-member.ts';
import { eventually } from '../../../fakes/eventually.ts';

type EventName = 'join' | 'heartbeat' | 'rebalancing' | 'crash' | 'fetching' | 'fetched';
const LOOK_EVERY_MS = 2;

/** A consumer of kafkajs, as far as a member sees it. */
class FakeConsumer {
  readonly events = {
    ...{ GROUP_JOIN: 'join', HEARTBEAT: 'heartbeat', REBALANCING: 'rebalancing', CRASH: 'crash' },
    ...{ FETCH_START: 'fetching', FETCH: 'fetched' },
  };
  readonly #listeners = new Map<string, (event: { payload: object }) => void>();
  isRunning = false;
  isEnded = false;
  eachBatch: (payload: EachBatchPayload) => Promise<void> = () => Promise.resolve();
  readonly #connected: () => Promise<void>;
  readonly #ran: () => Promise<void>;

  /** Asked by kafkajs before it begins anew by itself. */
  readonly restartOnFailure: ((error: Error) => Promise<boolean>) | undefined;

  constructor(connected: () => Promise<void>, ran: () => Promise<void>, { retry }: ConsumerConfig) {
    this.#connected = connected;
    this.#ran = ran;
    this.restartOnFailure = retry?.restartOnFailure;
  }

  on(name: string, listener: (event: { payload: object }) => void): void {
    this.#listeners.set(name, listener);
  }

  emit(name: EventName, payload: object = {}): void {
    this.#listeners.get(name)?.({ payload });
  }

  connect(): Promise<void> {
    return this.#connected();
  }

  subscribe(): Promise<void> {
    return Promise.resolve();
  }

  run({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }): Promise<void> {
    [this.isRunning, this.eachBatch] = [true, eachBatch];
    return this.#ran();
  }

  pause(): void {
    if (!this.isRunning) throw new Error('no group');
  }

  disconnect(): Promise<void> {
    this.isEnded = true;
    // as with a coordinator that stands still
    return new Promise(() => undefined);
  }
}

/** A member whose consumers are these. */
function memberOf(
  connected: (nth: number) => Promise<void> = () => Promise.resolve(),
  ran: (nth: number) => Promise<void> = () => Promise.resolve(),
) {
  const consumers: FakeConsumer[] = [];
  const told: string[] = [];
  const member = new GroupMember({
    kafka: {
      consumer: (config: ConsumerConfig) => {
        const nth = consumers.length;
        const consumer = new FakeConsumer(
          () => connected(nth),
          () => ran(nth),
          config,
        );
        consumers.push(consumer);
        return consumer;
      },
    } as unknown as Kafka,
    log: pino({ level: 'silent' }),
    groupId: 'g',
    topic: 't',
    fetch: {},
    lookEveryMs: LOOK_EVERY_MS,
    onAssigned: (partitions) => told.push(`assigned ${partitions.join(',')}`),
    onLost: () => told.push('lost'),
    onBatch: () => {
      told.push('batch');
      return Promise.resolve();
    },
    onCrash: () => told.push('crash'),
  });
  const nth = (index: number): FakeConsumer => consumers[index] as FakeConsumer;
  /** Waits until there are so many before the last one, and that one runs. */
  const runs = (index: number): Promise<boolean> =>
    eventually(
      `consumer ${String(index)}`,
      () => consumers.length === index + 1 && nth(index).isRunning,
      (isRunning) => isRunning,
    );
  return { member, consumers, told, nth, runs };
}

const JOINED = { memberAssignment: { t: [0, 1] } };
/** Longer than a coordinator may be silent. */
const LONG_MS = 100 * LOOK_EVERY_MS;
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('member of a group', () => {
  it('is begun anew where no heartbeat is answered, and does not wait for the one before', async () => {
    const { member, told, nth, runs } = memberOf();
    await member.start();
    nth(0).emit('join', JOINED);
    await runs(1);
    expect(nth(0).isEnded).to.equal(true);
    expect(member.joined).to.equal(false);
    nth(1).emit('join', JOINED);
    expect(member.joined).to.equal(true);
    expect(told).to.deep.equal(['lost', 'assigned 0,1', 'lost', 'lost', 'assigned 0,1']);
    member.halt();
  });

  const stuck: [string, (consumer: FakeConsumer, nth: number) => void][] = [
    ['joining does not end', () => undefined],
    ['the group is lost again and again', (consumer) => consumer.emit('rebalancing')],
    ['kafkajs crashes again and again', (consumer) => consumer.emit('crash', { error: new Error('x'), restart: true })],
    [
      'one broker does not end a fetch, and others do',
      (consumer, nth) => {
        if (nth === 0) consumer.emit('join', JOINED);
        if (nth === 0) consumer.emit('fetching', { nodeId: 1 });
        consumer.emit('heartbeat');
        consumer.emit('fetching', { nodeId: 2 });
        consumer.emit('fetched', { nodeId: 2 });
      },
    ],
  ];
  for (const [when, happens] of stuck)
    it(`is begun anew where ${when}`, async () => {
      const { member, consumers, nth } = memberOf();
      await member.start();
      for (let turn = 0; consumers.length === 1; turn++) {
        happens(nth(0), turn);
        await pass(1);
      }
      expect(nth(0).isEnded).to.equal(true);
      expect(member.joined).to.equal(false);
      member.halt();
    });

  it('has started when a second consumer has, where the first one hangs', async () => {
    const { member, nth } = memberOf(
      () => Promise.resolve(),
      (index) => (index === 0 ? new Promise(() => undefined) : Promise.resolve()),
    );
    await member.start();
    expect(nth(0).isEnded).to.equal(true);
    member.halt();
  });

  it('takes nothing more from a consumer that it has given up', async () => {
    const { member, told, nth, runs } = memberOf();
    await member.start();
    nth(0).emit('join', JOINED);
    await runs(1);
    told.length = 0;
    for (const name of ['join', 'rebalancing', 'heartbeat'] as const) nth(0).emit(name, JOINED);
    nth(0).emit('crash', { error: new Error('late'), restart: false });
    expect(
      await nth(0)
        .eachBatch({} as EachBatchPayload)
        .catch(String),
    ).to.include('given up');
    expect(told).to.deep.equal([]);
    await nth(1).eachBatch({} as EachBatchPayload);
    expect(told).to.deep.equal(['batch']);
    member.halt();
  });

  it('lets kafkajs begin anew by itself, but not with a consumer that was given up', async () => {
    const { member, nth, runs } = memberOf();
    await member.start();
    const restarts = (index: number): Promise<boolean> | undefined => nth(index).restartOnFailure?.(new Error('crash'));
    expect(await restarts(0)).to.equal(true);
    nth(0).emit('join', JOINED);
    await runs(1);
    expect(await restarts(0)).to.equal(false);
    expect(await restarts(1)).to.equal(true);
    void member.leave();
    expect(await restarts(1)).to.equal(false);
  });

  it('takes nothing more once it has left', async () => {
    const { member, told, nth } = memberOf();
    await member.start();
    nth(0).emit('join', JOINED);
    void member.leave();
    told.length = 0;
    nth(0).emit('join', JOINED);
    expect(
      await nth(0)
        .eachBatch({} as EachBatchPayload)
        .catch(String),
    ).to.include('given up');
    expect(told).to.deep.equal([]);
  });

  it('tries again, each time with a new consumer, where Kafka cannot be reached', async () => {
    const { member, told, nth, runs } = memberOf((index) =>
      index === 0 || index === 3 ? Promise.resolve() : Promise.reject(new Error('away')),
    );
    await member.start();
    nth(0).emit('join', JOINED);
    await runs(3);
    expect(told).to.deep.equal(['lost', 'assigned 0,1', 'lost']);
    member.halt();
  });

  it('begins anew only once where it is told so while it tries', async () => {
    const { member, consumers, nth, runs } = memberOf((index) => (index === 1 ? new Promise(() => undefined) : Promise.resolve()));
    await member.start();
    nth(0).emit('join', JOINED);
    member.renew();
    member.renew();
    await runs(2);
    expect(consumers.length).to.equal(3);
    expect(nth(1).isRunning).to.equal(false);
    member.halt();
  });

  const alive: [string, (consumer: FakeConsumer) => void][] = [
    ['heartbeats are answered', (consumer) => consumer.emit('heartbeat')],
    [
      'the group is rebalancing',
      (consumer) => {
        consumer.emit('rebalancing');
        consumer.emit('join', JOINED);
        consumer.emit('rebalancing');
      },
    ],
    [
      'fetches end',
      (consumer) => {
        consumer.emit('heartbeat');
        consumer.emit('fetching', { nodeId: 1 });
        consumer.emit('fetched', { nodeId: 1 });
        consumer.emit('fetching', { nodeId: 1 });
      },
    ],
  ];
  for (const [when, happens] of alive)
    it(`stays while ${when}`, async () => {
      const { member, consumers, nth } = memberOf();
      await member.start();
      nth(0).emit('join', JOINED);
      const until = performance.now() + LONG_MS;
      while (performance.now() < until) {
        happens(nth(0));
        await pass(1);
      }
      expect(consumers.length).to.equal(1);
      member.halt();
    });

  it('is not begun anew once it is halted', async () => {
    const { member, consumers, nth } = memberOf();
    await member.start();
    nth(0).emit('join', JOINED);
    member.halt();
    await pass(LONG_MS);
    expect(consumers.length).to.equal(1);
  });
});
