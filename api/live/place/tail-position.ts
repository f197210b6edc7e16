import { badPosition, LogPlace, readPlace } from './log-place.ts';

/** What of the stored entries a tail is given first: those between two places in the log, which are always the same ones. */
export type Phase = {
  /** The time of the first entries, nanoseconds; null for all. */
  readonly start: string | null;
  /** From this place on; null: from the beginning. */
  readonly from: LogPlace | null;
  readonly until: LogPlace;
  /** How many of them were given. */
  readonly given: number;
};

/** Where a tail is: among the stored entries, or in the log. */
export type TailPosition = { readonly phase: Phase } | { readonly place: LogPlace };

/** As it is sent to clients, for which it is opaque. */
export const positionText = (position: TailPosition): string =>
  'place' in position
    ? `p~${position.place.toString()}`
    : [
        's',
        position.phase.start ?? '',
        position.phase.from?.toString() ?? '',
        position.phase.until.toString(),
        String(position.phase.given),
      ].join('~');

const MAX_LENGTH = 60_000;
const [TIME, COUNT] = [/^-?\d{1,20}$/, /^\d{1,9}$/];

/** Reads what `positionText` has written. Throws HttpError 400. */
export function readPosition(text: string): TailPosition {
  if (text.length > MAX_LENGTH) throw badPosition();
  const [kind, ...parts] = text.split('~', 6);
  if (kind === 'p' && parts.length === 1) return { place: readPlace(parts[0] ?? '') };
  const [start = '', from = '', until = '', given = ''] = parts;
  if (kind !== 's' || parts.length !== 4 || !(start === '' || TIME.test(start)) || !COUNT.test(given)) throw badPosition();
  return {
    phase: {
      start: start === '' ? null : start,
      from: from === '' ? null : readPlace(from),
      until: readPlace(until),
      given: Number(given),
    },
  };
}
