/** From seconds of a wall clock, counted as if it showed UTC, to seconds since the epoch. */
export type Zone = (local: number) => number;

export const UTC: Zone = (local) => local;

const OFFSET = /^([+\- ])(\d\d):?(\d\d)?$/;
/** Time zones that are remembered; a formatter of the runtime is large. */
const MAX_ZONES = 100;
/** Offsets of one zone that are remembered. Rules change at whole quarters of an hour. */
const MAX_OFFSETS = 10_000;
const QUARTER = 900;

const zones = new Map<string, Zone>();

/**
 * The zone of a string: an offset such as `+02:00` or `-0500` (a space stands for the plus, which a query string turns into one), or
 * a name of the IANA database. Null where it is neither.
 */
export function zoneOf(text: string): Zone | null {
  const offset = OFFSET.exec(text);
  if (offset !== null) {
    const seconds = (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 3600 + Number(offset[3] ?? 0) * 60);
    return (local) => local - seconds;
  }
  let zone = zones.get(text) ?? null;
  if (zone === null && text.length <= 64) {
    zone = namedZone(text);
    if (zones.size >= MAX_ZONES) zones.clear();
    if (zone !== null) zones.set(text, zone);
  }
  return zone;
}

function namedZone(name: string): Zone | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' });
  } catch {
    return null;
  }
  const offsets = new Map<number, number>();
  return (local) => {
    const quarter = Math.floor(local / QUARTER);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      // the offset of a wall clock's time is found by way of the one at that time in UTC
      const guess = offsetAt(format, quarter * QUARTER);
      offset = offsetAt(format, quarter * QUARTER - guess);
      if (offsets.size >= MAX_OFFSETS) offsets.clear();
      offsets.set(quarter, offset);
    }
    return local - offset;
  };
}

/** Seconds east of UTC at a time: the runtime writes `2026 GMT+01:00`, or `GMT` alone for none. */
function offsetAt(format: Intl.DateTimeFormat, seconds: number): number {
  const match = /GMT([+-])(\d\d?):(\d\d)(?::(\d\d))?$/.exec(format.format(seconds * 1000));
  if (match === null) return 0;
  const [, sign, hours, minutes, rest = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(rest));
}
