import { createRequire } from 'node:module';
import type {
  Address,
  BrokerConnection,
  Connect,
  PartitionAnswer,
  PartitionBatch,
  TopicLayout,
} from '../../pipeline/bus/producer/broker-connection.ts';
import type { ProducerIdentity } from '../../pipeline/bus/producer/record-batch.ts';

const require = createRequire(import.meta.url);
const Decoder = require('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => unknown;
const decodeBatch = require('kafkajs/src/protocol/recordBatch/v0/decoder.js') as (decoder: unknown) => Promise<{
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly records: readonly { readonly value: Buffer; readonly headers: Readonly<Record<string, Buffer>> }[];
}>;

export type SentMessage = { readonly partition: number; readonly value: Buffer; readonly headers: Readonly<Record<string, Buffer>> };
export type SentBatch = {
  readonly partition: number;
  readonly producerId: string;
  readonly sequence: number;
  readonly bytes: Buffer;
  readonly messages: readonly SentMessage[];
};
/** A batch on the log. */
type Stored = SentBatch & { readonly offset: number; committed: boolean };

/** What comes of a request: nothing is said, or the connection breaks, or it is answered, each partition with a code of its own. */
export type Fate = {
  /** What becomes of the batches: appended, or not. */
  readonly isAppended?: boolean;
  readonly answer: 'answered' | 'lost' | 'silent';
  /** Codes other than what the log says, by partition. */
  readonly codes?: ReadonlyMap<number, number>;
};

type Send = {
  readonly broker: number;
  readonly batches: readonly SentBatch[];
  readonly messages: readonly SentMessage[];
  /** Once; an error breaks the connection, and nothing is stored. */
  answer: (error?: Error) => void;
  /** Once, in any way. */
  decide: (fate: Fate) => void;
};

const ANSWERED: Fate = { answer: 'answered' };
const NOT_LEADER = 6;
const OUT_OF_ORDER = 45;
/** Batches of a producer that Kafka knows again. */
const REMEMBERED = 5;
const FIRST_OFFSET = 100;

/** Brokers that know batches again as Kafka does, and answer requests one by one: when they are told to, or as `fateOf` says. */
export class ProduceCluster {
  readonly sends: Send[] = [];
  readonly leaders: number[];
  readonly logs: Stored[][];
  /** Connections that were opened. */
  connections = 0;
  identities = 0;
  inFlight = 0;
  mostInFlight = 0;
  /** Brokers that refuse connections. */
  readonly down = new Set<number>();
  /** Resolves when a connection is there. */
  connected: Promise<void> = Promise.resolve();
  fateOf: ((send: Send) => Fate) | null = null;

  constructor(partitions = 1, brokers = 1) {
    this.leaders = Array.from({ length: partitions }, (_, partition) => partition % brokers);
    this.logs = this.leaders.map(() => []);
  }

  readonly connect: Connect = async (address: Address | null) => {
    const broker = address?.port ?? null;
    if (broker !== null) await this.connected;
    if (broker !== null && this.down.has(broker)) throw new Error('The connection is refused.');
    this.connections += 1;
    return new FakeConnection(this, broker ?? -1);
  };

  layout(): TopicLayout {
    const brokers = [...new Set(this.leaders)].filter((broker) => broker >= 0);
    return {
      leaders: new Map(this.leaders.map((leader, partition) => [partition, leader])),
      brokers: new Map(brokers.map((port) => [port, { host: 'broker', port }])),
    };
  }

  /** The texts on the log of a partition, in their order. */
  texts(partition: number): string[] {
    return (this.logs[partition] ?? []).flatMap(({ messages }) => messages.map(({ value }) => String(value).trim()));
  }

  /** A new leader: what the old one had alone is gone. */
  move(partition: number, leader: number): void {
    this.leaders[partition] = leader;
    const log = this.logs[partition] ?? [];
    while (log.length > 0 && log.at(-1)?.committed === false) log.pop();
  }

  /** Appends as a leader does, and answers the code and the first offset. */
  append(broker: number, batch: SentBatch): PartitionAnswer & { readonly stored?: Stored } {
    const { partition, producerId, sequence, messages } = batch;
    const refused = (errorCode: number): PartitionAnswer => ({ partition, errorCode, baseOffset: -1, logAppendTime: -1 });
    if (this.leaders[partition] !== broker) return refused(NOT_LEADER);
    const log = this.logs[partition] as Stored[];
    const known = log.filter((one) => one.producerId === producerId).slice(-REMEMBERED);
    let stored = known.find((one) => one.sequence === sequence && one.messages.length === messages.length);
    if (stored === undefined) {
      const last = known.at(-1);
      if (sequence !== (last === undefined ? 0 : last.sequence + last.messages.length)) return refused(OUT_OF_ORDER);
      const end = log.at(-1);
      stored = { ...batch, offset: end === undefined ? FIRST_OFFSET : end.offset + end.messages.length, committed: false };
      log.push(stored);
    }
    return { partition, errorCode: 0, baseOffset: stored.offset, logAppendTime: 1_795_000_000_000, stored };
  }

  /** Takes a request; resolves with its answer. */
  async take(broker: number, batches: readonly PartitionBatch[], closed: Promise<never>): Promise<PartitionAnswer[]> {
    const decoded = await Promise.all(batches.map(decode));
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const fate = new Promise<Fate>((resolve) => {
      const answer = (error?: Error): void => resolve(error === undefined ? ANSWERED : { answer: 'lost', isAppended: false });
      const messages = decoded.flatMap((one) => one.messages);
      const send = { broker, batches: decoded, messages, answer, decide: resolve };
      this.sends.push(send);
      if (this.fateOf !== null) resolve(this.fateOf(send));
    });
    try {
      return await Promise.race([closed, fate.then((known) => this.#answer(broker, decoded, known))]);
    } finally {
      this.inFlight -= 1;
    }
  }

  #answer(broker: number, batches: readonly SentBatch[], { isAppended = true, answer, codes }: Fate): Promise<PartitionAnswer[]> {
    const answers = isAppended ? batches.map((batch) => this.append(broker, batch)) : [];
    if (answer === 'silent') return new Promise(() => undefined);
    if (answer === 'lost') return Promise.reject(new Error('The connection is lost.'));
    return Promise.resolve(
      answers.map(({ stored, ...said }) => {
        const code = codes?.get(said.partition) ?? 0;
        if (said.errorCode === 0 && code !== 0) return { ...said, errorCode: code, baseOffset: -1 };
        // what was acknowledged, all have
        if (stored !== undefined) for (const one of this.logs[said.partition] ?? []) one.committed ||= one.offset <= stored.offset;
        return said;
      }),
    );
  }
}

class FakeConnection implements BrokerConnection {
  readonly #cluster: ProduceCluster;
  readonly #broker: number;
  readonly #closed: Promise<never>;
  #close: (error: Error) => void = () => undefined;
  isOpen = true;

  constructor(cluster: ProduceCluster, broker: number) {
    this.#cluster = cluster;
    this.#broker = broker;
    this.#closed = new Promise((_, reject) => (this.#close = reject));
    this.#closed.catch(() => undefined);
  }

  layout(): Promise<TopicLayout> {
    return Promise.resolve(this.#cluster.layout());
  }

  producerIdentity(): Promise<ProducerIdentity> {
    return Promise.resolve({ id: String(1000 + ++this.#cluster.identities), epoch: 0 });
  }

  async produce(_topic: string, batches: readonly PartitionBatch[]): Promise<PartitionAnswer[]> {
    if (!this.isOpen) throw new Error('The connection is closed.');
    try {
      return await this.#cluster.take(this.#broker, batches, this.#closed);
    } catch (error) {
      this.isOpen = false;
      throw error;
    }
  }

  close(reason = new Error('The connection was closed.')): void {
    this.isOpen = false;
    this.#close(reason);
  }
}

async function decode({ partition, bytes }: PartitionBatch): Promise<SentBatch> {
  const { producerId, firstSequence, records } = await decodeBatch(new Decoder(bytes));
  return {
    ...{ partition, producerId, sequence: firstSequence, bytes: Buffer.from(bytes) },
    messages: records.map(({ value, headers }) => ({ partition, value, headers })),
  };
}
