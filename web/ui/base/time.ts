/** Times as they are read and written: nanoseconds stay digits, since no number of JavaScript has them all. */

export type Zone = 'utc' | 'local';

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

type Parts = { readonly date: string; readonly clock: string };

function partsOf(ms: number, zone: Zone): Parts {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return { date: '', clock: '' };
  const [year, month, day, hour, minute, second] =
    zone === 'utc'
      ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
      : [at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()];
  return { date: `${pad(year, 4)}-${pad(month + 1)}-${pad(day)}`, clock: `${pad(hour)}:${pad(minute)}:${pad(second)}` };
}

/** Nine digits behind the second of an ISO time. */
const fractionOf = (iso: string): string => (/\.(\d+)/.exec(iso)?.[1] ?? '').padEnd(9, '0').slice(0, 9);

/** `22:44:35.123`, of an ISO time to the nanosecond. */
export const clockOf = (iso: string, zone: Zone, digits = 3): string => `${partsOf(Date.parse(iso), zone).clock}.${fractionOf(iso).slice(0, digits)}`; // prettier-ignore

/** `2026-11-20 22:44:35.123`. */
export const dateAndClock = (iso: string, zone: Zone, digits = 3): string =>
  `${partsOf(Date.parse(iso), zone).date} ${clockOf(iso, zone, digits)}`;

/** `2026-11-20 22:44:35`, of milliseconds. */
export function momentOf(ms: number, zone: Zone): string {
  const { date, clock } = partsOf(ms, zone);
  return `${date} ${clock}`;
}

/** `22:44`, with seconds where they are not 0, and the day where it is not that of `near`. */
export function shortMoment(ms: number, zone: Zone, near = ms): string {
  const { date, clock } = partsOf(ms, zone);
  const short = clock.endsWith(':00') ? clock.slice(0, 5) : clock;
  return date === partsOf(near, zone).date ? short : `${date.slice(5)} ${short}`;
}

/** `UTC`, or `UTC+01:00`, which is what local means here. */
export function zoneName(zone: Zone, at = new Date()): string {
  if (zone === 'utc') return 'UTC';
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return 'UTC+00:00';
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** `4 min ago`, `in 3 s`. */
export function agoOf(ms: number, now = Date.now()): string {
  const seconds = Math.round((now - ms) / 1000);
  const size = Math.abs(seconds);
  const text =
    size < 60 ? `${String(size)} s` : size < 3600 ? `${String(Math.round(size / 60))} min` : size < 172_800 ? `${String(Math.round(size / 3600))} h` : `${String(Math.round(size / 86_400))} d`; // prettier-ignore
  return seconds >= 0 ? `${text} ago` : `in ${text}`;
}
