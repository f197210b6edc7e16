import { expect } from 'chai';
import type { Kafka as Client, KafkaMessage } from 'kafkajs';
import { pino } from 'pino';
import { loadProcessorFiles } from '../../../main/processor-files.ts';
import { AbsoluteWriter } from '../../../pipeline/bus/producer/absolute-record.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { fetchPartitions } from '../../../pipeline/bus/reading/partition-fetch.ts';
import { encodeTick } from '../../../pipeline/bus/records/record.ts';
import type { Signal } from '../../../pipeline/bus/records/signal.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { measuresSignal } from '../../../pipeline/counters/measures-signal.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { ProcessorHost, type ProcessorHostOptions } from '../../../pipeline/processors/host/host.ts';
import { inputOf } from '../../../pipeline/processors/base/input.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../pipeline/processors/merge/partials.ts';
import type { Fold } from '../../../pipeline/processors/base/processor.ts';
import type { Position } from '../../../pipeline/processors/base/position.ts';
import { latestOf } from '../../fakes/measures-record.ts';
import { FakeStates } from '../../fakes/processor-host.ts';
import { logMessage } from '../../pipeline/processors/inputs.ts';
import { until } from '../instance.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

const log = pino({ level: 'silent' });
const PARTITIONS = 3;
const TENANTS = 8;
const [extension] = await loadProcessorFiles(['examples/processors/service-entries.ts']);

describe('partials on a real Kafka', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  let kafka: Client;
  /** Entries of each tenant that are on the log: more than were sent, where a request was repeated that had arrived. */
  let logged = new Map<number, number>();
  const hosts: { stop(): Promise<void> }[] = [];

  before(async () => {
    broker = await leaseBroker();
    kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [logsSignal.topic, partialsSignal.topic, measuresSignal.topic], { partitions: PARTITIONS });
  });
  after(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await broker.giveBack();
  });

  /** A host that owns all partitions: in a group of its own, whoever else reads them. */
  async function host<In extends Position>(
    groupId: string,
    signal: Pick<Signal, 'name' | 'version' | 'topic'>,
    { fold, read, states = new FakeStates() }: { fold: Fold<never, In>; read: ProcessorHostOptions<In>['inputOf']; states?: FakeStates },
  ): Promise<ProcessorHost<In>> {
    const topic = signal.topic.name;
    const started = new ProcessorHost<In>({
      ...{ kafka, log, groupId, topic, inputOf: read },
      hosted: [{ processor: fold, states }],
      writer: new AbsoluteWriter(kafka),
      tick: (partition) => ({ topic, partition, key: null, ...encodeTick(signal) }),
      onCrash: () => undefined,
    });
    hosts.push(started);
    await started.start();
    return started;
  }

  const first = (groupId: string): Promise<ProcessorHost> => {
    if (extension === undefined) throw new Error('No example.');
    return host(groupId, logsSignal, { fold: hostedProcessor(extension.processor) as Fold<never>, read: inputOf });
  };

  /** Records of all tenants, each in some partition of the log. */
  async function send(from: number, to: number): Promise<void> {
    const records = Array.from({ length: to - from }, (_none, n) => {
      const index = from + n;
      const tenantId = 1 + (index % TENANTS);
      const entries = Array.from({ length: 1 + (index % 4) }, () => ({ _msg: 'x', service: 'web' }));
      const { value, headers } = logMessage(entries, { offset: 0, appendedAt: Date.now(), tenantId });
      return { topic: 'logs.v1', partition: index % PARTITIONS, key: null, value: value as Buffer, headers: headers ?? {} };
    });
    const writer = new AbsoluteWriter(kafka);
    await writer.write(records);
    await writer.close();
    logged = new Map();
    for (const { headers } of await all('logs.v1')) {
      const [tenantId, count] = ['tenant', 'count'].map((name) => Number(String(headers?.[name]))) as [number, number];
      if (count > 0) logged.set(tenantId, (logged.get(tenantId) ?? 0) + count);
    }
  }

  async function all(topic: string): Promise<(KafkaMessage & { readonly partition: number })[]> {
    const found: (KafkaMessage & { readonly partition: number })[] = [];
    const partitions = Array.from({ length: PARTITIONS }, (_none, partition) => partition);
    const signal = new AbortController().signal;
    await fetchPartitions({ ...{ kafka, log, topic, partitions, signal }, take: (partition, messages) => found.push(...messages.map((message) => ({ ...message, partition }))) }); // prettier-ignore
    return found;
  }

  /** What is measured of each tenant. */
  async function measured(): Promise<Map<number, number>> {
    const records = (await all('measures.v1')).map(({ value, headers }) => ({ topic: 'measures.v1', value: value ?? Buffer.alloc(0), headers: headers ?? {} })); // prettier-ignore
    const sums = new Map<number, number>();
    for (const [key, value] of latestOf(records)) {
      const [tenantId] = JSON.parse(key) as [number];
      sums.set(tenantId, (sums.get(tenantId) ?? 0) + value);
    }
    return sums;
  }

  const isAll = (found: ReadonlyMap<number, number>): boolean =>
    [...logged].every(([tenantId, entries]) => (found.get(tenantId) ?? 0) >= entries);

  it('of three owners at once, and of a merger that begins again, count each entry once', async () => {
    const { merger } = extension ?? {};
    if (merger === undefined) throw new Error('No example.');
    const states = new FakeStates();
    const merging = (groupId: string): Promise<unknown> =>
      host(groupId, partialsSignal, {
        fold: hostedMerger(merger) as Fold<never, Parameters<typeof merger.fold>[1]>,
        read: partialInputOf,
        states,
      });
    await send(0, 300);
    await Promise.all([first('one'), first('two'), merging('merging')]);
    await until('the first entries', measured, isAll);
    // it finds neither states nor its own offsets, and folds all there is
    await Promise.all([first('three'), send(300, 600)]);
    await until('the next entries', measured, isAll);
    await hosts[2]?.stop();
    hosts.splice(2, 1);
    await send(600, 700);
    await merging('merging-again');
    expect(await until('the last entries', measured, isAll)).to.deep.equal(logged);
    expect(states.snapshots.size).to.be.above(0);
    const partials = (await all('partials.v1')).filter(({ headers }) => headers?.['encoding']?.toString() === 'partial');
    expect(partials.length, 'each owner has written them').to.be.at.least(3 * 600);
    const places = new Map<string, Set<number>>();
    for (const { key, partition } of partials) places.set(String(key), (places.get(String(key)) ?? new Set()).add(partition));
    expect([...places.values()].map(({ size }) => size)).to.deep.equal(Array.from({ length: TENANTS }, () => 1));
    expect(new Set([...places.values()].flatMap((found) => [...found])).size, 'tenants share them out').to.equal(PARTITIONS);
  });
});
