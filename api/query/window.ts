/** The window and the cursor of a query, as clients write them. */
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Position } from '../../logsql/base/position.ts';
import { readMoment, readTime } from '../../logsql/values/times.ts';

/** Nanoseconds, both ends included; `now` is what relative times in the query count from: the end as it was written. */
export type Window = { readonly start: bigint; readonly end: bigint; readonly now: bigint };

const DAY = 86_400_000_000_000n;
const HINT = 'use now, a duration such as -1h or 1h30m, an ISO 8601 time or a Unix number';

/**
 * Reads `start` and `end`; the end includes its last written unit. Nothing older than the plan's retention (days; 0 keeps for
 * ever) is ever inside. Throws a 400 that names the wrong one of the two.
 */
export function readWindow(start: string, end: string, now: bigint, retentionDays: number): Window {
  const from = readTime(start.trim(), now);
  if (from === null) throw invalidParameter(`start ${JSON.stringify(start)} is not a valid time: ${HINT}.`);
  const to = readTime(end.trim(), now);
  if (to === null) throw invalidParameter(`end ${JSON.stringify(end)} is not a valid time: ${HINT}.`);
  if (from.start > to.end) throw invalidParameter(`start (${formatTime(from.start)}) is after end (${formatTime(to.end)}).`);
  const floor = retentionFloor(now, retentionDays);
  return { start: floor !== null && from.start < floor ? floor : from.start, end: to.end, now: to.start };
}

/** The time in a parameter. Throws HttpError 400. */
export function timeOf(name: string, given: string, now: bigint): { readonly start: bigint; readonly end: bigint } {
  const time = readTime(given.trim(), now);
  if (time === null)
    throw invalidParameter(`${name} ${JSON.stringify(given)} is not a valid time: use now, a duration such as -1h, an ISO 8601 time or a Unix number.`); // prettier-ignore
  return time;
}

/** The window that was searched, as a member of an answer's JSON. */
export const windowMember = ({ start, end }: Window): string =>
  `"window":{"start":${JSON.stringify(formatTime(start))},"end":${JSON.stringify(formatTime(end))}}`;

/** The oldest time that a plan's retention still shows; null where entries are kept for ever. */
export const retentionFloor = (now: bigint, retentionDays: number): bigint | null =>
  retentionDays > 0 ? now - BigInt(retentionDays) * DAY : null;

/** Widths of what follows the nine digits of a cursor: arrival (ms), partition, offset, index. */
const WIDTHS = [14, 5, 20, 10] as const;
const TAIL = WIDTHS.reduce((sum, width) => sum + width, 0);

/** The cursor that goes on after this place inside a run of equal times: the time with 49 more digits. */
export function writeCursor({ time, arrived, part, offset, index }: Position): string {
  const ns = BigInt(time);
  const second = ns - (((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n);
  const digits = [arrived, part, offset, index].map((text, at) => text.padStart(WIDTHS[at] ?? 0, '0'));
  return `${formatTime(second).slice(0, 19)}.${(ns - second).toString().padStart(9, '0')}${digits.join('')}Z`;
}

/** Reads `before`: a time (exclusive), or a cursor with more than nine fraction digits. */
export function readCursor(text: string): Position | bigint {
  const time = readMoment(text.trim());
  if (time === null)
    throw invalidParameter(`before ${JSON.stringify(text)} is not a valid time: pass the oldest_time of the answer before.`);
  const tail = /[.,]\d{9}(\d+)/.exec(text)?.[1];
  if (tail === undefined) return time;
  if (tail.length !== TAIL)
    throw invalidParameter(
      `before ${JSON.stringify(text)} has ${String(9 + tail.length)} fraction digits: pass the oldest_time of the answer before as it is.`,
    );
  let at = 0;
  const [arrived = '', part = '', offset = '', index = ''] = WIDTHS.map((width) => BigInt(tail.slice(at, (at += width))).toString());
  return { time: time.toString(), arrived, part, offset, index };
}
