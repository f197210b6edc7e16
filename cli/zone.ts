import { formatTime } from '../pipeline/core/time.ts';
import { readTime } from '../logsql/values/times.ts';
import { UsageError } from './output.ts';

/** The zone of the times that are shown, and of those given without one. */
export type Zone = {
  /** A time as the service writes it (`2026-11-18T10:00:00.123Z`), with the zone's offset; what is no such time unchanged. */
  show(time: string): string;
  /** A time of the command line as the service takes it; `end`: the end of its last written unit, as of a day. */
  read(text: string, edge: 'start' | 'end'): string;
};

export const TIMEZONE_HELP = `  --timezone ZONE of times: UTC (default), local, or a name such as Europe/Berlin
`;

const SECOND = 1_000_000_000n;
const DAY_SECONDS = 86_400;
/** A time without a zone, partial ones too. */
const WALL = /^\d{4}(?:-\d\d(?:-\d\d(?:[Tt ]\d\d(?::\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?)?)?)?$/;
const STORED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/** As the service has them. */
export const UTC: Zone = { show: (time) => time, read: (text) => text };

/** The zone of a flag: `UTC` without one, `local`, or a name of the IANA database. Throws UsageError. */
export function zoneOf(name: string | undefined): Zone {
  if (name === undefined || /^(?:utc|z)$/i.test(name)) return UTC;
  try {
    // without a name it is that of the machine, which the variable TZ may change
    return namedZone(
      new Intl.DateTimeFormat('en-US', {
        ...(name === 'local' ? {} : { timeZone: name }),
        ...{ timeZoneName: 'longOffset', year: 'numeric' },
      }),
    );
  } catch {
    throw new UsageError(`--timezone ${JSON.stringify(name)} is not a known time zone: use UTC, local, or a name such as Europe/Berlin.`);
  }
}

/** The span of `--from` and `--to` as the service takes it. */
export const spanOf = <Span extends { readonly from?: string; readonly to?: string }>(span: Span, zone: Zone): Span => ({
  ...span,
  ...(span.from === undefined ? {} : { from: zone.read(span.from, 'start') }),
  ...(span.to === undefined ? {} : { to: zone.read(span.to, 'end') }),
});

function namedZone(format: Intl.DateTimeFormat): Zone {
  return {
    show(time) {
      const [, whole, fraction = ''] = STORED.exec(time) ?? [];
      if (whole === undefined) return time;
      const ms = Date.parse(`${whole}Z`);
      // offsets of seconds, before 1972, are no part of RFC 3339: the wall clock is then that of whole minutes
      const minutes = Math.round(offsetAt(format, ms / 1000) / 60);
      const wall = new Date(ms + minutes * 60_000).toISOString().slice(0, 19);
      return `${wall}${fraction}${offsetText(minutes)}`;
    },
    read(text, edge) {
      const wall = WALL.test(text.trim()) ? readTime(text.trim(), 0n) : null;
      return wall === null ? text : formatTime(instantOf(format, wall[edge], edge));
    },
  };
}

/**
 * The time at which a wall clock showed this. Of a time that came twice a window begins with the first and ends with the second; one that
 * was skipped is where the clock was turned forward.
 */
function instantOf(format: Intl.DateTimeFormat, wall: bigint, edge: 'start' | 'end'): bigint {
  const seconds = Number(wall / SECOND);
  const offsets = [offsetAt(format, seconds - DAY_SECONDS), offsetAt(format, seconds + DAY_SECONDS)] as const;
  const valid = offsets.filter((offset) => offsetAt(format, seconds - offset) === offset);
  const [offset] =
    valid.length === 0 ? [edge === 'start' ? offsets[0] : offsets[1]] : valid.sort((a, b) => (edge === 'start' ? b - a : a - b));
  return wall - BigInt(offset ?? 0) * SECOND;
}

/** Seconds east of UTC at a time: the runtime writes `2026 GMT+01:00`, or `GMT` alone for none. */
function offsetAt(format: Intl.DateTimeFormat, seconds: number): number {
  const [, sign, hours = '0', minutes = '0', rest = '0'] = /GMT([+-])(\d\d?):(\d\d)(?::(\d\d))?$/.exec(format.format(seconds * 1000)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(rest));
}

function offsetText(minutes: number): string {
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}
