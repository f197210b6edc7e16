/** What may come where one types: fields, values of the window, pipes and functions with a line of help. */
import { tokenize } from '../../../logsql/base/lexer.ts';
import { quote } from '../../../logsql/base/reserved.ts';
import { PIPE_HELP, STATS_HELP } from './help.ts';

export type Option = {
  readonly text: string;
  readonly shown: string;
  readonly help: string;
  readonly kind: 'field' | 'value' | 'pipe' | 'function' | 'operator';
};
/** What is known of the window: each field with its most frequent values. */
export type Known = ReadonlyMap<string, readonly { readonly value: string; readonly hits: number }[]>;
export type Completion = { readonly from: number; readonly to: number; readonly options: readonly Option[] };

const MOST = 12;
const NONE: Completion = { from: 0, to: 0, options: [] };

/** The options at a place of the query, the fitting ones first. */
export function completionAt(query: string, at: number, known: Known): Completion {
  const tokens = tokenize(query.slice(0, at));
  tokens.pop();
  const last = tokens.at(-1);
  const touches = last !== undefined && last.offset + last.raw.length === at && last.kind === 'word';
  const from = touches ? last.offset : at;
  const typed = query.slice(from, at).toLowerCase();
  const before = touches ? tokens.slice(0, -1) : tokens;
  const [sign, field] = [before.at(-1), before.at(-2)];
  if (last?.raw === '"' || last?.raw === "'" || last?.raw === '`') return NONE;
  const label = labelAt(before);
  if (label !== null) return completion(from, at, label === '' ? labelsOf(typed, known) : labelValuesOf(label, typed, known));
  const isAfterField = sign?.raw === ':' || (sign?.raw === '=' && field?.raw === ':');
  if (isAfterField && (touches ? !last.spaced : sign.offset + sign.raw.length === at)) {
    const name = (sign.raw === '=' ? before.at(-3) : field)?.text ?? '';
    return completion(from, at, valuesOf(name, typed, known));
  }
  if (sign?.raw === '|') return completion(from, at, helpOf(PIPE_HELP, typed, 'pipe'));
  if (before.some(({ raw }) => raw === '|')) {
    const isStats = /\|\s*stats\b[^|]*$/i.test(query.slice(0, from)) && !/\b(?:by\s*)?\([^)]*$/.test(query.slice(0, from));
    return completion(from, at, [...(isStats ? helpOf(STATS_HELP, typed, 'function') : []), ...fieldsOf(typed, known, '')]);
  }
  if (typed === '' && last !== undefined && !/\s$/.test(query.slice(0, at))) return NONE;
  return completion(from, at, [...fieldsOf(typed, known, ':'), ...operatorsOf(typed, before.length > 0)]);
}

/** Inside `{}`: the label whose value comes next, `''` where a label does; null elsewhere. */
function labelAt(before: readonly { readonly raw: string; readonly text: string }[]): string | null {
  const opened = before.findLastIndex(({ raw }) => raw === '{');
  if (opened < 0 || before.slice(opened).some(({ raw }) => raw === '}')) return null;
  return ['=', '!=', '=~', '!~'].includes(before.at(-1)?.raw ?? '') ? (before.at(-2)?.text ?? '') : '';
}

const LABEL = /([\w.:-]{1,256})="((?:[^"\\]|\\.)*)"/g;

/** Labels of the window's most frequent streams: each with its values. */
function streamLabels(known: Known): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const labels = new Map<string, Map<string, number>>();
  for (const { value, hits } of known.get('_stream') ?? [])
    for (const [, name = '', own = ''] of value.matchAll(LABEL)) {
      const values = labels.get(name) ?? new Map<string, number>();
      labels.set(name, values.set(own, (values.get(own) ?? 0) + hits));
    }
  return labels;
}

function labelsOf(typed: string, known: Known): Option[] {
  const labels = streamLabels(known);
  return ranked([...labels.keys()], typed).map((name) => ({
    ...{ text: `${name}=`, shown: name, kind: 'field' as const },
    help: `${String(labels.get(name)?.size ?? 0)} values`,
  }));
}

/** Values keep the escapes that a stream has. */
function labelValuesOf(label: string, typed: string, known: Known): Option[] {
  const values = streamLabels(known).get(label) ?? new Map<string, number>();
  return ranked([...values.keys()].filter((value) => value !== ''), typed).map((value) => ({
    ...{ text: `"${value}"`, shown: value, kind: 'value' as const },
    help: (values.get(value) ?? 0).toLocaleString('en-US'),
  })); // prettier-ignore
}

const completion = (from: number, to: number, options: readonly Option[]): Completion => ({ from, to, options: options.slice(0, MOST) });

function fieldsOf(typed: string, known: Known, end: string): Option[] {
  return ranked([...known.keys()], typed).map((name) => ({
    ...{ text: quote(name) + end, shown: name, kind: 'field' as const },
    help: `${String(known.get(name)?.length ?? 0)} values`,
  }));
}

function valuesOf(field: string, typed: string, known: Known): Option[] {
  const values = known.get(field) ?? [];
  const names = ranked(values.map(({ value }) => value).filter((value) => value !== ''), typed); // prettier-ignore
  return names.map((value) => ({
    ...{ text: `${quote(value)} `, shown: value, kind: 'value' as const },
    help: (values.find((one) => one.value === value)?.hits ?? 0).toLocaleString('en-US'),
  }));
}

const helpOf = (all: Readonly<Record<string, string>>, typed: string, kind: 'pipe' | 'function'): Option[] =>
  ranked(Object.keys(all), typed).map((name) => ({
    text: kind === 'pipe' ? `${name} ` : `${name}(`,
    shown: name,
    help: all[name] ?? '',
    kind,
  }));

function operatorsOf(typed: string, isAfter: boolean): Option[] {
  const all: Readonly<Record<string, string>> = isAfter
    ? { AND: 'both must hold', OR: 'one of both must hold', NOT: 'must not hold' }
    : { NOT: 'must not hold' };
  return typed === ''
    ? []
    : ranked(Object.keys(all), typed).map((name) => ({ text: `${name} `, shown: name, help: all[name] ?? '', kind: 'operator' }));
}

/** Those that begin with what was typed, then those that have it; in the order in which they came. */
function ranked(names: readonly string[], typed: string): string[] {
  const [begin, have]: [string[], string[]] = [[], []];
  for (const name of names) {
    const at = name.toLowerCase().indexOf(typed);
    if (at === 0) begin.push(name);
    else if (at > 0) have.push(name);
  }
  return [...begin, ...have];
}
