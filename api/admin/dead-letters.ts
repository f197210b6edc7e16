import Joi from 'joi';
import type { Logger } from 'pino';
import { readTime } from '../../logsql/values/times.ts';
import { deadLetterKey, REASONS, type DeadLetter, type Reason } from '../../pipeline/bus/records/dead-letter.ts';
import type { DeadLetters, StoredDeadLetter } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { invalidBody, invalidParameter } from '../../pipeline/core/errors.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { checkedQuery, readBy } from '../http/lists.ts';
import type { AdminRoute } from './admin-routes.ts';

export type DeadLetterSources = {
  readonly deadLetters: Pick<DeadLetters, 'read' | 'replay'>;
  /** Of each set: stored is what all of them have. */
  readonly stores: readonly Pick<Store, 'ownerRows'>[];
  /** The table that the records of each topic are stored in. */
  readonly tables: ReadonlyMap<string, string>;
  readonly log: Logger;
};

const MAX_LIMIT = 10_000;
/** Positions in one statement. */
const MAX_POSITIONS = 1000;
/** Time to read the dead letters, and for a replay, milliseconds; what a replay leaves is left to the next one. */
const READ_MS = 12_000;

const replayBody = Joi.object<{ reason: string; from: string; dry_run: boolean }>({
  reason: Joi.string().required(),
  from: Joi.string().required(),
  dry_run: Joi.boolean().default(false),
});

const LIST = Joi.object<{ readonly reason: Reason | null; readonly from: number; readonly limit: number }>({
  reason: readBy(readReason).default(null),
  from: readBy(readFrom).default(0),
  limit: readBy(readLimit).default(100),
});

/** What a request looks at: its statements carry its id. */
type DeadLetterRequest = DeadLetterSources & { readonly requestId: string };

/** What became of the dead letters of a replay. */
type Tally = { letters: number; stored: number; missing: number; left: boolean };

/** The records that could not be stored: a list of them, and their replay. */
export function deadLetterRoutes(sources: DeadLetterSources): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/admin/dead-letters',
      handle: async ({ query, requestId }) => {
        const { reason, from, limit } = checkedQuery(LIST, query);
        const body = await list({ ...sources, requestId }, reason, from, limit);
        return { status: 200, body: JSON.stringify(body) };
      },
    },
    {
      method: 'POST',
      path: '/admin/dead-letters/replay',
      action: 'dead-letter replay',
      handle: async ({ body, requestId }) => {
        const result = replayBody.validate((await body()) ?? {}, { abortEarly: false });
        if (result.error !== undefined) throw invalidBody(`${result.error.details.map(({ message }) => message).join('; ')}.`);
        const { reason: text, from, dry_run: dryRun } = result.value;
        const reason = readReason(text);
        if (reason === 'expired') throw invalidParameter('The record of an expired dead letter is deleted and cannot be replayed.');
        const { missing, ...tally } = await replay({ ...sources, requestId }, reason, readFrom(from), dryRun);
        return { status: 200, body: [{ reason, ...tally, to_replay: dryRun ? missing : 0, replayed: dryRun ? 0 : missing }] };
      },
    },
  ];
}

/** The last dead letters, the newest first; of several about one position the newest. */
async function list(sources: DeadLetterRequest, reason: Reason | null, from: number, limit: number): Promise<object[]> {
  const { deadLetters } = sources;
  const newest = new Map<string, Shown>();
  const until = Date.now() + READ_MS;
  const whole = await deadLetters.read(from, (some) => {
    for (const deadLetter of some) {
      const key = deadLetterKey(deadLetter);
      newest.delete(key);
      if (reason !== null && deadLetter.reason !== reason) continue;
      newest.set(key, shown(deadLetter));
      if (newest.size > limit) newest.delete(newest.keys().next().value ?? '');
    }
    return Promise.resolve(Date.now() < until);
  });
  if (!whole) throw invalidParameter('The dead letters could not be read in time; name a later --from.');
  const rows = [...newest.values()].reverse();
  const stored = await storedOf(sources, rows);
  return rows.map((row) => ({ ...row, stored: isStored(stored, row, row.rows) }));
}

type Shown = Pick<DeadLetter, 'reason' | 'stage' | 'topic' | 'partition' | 'offset' | 'version' | 'detail'> & {
  readonly time: string;
  readonly tenant: string;
  readonly rows: string;
  readonly bytes: number;
};

function shown({ at, original, reason, stage, topic, partition, offset, version, detail }: StoredDeadLetter): Shown {
  const header = (name: string): string => original.headers?.[name]?.toString().slice(0, 20) ?? '';
  const time = formatTime(BigInt(at) * 1_000_000n);
  const about = { tenant: header('tenant'), rows: header('count'), bytes: original.value?.length ?? 0 };
  return { time, reason, stage, topic, partition, offset, ...about, version, detail };
}

/** Puts the originals of dead letters on their topics again, each once and only those that are not stored whole. */
async function replay(sources: DeadLetterRequest, reason: Reason, from: number, dryRun: boolean): Promise<Tally> {
  const { deadLetters, tables, log } = sources;
  const tally: Tally = { letters: 0, stored: 0, missing: 0, left: false };
  const seen = new Set<string>();
  const until = Date.now() + READ_MS;
  const whole = await deadLetters.read(from, async (some) => {
    const wanted = some.filter((deadLetter) => {
      const key = deadLetterKey(deadLetter);
      return deadLetter.reason === reason && tables.has(deadLetter.topic) && !seen.has(key) && seen.add(key);
    });
    const stored = await storedOf(sources, wanted);
    const missing = wanted.filter((deadLetter) => !isStored(stored, deadLetter, deadLetter.original.headers?.['count']?.toString() ?? ''));
    if (!dryRun) await deadLetters.replay(missing);
    tally.letters += wanted.length;
    tally.stored += wanted.length - missing.length;
    tally.missing += missing.length;
    tally.left = Date.now() > until;
    return !tally.left;
  });
  if (!dryRun) log.info({ reason, from: new Date(from).toISOString(), ...tally }, 'Dead letters were replayed.');
  return { ...tally, left: tally.left || !whole };
}

type Position = Pick<DeadLetter, 'topic' | 'partition' | 'offset'>;

/** Whether as many rows are stored as the record declares; at least one where it names no number. */
function isStored(stored: ReadonlyMap<string, number>, position: Position, count: string): boolean {
  return (stored.get(deadLetterKey(position)) ?? 0) >= (/^[1-9]\d{0,8}$/.test(count) ? Number(count) : 1);
}

/** How many rows there are of positions in their tables, by key, in the set that has the fewest. */
async function storedOf(request: DeadLetterRequest, positions: readonly Position[]): Promise<ReadonlyMap<string, number>> {
  const [first = new Map<string, number>(), ...others] = await Promise.all(
    request.stores.map((store) => storedIn(store, request, positions)),
  );
  return new Map([...first].map(([key, rows]) => [key, Math.min(rows, ...others.map((other) => other.get(key) ?? 0))]));
}

/** The same in one set. */
async function storedIn(
  store: Pick<Store, 'ownerRows'>,
  { tables, requestId }: DeadLetterRequest,
  positions: readonly Position[],
): Promise<ReadonlyMap<string, number>> {
  const stored = new Map<string, number>();
  for (const [topic, table] of tables) {
    const own = positions.filter((position) => position.topic === topic);
    for (let at = 0; at < own.length; at += MAX_POSITIONS) {
      const chunk = own.slice(at, at + MAX_POSITIONS);
      const found = await store.ownerRows(
        `SELECT toString(kafka_part), toString(kafka_off), toString(uniqExact(kafka_idx)) FROM ${table}
         WHERE kafka_off IN (${chunk.map(({ offset }) => String(offset)).join(',')})
           AND (kafka_part, kafka_off) IN (${chunk.map(({ partition, offset }) => `(${String(partition)},${String(offset)})`).join(',')})
         GROUP BY kafka_part, kafka_off`,
        {},
        undefined,
        requestId,
      );
      for (const [partition, offset, rows] of found)
        stored.set(deadLetterKey({ topic, partition: Number(partition), offset: Number(offset) }), Number(rows));
    }
  }
  return stored;
}

function readReason(text: string): Reason {
  const reason = REASONS.find((known) => known === text);
  if (reason === undefined) throw invalidParameter(`The reason is one of ${REASONS.join(', ')}; got ${JSON.stringify(text)}.`);
  return reason;
}

/** Milliseconds. */
function readFrom(text: string): number {
  const time = readTime(text.trim(), BigInt(Date.now()) * 1_000_000n);
  if (time === null)
    throw invalidParameter(
      `from ${JSON.stringify(text)} is not a valid time: use a duration such as -1h, an ISO 8601 time or a Unix number.`,
    );
  return Math.max(0, Number(time.start / 1_000_000n));
}

function readLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw invalidParameter(`The limit is an integer from 1 to ${String(MAX_LIMIT)}.`);
  return limit;
}
