/** The commands of a promqltest file. */
import { readDuration } from '../../../promql/values/durations.ts';
import { readSeries, type SeriesLine } from './series.ts';

/** `expect warn msg: …` and its kin. */
export type Expectation = { readonly what: string; readonly match: 'any' | 'msg' | 'regex'; readonly text: string };

export type Load = { readonly kind: 'load'; readonly stepMs: number; readonly hasNhcb: boolean; readonly series: readonly SeriesLine[] };
export type Evaluation = {
  readonly kind: 'eval';
  readonly line: number;
  readonly query: string;
  readonly times: { readonly start: number; readonly end: number; readonly step: number };
  readonly isInstant: boolean;
  readonly expectations: readonly Expectation[];
  readonly series: readonly SeriesLine[];
};
export type Command = Load | Evaluation | { readonly kind: 'clear' };

const INSTANT = /^eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(\S+))?\s+(.+)$/;
const RANGE = /^eval(?:_(fail|warn|info))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/;

/** Milliseconds of a time or duration: `5m`, `0`, `1.5`, `-30s`. */
function millis(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const plain = text.replace(/^-/, '');
  return sign * (/^[\d.]+$/.test(plain) ? Number(plain) * 1000 : (readDuration(plain) ?? NaN));
}

const LEGACY: Readonly<Record<string, string>> = { fail: 'fail', warn: 'warn', ordered: 'ordered', info: 'info' };

function readExpectation(line: string): Expectation | undefined {
  const legacy = /^expected_fail_(message|regexp)\s+(.*)$/.exec(line);
  if (legacy !== null) return { what: 'fail', match: legacy[1] === 'message' ? 'msg' : 'regex', text: legacy[2] ?? '' };
  const [, what = '', match, text = ''] =
    /^expect\s+(fail|warn|info|no_warn|no_info|ordered|string|range vector)\b\s*(?:(msg|regex):)?\s*(.*)$/.exec(line) ?? [];
  return what === '' ? undefined : { what, match: match === 'msg' || match === 'regex' ? match : 'any', text };
}

function evaluationOf(line: string, place: number, rest: readonly string[]): Evaluation {
  const instant = INSTANT.exec(line);
  const range = RANGE.exec(line);
  if (instant === null && range === null) throw new Error(`Unreadable line ${String(place)}: ${line}`);
  const legacy = LEGACY[(instant ?? range)?.[1] ?? ''];
  const expectations: Expectation[] = legacy === undefined ? [] : [{ what: legacy, match: 'any', text: '' }];
  const series: SeriesLine[] = [];
  for (const one of rest) {
    const expectation = readExpectation(one);
    if (expectation === undefined) series.push(readSeries(one));
    else expectations.push(expectation);
  }
  const shared = { kind: 'eval', line: place, expectations, series } as const;
  if (instant !== null) {
    const time = millis(instant[2] ?? '0');
    return { ...shared, query: instant[3] ?? '', times: { start: time, end: time, step: 0 }, isInstant: true };
  }
  const [, , start = '', end = '', step = '', query = ''] = range ?? [];
  return { ...shared, query, times: { start: millis(start), end: millis(end), step: millis(step) }, isInstant: false };
}

/** All commands of a file in their order. */
export function readFile(content: string): readonly Command[] {
  const lines = content.split('\n').map((line) => line.trim());
  const commands: Command[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line === '' || line.startsWith('#')) continue;
    if (line === 'clear') {
      commands.push({ kind: 'clear' });
      continue;
    }
    const rest: string[] = [];
    const place = at + 1;
    while ((lines[at + 1] ?? '') !== '') {
      at += 1;
      const next = lines[at] ?? '';
      if (/^(?:eval|load|clear)\b|^eval_|^load_/.test(next)) {
        at -= 1;
        break;
      }
      if (!next.startsWith('#')) rest.push(next);
    }
    const load = /^load(_with_nhcb)?\s+(\S+)$/.exec(line);
    if (load !== null)
      commands.push({ kind: 'load', stepMs: millis(load[2] ?? ''), hasNhcb: load[1] !== undefined, series: rest.map(readSeries) });
    else commands.push(evaluationOf(line, place, rest));
  }
  return commands;
}
