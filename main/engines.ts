/** What programs share that use the engines of a running instance: where they are, and the error when one does not answer. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readTime } from '../logsql/values/times.ts';
import type { Config } from '../pipeline/core/config.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The request is wrong. */
export class RequestError extends Error {
  override readonly name = 'UsageError';
}

/** An error of an engine's client as a sentence. */
export function explained(error: unknown, { kafka, clickhouse }: Config): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name.startsWith('KafkaJS'))
    return new Error(`Kafka on ${kafka.brokers.join(', ')} does not answer: ${error.message}`, { cause: error });
  return (error as NodeJS.ErrnoException).code === undefined
    ? error
    : new Error(`ClickHouse on ${clickhouse.url} did not answer: ${error.message}`, { cause: error });
}

/** The time that a flag means. Throws RequestError where it is not a time. */
export function timeOf(name: string, text: string, now: bigint): { readonly start: bigint; readonly end: bigint } {
  const time = readTime(text.trim(), now);
  if (time === null) throw new RequestError(`--${name} ${JSON.stringify(text)} is not a valid time: use now, -1h or 2026-11-20T10:00:00Z.`);
  return time;
}

/** Where the embedded engines of an instance are, for those that the environment does not name. */
export function embeddedEngines(env: Env): Env {
  const folder = env['LOGWEIR_DATA_DIR'] || './data';
  const read = (name: string): string => {
    const file = path.join(folder, name);
    if (!existsSync(file)) throw new Error(`No instance has run on ${folder}: there is no ${file}. Set LOGWEIR_DATA_DIR.`);
    return readFileSync(file, 'utf8').trim();
  };
  const kafka = env['LOGWEIR_KAFKA_BROKERS'] ? {} : { LOGWEIR_KAFKA_BROKERS: read('kafka/brokers') };
  if (env['LOGWEIR_CLICKHOUSE_URL']) return kafka;
  const { password } = JSON.parse(read('clickhouse/secrets.json')) as { readonly password: string };
  return {
    ...kafka,
    LOGWEIR_CLICKHOUSE_URL: read('clickhouse/url'),
    LOGWEIR_CLICKHOUSE_USER: 'logweir',
    LOGWEIR_CLICKHOUSE_PASSWORD: password,
    LOGWEIR_CLICKHOUSE_DATABASE: 'logweir',
  };
}
