/** What the figures of a usage come to: how far the day goes, names in words, entries a second. */
import type { Answer } from '../../client/client.ts';
import { bytes, count } from '../base/format.ts';

export type Usage = Answer<'GET /api/v1/tenants/{tenant_id}/usage'>;
export type Limit = Usage['limits'][number];

const DAY_MS = 864e5;

/** Bytes of a day at the pace of what is gone of it; null in its first hour, which tells too little. */
export function forecast(used: number, now: number): number | null {
  const gone = now % DAY_MS;
  return gone < DAY_MS / 24 ? null : (used / gone) * DAY_MS;
}

const NAMES: Readonly<Record<string, string>> = {
  daily_volume: 'Volume of the day',
  ingest_rate: 'Entries a second',
  query_rate: 'Queries a minute of a key',
  queries_at_once: 'Queries at once',
  live_tails: 'Live tails at once',
  streams_per_day: 'New streams a day',
  series_per_day: 'New series a day',
  keys: 'Keys',
  projects: 'Projects',
  saved_searches: 'Saved searches',
  ai_credits: 'Credits of AI a day',
};

/** A limit in words; a name that is not known has its own. */
export const limitName = (name: string): string => (Object.hasOwn(NAMES, name) ? (NAMES[name] ?? name) : name.replace(/^ai_credits\./, 'AI: ').replaceAll('_', ' ')); // prettier-ignore

/** A figure of a limit. */
export const limitFigure = ({ unit }: Pick<Limit, 'unit'>, value: number): string => (unit === 'bytes' ? bytes(value) : count(value));

/** Entries a second of each key and signal between two looks at a usage; those that sent nothing are left out. */
export function rates(before: Taken, now: Taken): readonly Rate[] {
  const seconds = (now.at - before.at) / 1000;
  if (seconds <= 0) return [];
  const old = new Map(before.keys.map((one) => [idOf(one), one.entries]));
  return now.keys.flatMap((one) => {
    const more = one.entries - (old.get(idOf(one)) ?? 0);
    return more <= 0 ? [] : [{ id: idOf(one), name: one.name ?? one.key_id, signal: one.signal, rate: more / seconds }];
  });
}

type Key = Pick<Usage['keys'][number], 'key_id' | 'name' | 'signal' | 'entries'>;
export type Taken = { readonly at: number; readonly keys: readonly Key[] };
export type Rate = { readonly id: string; readonly name: string; readonly signal: string; readonly rate: number };

const idOf = ({ key_id: key, signal }: Key): string => `${key} ${signal}`;

/** `0.4`, `12`, `1,203` a second. */
export const rateText = (rate: number): string => (rate < 10 ? rate.toFixed(1) : count(rate));
