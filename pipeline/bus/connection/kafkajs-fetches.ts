import { createRequire } from 'node:module';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/**
 * Exchanges two steps of kafkajs, whose version is pinned.
 *
 * How it waits for more where a consumer wants more than a byte at a time (`minBytes`): a waiting broker looks at all partitions of the
 * fetch again whenever one of them gets a record, and an empty fetch is repeated after the same short time. So the client waits: a fetch
 * begins `maxWaitTime` after the one before at the earliest, unless that one brought `minBytes`; the broker answers once it has anything.
 *
 * What a stopped reader does: where the brokers had changed just then, kafkajs makes new readers after it has stopped the old ones. These
 * fetch again and again in one turn of the event loop, so that the process hangs for ever.
 */
const require = createRequire(import.meta.url);

/** How long a broker waits for the first record, milliseconds: what a resumed partition, a seek or a stop may have to wait for. */
const IDLE_MS = 500;

type Batch = { readonly rawMessages: readonly { readonly value: Buffer | null }[] };

/** What is used of kafkajs' member of a group. */
type ConsumerGroup = {
  minBytes: number;
  maxWaitTime: number;
  readonly instrumentationEmitter: { emit(event: string, payload: object): void };
  paused(): readonly unknown[];
  fetch(nodeId: number): Promise<Batch[]>;
};

/** How a consumer was made, and when each broker may be queried again, by `performance.now()`. */
type Pace = { readonly minBytes: number; readonly gapMs: number; readonly nextAt: Map<number, number> };

const paces = new WeakMap<ConsumerGroup, Pace>();

function paceOf(group: ConsumerGroup): Pace {
  const pace = paces.get(group) ?? { minBytes: group.minBytes, gapMs: group.maxWaitTime, nextAt: new Map<number, number>() };
  paces.set(group, pace);
  return pace;
}

const sizeOf = ({ rawMessages }: Batch): number => rawMessages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);

const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as { readonly prototype: ConsumerGroup };
const { events } = require('kafkajs/src/consumer/instrumentationEvents.js') as { readonly events: { readonly FETCH: string } };
const fetch: unknown = Reflect.get(prototype, 'fetch');

prototype.fetch = async function (this: ConsumerGroup, nodeId: number): Promise<Batch[]> {
  const { minBytes, gapMs, nextAt } = paceOf(this);
  const isPaced = minBytes > 1;
  if (isPaced) {
    const waitMs = (nextAt.get(nodeId) ?? 0) - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    nextAt.set(nodeId, performance.now() + gapMs);
    this.minBytes = 1;
    // partitions that are paused may be resumed at any time
    this.maxWaitTime = this.paused().length > 0 ? gapMs : Math.max(gapMs, IDLE_MS);
  }
  const batches = await (fetch as ConsumerGroup['fetch']).call(this, nodeId).catch((error: unknown) => {
    // kafkajs reports the begin of a fetch, and its end only where it did not fail
    this.instrumentationEmitter.emit(events.FETCH, { nodeId, numberOfBatches: 0, duration: 0 });
    throw error;
  });
  // those of partitions that have nothing would be taken through all of kafkajs' steps
  const filled = batches.filter(({ rawMessages }) => rawMessages.length > 0);
  if (isPaced && filled.reduce((sum, batch) => sum + sizeOf(batch), 0) >= minBytes) nextAt.delete(nodeId);
  return filled;
};

/** What is used of kafkajs' loop over the fetches of a consumer. */
type Runner = {
  readonly running: boolean;
  readonly fetchManager: { stop(): Promise<void> };
  fetch(nodeId: number): Promise<Batch[]>;
};

const runner = (require('kafkajs/src/consumer/runner.js') as { readonly prototype: Runner }).prototype;
const fetchOfRunner: unknown = Reflect.get(runner, 'fetch');

runner.fetch = async function (this: Runner, nodeId: number): Promise<Batch[]> {
  if (this.running) return (fetchOfRunner as Runner['fetch']).call(this, nodeId);
  // it waits for this fetch to end
  void this.fetchManager.stop();
  await turn();
  return [];
};
