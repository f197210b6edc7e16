/** Prints what is on a topic, as a program of its own: it reads Kafka itself, next to a service that runs, and joins none of its groups. */
import { pino } from 'pino';
import { auditedLog } from '../pipeline/bus/measured/audited-log.ts';
import { createKafka } from '../pipeline/bus/connection/kafka.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';
import { withVariables } from '../pipeline/core/config-files.ts';
import { loadConfig } from '../pipeline/core/config.ts';
import { renderEntry } from '../pipeline/core/entry.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import { entriesOf } from '../pipeline/logs/record-entries.ts';
import type { LogRecord } from '../pipeline/logs/record.ts';
import { embeddedEngines, explained, RequestError, timeOf, type Env } from './engines.ts';
import { sinkGroup } from './roles/sink-group.ts';

/** What is read: a topic, a span of append times as strings, and whose entries. */
export type TopicReadRequest = {
  readonly topic: string;
  readonly from?: string;
  readonly to?: string;
  readonly tenant?: number;
};

/** Takes the lines of a record, and what is wrong with one that cannot be read; resolves when it can take more. */
export type TopicReadOutput = {
  lines(text: string): Promise<void>;
  unreadable(sentence: string): void;
};

/**
 * Gives each entry that is on the topic now, as one line of canonical JSON, each partition in the order of its records. Throws RequestError
 * for what cannot be read, and an Error with a sentence where Kafka does not answer.
 */
export async function readTopic(request: TopicReadRequest, env: Env, output: TopicReadOutput): Promise<void> {
  const topic = logsSignal.topic.name;
  if (request.topic !== topic) throw new RequestError(`The topic ${JSON.stringify(request.topic)} cannot be read; there is ${topic}.`);
  const now = BigInt(Date.now()) * 1_000_000n;
  const from = request.from === undefined ? null : Number(timeOf('from', request.from, now).start / 1_000_000n);
  const to = request.to === undefined ? null : Number(timeOf('to', request.to, now).end / 1_000_000n) + 1;
  const config = loadConfig(withVariables(env, embeddedEngines(env)));
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-topic', log: pino({ level: 'silent' }) });
  const log = auditedLog(kafka, logsSignal, sinkGroup('logs'));
  try {
    const spans = new Map((await log.positions(from, to)).map((position) => [position.partition, position]));
    await log.read(spans, async (_partition, records) => {
      for (const record of records) await print(record, request.tenant, output);
    });
  } catch (error) {
    throw explained(error, config);
  }
}

async function print(record: SignalRecord, tenant: number | undefined, output: TopicReadOutput): Promise<void> {
  const { partition, offset, fault, tenantId } = record;
  if (fault === null && tenant !== undefined && tenant !== tenantId) return;
  try {
    if (fault !== null) throw new Error(fault.detail);
    const entries = entriesOf(record as LogRecord);
    if (entries.length > 0) await output.lines(entries.map((entry) => `${renderEntry(entry)}\n`).join(''));
  } catch (error) {
    output.unreadable(`Record ${String(partition)}:${String(offset)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
