import type { PointMetric } from './metric-point.ts';

/**
 * Names as Prometheus' OTLP receiver makes them (https://github.com/prometheus/otlptranslator): units by their words, `_total` of counters, `_ratio` of
 * gauges of the unit 1.
 */

const UNITS: Readonly<Record<string, string>> = {
  ...{ d: 'days', h: 'hours', min: 'minutes', s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' },
  ...{ By: 'bytes', KiBy: 'kibibytes', MiBy: 'mebibytes', GiBy: 'gibibytes', TiBy: 'tibibytes' },
  ...{ KBy: 'kilobytes', MBy: 'megabytes', GBy: 'gigabytes', TBy: 'terabytes' },
  ...{ m: 'meters', V: 'volts', A: 'amperes', J: 'joules', W: 'watts', g: 'grams', Cel: 'celsius', Hz: 'hertz', 1: '', '%': 'percent' },
};
const PER: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', y: 'year' };

const wordOf = (words: Readonly<Record<string, string>>, unit: string): string =>
  Object.hasOwn(words, unit) ? (words[unit] as string) : tokensOf(unit).join('_');
const tokensOf = (name: string): string[] => name.split(/[^a-zA-Z0-9:]+/).filter((token) => token !== '');

/** The words of a unit such as `By/s`: what is counted, and `per_second`. Units in braces are remarks. */
function unitWords(unit: string): readonly [main: string, per: string] {
  const slash = unit.indexOf('/');
  const [first, second] = (slash < 0 ? [unit, ''] : [unit.slice(0, slash), unit.slice(slash + 1)]).map((part) => part.trim());
  const main = first === undefined || first.includes('{') ? '' : wordOf(UNITS, first);
  const per = second === undefined || second === '' || second.includes('{') ? '' : wordOf(PER, second);
  return [main, per === '' ? '' : `per_${per}`];
}

/** A unit as Prometheus names it. */
export const unitName = (unit: string): string =>
  unitWords(unit)
    .filter((word) => word !== '')
    .join('_');

const isTotal = ({ kind, isMonotonic }: PointMetric): boolean => kind === 'sum' && isMonotonic;

/** The name of a metric. `isAny`: other characters than the classic ones stay. */
export function metricName(metric: PointMetric, isAny: boolean): string {
  const [main, per] = unitWords(metric.unit);
  const isRatio = metric.kind === 'gauge' && metric.unit === '1';
  const suffixes = [main, per, isTotal(metric) ? 'total' : '', isRatio ? 'ratio' : ''].filter((word) => word !== '');
  if (isAny) return suffixes.reduce((name, suffix) => (name.endsWith(`_${suffix}`) ? name : `${name}_${suffix}`), metric.name);
  const tokens = suffixes.reduce(withSuffix, tokensOf(metric.name));
  const name = tokens.join('_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** Words of a unit are added where the name does not have them, `total` and `ratio` go to its end. */
function withSuffix(tokens: readonly string[], suffix: string): string[] {
  if (suffix === 'total' || suffix === 'ratio') return [...tokens.filter((token) => token !== suffix), suffix];
  const words = tokensOf(suffix);
  const isThere = tokens.join('_').includes(words.join('_')) && words.every((word) => tokens.includes(word));
  return isThere ? [...tokens] : [...tokens, ...words];
}

/** The name of a label. */
export function labelName(key: string, isAny: boolean): string {
  if (isAny) return key;
  const plain = key.replaceAll(/[^a-zA-Z0-9_]/gu, '_');
  if (/^\d/.test(plain)) return `key_${plain}`;
  return plain.startsWith('_') && !plain.startsWith('__') ? `key${plain}` : plain;
}
