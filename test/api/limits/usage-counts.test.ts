import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { UsageCounts } from '../../../api/limits/usage-counts.ts';
import { encodeGuard, guardKey } from '../../../pipeline/bus/state/usage-records.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import { usageOf } from '../../../pipeline/processors/usage.ts';
import { FakeLog, FakeTopic } from '../../fakes/compacted-log.ts';
import { eventually } from '../../fakes/eventually.ts';
import { FakeHost, FakeInputs, FakeStates } from '../../fakes/processor-host.ts';
import { billed } from '../../pipeline/processors/inputs.ts';
import { extent } from '../../extent.ts';

const logger = pino({ level: 'silent' });
const DAY = 20_000;
const PARTITIONS = 2;
const TENANTS = [1, 2];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Lets everything that is due every millisecond happen. */
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

const TOPIC = 'logs.v1';
const usage = usageOf(TOPIC, 'usage');

class Node {
  readonly counts: UsageCounts;
  readonly log: FakeLog;
  /** What it was acknowledged, by tenant. */
  readonly own = new Map<number, number>();
  readonly waiting: (() => void)[] = [];
  now = 0;

  constructor(topic: FakeTopic) {
    this.log = new FakeLog(topic);
    this.counts = new UsageCounts({ log: this.log, logger, everyMs: 1, now: () => this.now });
  }

  acknowledge(partition: number, offset: number, tenantId: number, bytes: number): void {
    this.counts.sent(TOPIC, [{ partition, offset, tenantId, bytes, timestamp: DAY * 86_400_000 }]);
    this.own.set(tenantId, (this.own.get(tenantId) ?? 0) + bytes);
  }

  async start(): Promise<this> {
    await this.counts.start();
    return this;
  }

  /** What a kill leaves: nothing of it reaches the topic any more. */
  async kill(): Promise<void> {
    await this.log.stop();
    this.log.append = () => Promise.reject(new Error('killed'));
  }
}

/** Kafka, API nodes and usage processors, of which each may be killed, or be replaced and not know it. */
class World {
  readonly topic = new FakeTopic();
  readonly log = new FakeInputs(PARTITIONS);
  readonly states = new FakeStates();
  readonly sums = new Map<number, number>();
  nodes: Node[] = [];
  processors: { readonly log: FakeLog; readonly runner: FakeHost }[] = [];
  readonly dead: { stop(): Promise<void> }[] = [];

  async startNode(): Promise<void> {
    this.nodes.push(await new Node(this.topic).start());
  }

  async startProcessor(): Promise<void> {
    if (this.topic.down) return;
    const log = new FakeLog(this.topic);
    const write = async (records: readonly AbsoluteRecord[]): Promise<void> => {
      for (const { key, value } of records) await log.append(key ?? '', value.toString());
    };
    this.processors.push({ log, runner: await FakeHost.start(this.log, { processor: usage, states: this.states, write }) });
  }

  /** A record comes on the log; the node learns of it at once, later, or never. */
  produce(at: number, partition: number, tenantId: number, bytes: number, learns: 'now' | 'later' | 'never'): void {
    const offset = this.log.append(partition, billed(tenantId, bytes, DAY * 86_400_000));
    this.sums.set(tenantId, (this.sums.get(tenantId) ?? 0) + bytes);
    const node = this.nodes[at % Math.max(1, this.nodes.length)];
    if (learns === 'never' || node === undefined) return;
    node.waiting.push(() => node.acknowledge(partition, offset, tenantId, bytes));
    // acknowledgements of a partition come in the order of its records
    if (learns === 'now') for (const acknowledge of node.waiting.splice(0)) acknowledge();
  }

  async killNode(at: number): Promise<void> {
    const [node] = this.nodes.splice(at % Math.max(1, this.nodes.length), 1);
    await node?.kill();
    if (node !== undefined) this.dead.push(node.counts);
  }

  async killProcessor(at: number): Promise<void> {
    const [processor] = this.processors.splice(at % Math.max(1, this.processors.length), 1);
    await processor?.log.stop();
    processor?.runner.kill();
  }

  check(): void {
    for (const { counts, own, log } of this.nodes)
      for (const [tenantId, bytes] of own) {
        expect(counts.bytesOf(tenantId, DAY), `tenant ${tenantId} of node ${[...this.topic.logs].indexOf(log)}`).to.be.at.least(bytes);
      }
  }

  /** All comes up and all is read: every node knows the exact sums. */
  async settle(): Promise<void> {
    this.topic.down = false;
    this.topic.deliver();
    for (const { waiting } of this.nodes) for (const acknowledge of waiting.splice(0)) acknowledge();
    this.check();
    await this.startProcessor();
    await this.startNode();
    const exact = (): boolean =>
      this.nodes.every(({ counts }) =>
        TENANTS.every((id) => counts.bytesOf(id, DAY) === (this.sums.get(id) ?? 0) && counts.pendingBytesOf(id, DAY) === 0),
      );
    for (let partition = 0; partition < PARTITIONS; partition++) while (this.processors.at(-1)?.runner.read(partition, 3) === true);
    await eventually(
      'exact sums',
      () => ({ sums: [...this.sums], known: this.nodes.map(({ counts }) => TENANTS.map((id) => counts.bytesOf(id, DAY))) }),
      exact,
    );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.nodes.map(({ counts }) => counts.stop()), ...this.processors.map(({ runner }) => runner.stop())]);
    await Promise.all(this.dead.map((service) => service.stop()));
  }
}

type Step = (world: World) => void | Promise<void>;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.nat(5), fc.nat(PARTITIONS - 1), fc.constantFrom(...TENANTS), fc.integer({ min: 1, max: 100 }), fc.constantFrom('now', 'now', 'later', 'never')).map(([at, partition, tenant, bytes, learns]): Step => (world) => world.produce(at, partition, tenant, bytes, learns)) },
  { weight: 6, arbitrary: fc.tuple(fc.nat(5), fc.nat(PARTITIONS - 1), fc.integer({ min: 1, max: 5 })).map(([at, partition, count]): Step => (world) => void world.processors[at % Math.max(1, world.processors.length)]?.runner.read(partition, count)) },
  { weight: 5, arbitrary: fc.constant<Step>(tick) },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.startProcessor()) },
  { weight: 2, arbitrary: fc.nat(5).map((at): Step => (world) => world.killProcessor(at)) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => (world.topic.down ? undefined : world.startNode())) },
  { weight: 1, arbitrary: fc.nat(5).map((at): Step => (world) => world.killNode(at)) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.topic.compact()) },
  { weight: 1, arbitrary: fc.boolean().map((down): Step => (world) => { world.topic.down = down; world.topic.deliver(); }) },
); // prettier-ignore

describe('usage counts', () => {
  let topic: FakeTopic;
  let nodes: Node[];
  beforeEach(async () => {
    topic = new FakeTopic();
    nodes = [await new Node(topic).start(), await new Node(topic).start()];
  });
  afterEach(async () => {
    await Promise.all(nodes.map(({ counts }) => counts.stop()));
  });
  const sees = (node: Node, what: (counts: UsageCounts) => unknown, value: unknown): Promise<unknown> =>
    eventually(
      'what the other node told',
      () => what(node.counts),
      (seen) => seen === value,
    );
  const pair = (): [Node, Node] => nodes as [Node, Node];

  it('tell the others what was charged; what is given back counts against what comes', async () => {
    const [one, two] = pair();
    one.counts.of(TOPIC).charged(1, 10);
    one.counts.of(TOPIC).charged(2, 1);
    await sees(two, (counts) => counts.of(TOPIC).othersCharged(1), 10);
    one.counts.of(TOPIC).charged(1, -4);
    one.counts.of(TOPIC).charged(2, 5);
    await sees(two, (counts) => counts.of(TOPIC).othersTotal(), 16);
    one.counts.of(TOPIC).charged(1, 6);
    await sees(two, (counts) => counts.of(TOPIC).othersCharged(1), 12);
    expect([one.counts.of(TOPIC).othersTotal(), two.counts.of(TOPIC).othersTotal()]).to.deep.equal([0, 18]);
  });

  it('know what all of them charge a second, of the last ten seconds; not what was there before they came', async () => {
    const [one, two] = pair();
    one.counts.of(TOPIC).charged(1, 30);
    two.counts.of(TOPIC).charged(1, 20);
    for (const node of [one, two]) await sees(node, (counts) => counts.rateOf(1, TOPIC), 5);
    expect([one.counts.rateOf(2, TOPIC), one.counts.rateOf(1, 'spans.v1')]).to.deep.equal([0, 0]);
    one.counts.of(TOPIC).charged(1, -10);
    expect(one.counts.rateOf(1, TOPIC)).to.equal(4);
    const late = await new Node(topic).start();
    nodes.push(late);
    await sees(late, (counts) => counts.of(TOPIC).othersTotal() > 0, true);
    expect(late.counts.rateOf(1, TOPIC)).to.equal(0);
    one.now = 10_000;
    expect(one.counts.rateOf(1, TOPIC)).to.equal(0);
  });

  it('share calls that have a rate a minute, each once, also when Kafka was away', async () => {
    const [one, two] = pair();
    topic.down = true;
    for (let i = 0; i < 3; i++) one.counts.calls.called('queries/1/a');
    for (let i = 0; i < 10; i++) await turn();
    one.counts.calls.called('queries/1/a');
    topic.down = false;
    await sees(two, (counts) => counts.calls.byOthers('queries/1/a').total, 4);
    expect(two.counts.calls.byOthers('queries/1/a').recent).to.equal(4);
    expect(two.counts.calls.byOthers('queries/1/b')).to.deep.equal({ total: 0, recent: 0 });
    expect(one.counts.calls.byOthers('queries/1/a').total).to.equal(0);
    // half of the minute before, then nothing
    two.now = 90_000;
    expect(two.counts.calls.byOthers('queries/1/a')).to.deep.equal({ total: 4, recent: 2 });
    two.now = 120_000;
    expect(two.counts.calls.byOthers('queries/1/a')).to.deep.equal({ total: 4, recent: 0 });
    const late = await new Node(topic).start();
    nodes.push(late);
    expect(late.counts.calls.byOthers('queries/1/a').total).to.equal(0);
  });

  it('tell each entry once, also when Kafka was away', async () => {
    const [one, two] = pair();
    topic.down = true;
    one.counts.of(TOPIC).charged(1, 10);
    for (let i = 0; i < 10; i++) await turn();
    one.counts.of(TOPIC).charged(1, 5);
    topic.down = false;
    await sees(two, (counts) => counts.of(TOPIC).othersCharged(1), 15);
  });

  it('are silent while nothing happens', async () => {
    const [one, two] = pair();
    one.counts.of(TOPIC).charged(1, 10);
    await sees(two, (counts) => counts.of(TOPIC).othersCharged(1), 10);
    const before = topic.records.length;
    two.counts.of(TOPIC).charged(1, 1);
    await sees(one, (counts) => counts.of(TOPIC).othersCharged(1), 1);
    expect(topic.records).to.have.length(before + 1);
  });

  it('tell the others what they have had acknowledged, also with their last word', async () => {
    const [one, two] = pair();
    one.acknowledge(0, 7, 1, 100);
    await sees(two, (counts) => counts.bytesOf(1, DAY), 100);
    two.acknowledge(1, 3, 1, 20);
    const stopped = two.counts.stop();
    await sees(one, (counts) => counts.bytesOf(1, DAY), 120);
    await stopped;
  });

  it('are ready once the topic was read, though Kafka was away when they started', async () => {
    topic.append(guardKey('g'), encodeGuard({ full: 'full', topics: {} }, new Date(0)));
    topic.down = true;
    const late = await new Node(topic).start();
    nodes.push(late);
    expect(late.counts.ready).to.equal(false);
    topic.down = false;
    await eventually(
      'readiness',
      () => late.counts.ready,
      (ready) => ready,
    );
    expect(late.counts.of(TOPIC).logFull()).to.equal(null);
    topic.append(guardKey('g'), encodeGuard({ full: 'full', topics: {} }, new Date(0)));
    await sees(late, (counts) => counts.of(TOPIC).logFull(), 'full');
  });

  it('never count less than what a node itself had acknowledged, and come to the exact sums after any schedule of kills', async function () {
    this.timeout(240_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 60, size: 'max' }), async (steps) => {
        const world = new World();
        try {
          await world.startNode();
          await world.startProcessor();
          for (const act of steps) {
            await act(world);
            world.check();
            await turn();
            world.check();
          }
          await world.settle();
        } finally {
          await world.stop();
        }
      }),
      { numRuns: extent(60, 150) },
    );
  });
});
