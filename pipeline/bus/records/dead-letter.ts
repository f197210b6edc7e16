import type { IHeaders, KafkaMessage } from 'kafkajs';

/**
 * Why a record is a dead letter: `foreign` not written by this service; `version` a schema that this version does not know; `headers` one
 * is missing or unreadable; `rows` its value is not the rows that its headers state; `refused` the table does not take its rows;
 * `expired` Kafka deleted it before it was read: such a dead letter is about all records up to its `last`, and has none of them.
 */
export const REASONS = ['foreign', 'version', 'headers', 'rows', 'refused', 'expired'] as const;
export type Reason = (typeof REASONS)[number];

/** What is wrong with a record: the class, and a sentence for people. */
export type Fault = { readonly reason: Reason; readonly detail: string };

/** A record as it lies on its topic. */
export type Original = Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'timestamp'>;

/** A record that was not stored, whole, and what is known of it. docs/topics.md is the specification. */
export type DeadLetter = Fault & {
  /** Which sink could not take it, and at which step. */
  readonly stage: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Of `expired`: the last offset. */
  readonly last?: number;
  /** Of the service that wrote the letter. */
  readonly version: string;
  readonly original: Original;
};

/** Headers of the dead letter are next to those of the original. */
const PREFIX = 'dead-letter.';
/** Headers of a replay: where the record first lay, and when it was appended there. */
export const REPLAYED_FROM = 'replayed_from';
export const ARRIVED = 'arrived';

const MAX_DETAIL = 500;

/** A record for Kafka. */
type OutMessage = { readonly key: Buffer | string | null; readonly value: Buffer | null; readonly headers: IHeaders };

/** The letter as a record of `dead-letter.v1`. That of a replay is that of its original. */
export function encodeDeadLetter(deadLetter: DeadLetter): OutMessage {
  const { original, topic, partition, offset } = deadLetter;
  const own = {
    reason: deadLetter.reason,
    detail: deadLetter.detail.slice(0, MAX_DETAIL),
    stage: deadLetter.stage,
    topic,
    partition: String(partition),
    offset: String(offset),
    timestamp: original.timestamp,
    version: deadLetter.version,
    ...(deadLetter.last === undefined ? {} : { last: String(deadLetter.last) }),
    ...(original.key === null ? {} : { key: original.key }),
  };
  return {
    key: deadLetterKey(deadLetter),
    value: original.value,
    headers: {
      ...originalHeaders(original.headers),
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [PREFIX + name, value])),
    },
  };
}

/** Names the position that a letter is about; several letters of one position are one. */
export const deadLetterKey = ({ topic, partition, offset }: Pick<DeadLetter, 'topic' | 'partition' | 'offset'>): string =>
  `${topic}:${String(partition)}:${String(offset)}`;

/** Reads a record of `dead-letter.v1`; null for what is not a dead letter. */
export function decodeDeadLetter({ value, headers }: Pick<KafkaMessage, 'value' | 'headers'>): DeadLetter | null {
  const own = (name: string): string => headers?.[PREFIX + name]?.toString() ?? '';
  const reason = REASONS.find((known) => known === own('reason'));
  const [partition, offset] = [own('partition'), own('offset')];
  if (reason === undefined || own('topic') === '' || !isCount(partition) || !isCount(offset)) return null;
  const key = headers?.[`${PREFIX}key`];
  return {
    reason,
    detail: own('detail'),
    stage: own('stage'),
    topic: own('topic'),
    partition: Number(partition),
    offset: Number(offset),
    version: own('version'),
    ...(isCount(own('last')) ? { last: Number(own('last')) } : {}),
    original: { key: key === undefined ? null : toBuffer(key), value, headers: originalHeaders(headers), timestamp: own('timestamp') },
  };
}

/** The record that puts a letter's original on its topic again. */
export function replayOf({ partition, offset, original }: DeadLetter): OutMessage & { readonly partition: number } {
  const headers = { ...original.headers, [REPLAYED_FROM]: `${String(partition)}:${String(offset)}`, [ARRIVED]: original.timestamp };
  return { partition, key: original.key, value: original.value, headers };
}

/** Without those of a dead letter and of a replay. kafkajs cannot write a header without a value: it becomes empty. */
function originalHeaders(headers: IHeaders | undefined): IHeaders {
  const kept = Object.entries(headers ?? {}).filter(([name]) => !name.startsWith(PREFIX) && name !== REPLAYED_FROM && name !== ARRIVED);
  const filled = (value: unknown): Buffer | string => (typeof value === 'string' || Buffer.isBuffer(value) ? value : '');
  return Object.fromEntries(kept.map(([name, value]) => [name, Array.isArray(value) ? value.map(filled) : filled(value)]));
}

const isCount = (text: string): boolean => /^\d{1,15}$/.test(text);
const toBuffer = (value: Buffer | string | (Buffer | string)[]): Buffer => Buffer.from(Array.isArray(value) ? (value[0] ?? '') : value);
