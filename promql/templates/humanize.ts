/** Numbers for people, as Prometheus' templates have them (https://prometheus.io/docs/prometheus/latest/configuration/template_reference/). */
import { plainNumber } from '../values/numbers.ts';

/** As Go's `%.<digits>g`. */
export function significant(value: number, digits: number): string {
  if (!Number.isFinite(value)) return plainNumber(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponent = '0'] = value.toExponential(Math.max(1, digits) - 1).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < Math.max(1, digits)) return trimmed(value.toFixed(Math.max(0, digits - 1 - power)));
  return `${trimmed(mantissa)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const trimmed = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

const ABOVE = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const BELOW = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const BINARY = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

function above(start: number, prefixes: readonly string[], base: number): string {
  let [value, prefix] = [start, ''];
  for (const next of prefixes) {
    if (Math.abs(value) < base) break;
    [value, prefix] = [value / base, next];
  }
  return `${significant(value, 4)}${prefix}`;
}

function below(start: number): string {
  let [value, prefix] = [start, ''];
  for (const next of BELOW) {
    if (Math.abs(value) >= 1) break;
    [value, prefix] = [value * 1000, next];
  }
  return `${significant(value, 4)}${prefix}`;
}

/** `1.234M`, `12m`. */
export function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return significant(value, 4);
  return Math.abs(value) >= 1 ? above(value, ABOVE, 1000) : below(value);
}

/** `1.5ki`. */
export function humanize1024(value: number): string {
  if (Math.abs(value) <= 1 || !Number.isFinite(value)) return significant(value, 4);
  return above(value, BINARY, 1024);
}

/** Seconds as `1d 2h 3m 4s`, `12ms`. */
export function humanizeDuration(value: number): string {
  if (!Number.isFinite(value)) return significant(value, 4);
  if (value === 0) return '0s';
  if (Math.abs(value) < 1) return `${below(value)}s`;
  const sign = value < 0 ? '-' : '';
  const size = Math.abs(value);
  const whole = Math.floor(size);
  const [seconds, minutes, hours, days] = [whole % 60, Math.floor(whole / 60) % 60, Math.floor(whole / 3600) % 24, Math.floor(whole / 86_400)] as const; // prettier-ignore
  if (days > 0) return `${sign}${plainNumber(days)}d ${String(hours)}h ${String(minutes)}m ${String(seconds)}s`;
  if (hours > 0) return `${sign}${String(hours)}h ${String(minutes)}m ${String(seconds)}s`;
  if (minutes > 0) return `${sign}${String(minutes)}m ${String(seconds)}s`;
  return `${sign}${significant(size, 4)}s`;
}

/** A share as `12.5%`. */
export const humanizePercentage = (value: number): string => `${significant(value * 100, 4)}%`;

/** Seconds since 1970 as `2026-11-28 00:00:00 +0000 UTC`. */
export function humanizeTimestamp(value: number): string {
  if (!Number.isFinite(value) || Math.abs(value) > 8_640_000_000_000) return significant(value, 4);
  const [date = '', time = ''] = new Date(Math.floor(value * 1000)).toISOString().split('T');
  return `${date} ${trimmed(time.replace('Z', ''))} +0000 UTC`;
}
