/** The audit as a program of its own: it reads Kafka and ClickHouse itself, next to a running service, and loads none of its processes. */
import { pino } from 'pino';
import { emptyControlState, fold } from '../api/control/control-state.ts';
import { deletionKey, type DeletionRecord } from '../api/control/records.ts';
import { auditedLog } from '../pipeline/bus/measured/audited-log.ts';
import { deadLetterKey } from '../pipeline/bus/records/dead-letter.ts';
import { DeadLetters } from '../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../pipeline/bus/connection/kafka.ts';
import type { AuditReport } from '../pipeline/core/audit-report.ts';
import { CONTROL_TOPIC } from '../pipeline/bus/records/topics.ts';
import { KafkaCompactedLog } from '../pipeline/bus/state/compacted-log.ts';
import { withVariables } from '../pipeline/core/config-files.ts';
import { loadConfig, type Config } from '../pipeline/core/config.ts';
import type { StoreSet } from '../pipeline/core/config-sets.ts';
import { spanCountsSignal } from '../pipeline/counters/span-counts.ts';
import { Store } from '../pipeline/store/client.ts';
import { audit, type ExpiredRecords, type AuditedDeadLetters } from '../sinks/audit/audit.ts';
import { recount } from '../sinks/audit/recount.ts';
import { storedPositions } from '../sinks/audit/stored.ts';
import { positionsInShards } from '../sinks/audit/stored-in-shards.ts';
import type { Sink } from '../sinks/sink.ts';
import { embeddedEngines, explained, RequestError, timeOf, type Env } from './engines.ts';
import { signalsWith, sinksOf } from './signals.ts';
import { sinkGroup, stageOf } from './roles/sink-group.ts';

/** Spans that begin so long before and after now are counted again, where no times are given. */
const RECOUNTED_MS = 7 * 86_400_000;

/**
 * What is audited: a topic (the log's without one) and a span of append times, as strings; the set whose tables are compared (the first without one),
 * or all. `onProgress` is given the records compared.
 */
export type AuditRequest = {
  readonly topic?: string;
  readonly set?: string;
  readonly allSets?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly onProgress?: (records: number) => void;
};

/** What was found of a topic in a set, which is named where there are several. */
type Audited = AuditReport & { readonly topic: string; readonly set?: string };

/**
 * Audits the instance that this environment means: the real engines it names, and the embedded ones of the data directory; one set after the other.
 * Throws RequestError for an invalid request, and an Error with a sentence where an engine does not answer.
 */
export async function runAudit(request: AuditRequest, env: Env): Promise<readonly Audited[]> {
  const now = BigInt(Date.now()) * 1_000_000n;
  const config = loadConfig(withVariables(env, embeddedEngines(env)));
  const sinks = sinksOf(await signalsWith(config.signals.files));
  const sink = request.topic === undefined ? sinks[0] : sinks.find(({ signal }) => signal.topic.name === request.topic);
  const topics = sinks.map(({ signal }) => signal.topic.name).join(', ');
  if (sink === undefined) throw new RequestError(`No table is filled from a topic ${JSON.stringify(request.topic)}; there is ${topics}.`);
  const names = config.sets.map(({ name }) => name).join(', ');
  if (request.set !== undefined && request.allSets === true) throw new RequestError('--set and --all-sets exclude each other.');
  const wanted = request.set ?? config.sets[0]?.name;
  const sets = request.allSets === true ? config.sets : config.sets.filter(({ name }) => name === wanted);
  if (sets.length === 0) throw new RequestError(`There is no set ${JSON.stringify(request.set)}; there is ${names}.`);
  const reports: Audited[] = [];
  for (const set of sets) {
    const report = await auditSet({ request, set, sink, config, now });
    reports.push(config.sets.length === 1 ? report : { ...report, set: set.name });
  }
  return reports;
}

type SetAudit = {
  readonly request: AuditRequest;
  readonly set: StoreSet;
  readonly sink: Sink;
  readonly config: Config;
  /** Nanoseconds since the epoch. */
  readonly now: bigint;
};

async function auditSet({ request, set, sink, config, now }: SetAudit): Promise<AuditReport & { readonly topic: string }> {
  const topic = sink.signal.topic.name;
  const from = request.from === undefined ? null : Number(timeOf('from', request.from, now).start / 1_000_000n);
  const to = request.to === undefined ? null : Number(timeOf('to', request.to, now).end / 1_000_000n) + 1;
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-audit', log: pino({ level: 'silent' }) });
  const stores = set.shards.map((shard) => new Store(shard));
  try {
    const report = await audit({
      log: auditedLog(kafka, sink.signal, sinkGroup(sink.name, set.name)),
      signal: sink.signal,
      stored: positionsInShards(stores.map((store) => storedPositions(store, sink.table))),
      from,
      to,
      deletedAt: await deletedTenants(kafka),
      deadLetters: () => deadLettersOf(kafka, topic, stageOf(sink.name, set.name)),
      now: Date.now,
      ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    });
    if (topic !== spanCountsSignal.topic.name) return { topic, ...report };
    const span = { from: Math.floor((from ?? Date.now() - RECOUNTED_MS) / 1000), to: Math.ceil((to ?? Date.now() + RECOUNTED_MS) / 1000) };
    return { topic, ...report, recounted: (await Promise.all(stores.map((store) => recount(store, span)))).flat() };
  } catch (error) {
    throw explained(error, { ...config, clickhouse: set.clickhouse });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

/** Since when the rows of deleted tenants may be gone, by the control topic. */
async function deletedTenants(kafka: ReturnType<typeof createKafka>): Promise<(tenantId: number) => number | null> {
  const state = emptyControlState();
  const log = new KafkaCompactedLog({ kafka, log: pino({ level: 'silent' }), topic: CONTROL_TOPIC });
  await log.readAll((record) => void fold(state, record));
  await log.stop();
  return (tenantId) => {
    const deletion = state.records.get(deletionKey(tenantId)) as DeletionRecord | undefined;
    return deletion === undefined ? null : Date.parse(deletion.requestedAt);
  };
}

/** When the last dead letter of each record of a topic was written, and what has expired for a sink. */
async function deadLettersOf(kafka: ReturnType<typeof createKafka>, topic: string, stage: string): Promise<AuditedDeadLetters> {
  const expired = new Map<string, ExpiredRecords>();
  const last = new Map<string, number>();
  const key = (partition: number, offset: number): string => deadLetterKey({ topic, partition, offset });
  await new DeadLetters(kafka).read(0, (deadLetters) => {
    for (const deadLetter of deadLetters) {
      if (deadLetter.topic !== topic) continue;
      const { partition, offset, at } = deadLetter;
      if (deadLetter.reason === 'expired' && deadLetter.stage !== stage) continue;
      if (deadLetter.reason === 'expired')
        expired.set(deadLetterKey(deadLetter), { partition, first: offset, last: deadLetter.last ?? offset, at });
      else last.set(deadLetterKey(deadLetter), at);
    }
    return Promise.resolve(true);
  });
  return { last: (partition, offset) => last.get(key(partition, offset)) ?? null, expired: [...expired.values()] };
}
