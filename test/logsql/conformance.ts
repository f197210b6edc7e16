/** The conformance cases of LogsQL (LOGWEIR_SHARED): reading them, their data set as entries, and the rules of comparison of run.py. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Literal, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { renderStream } from '../../pipeline/core/labels.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import { momentText } from '../../logsql/values/times.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Case = {
  readonly id: string;
  readonly priority: string;
  readonly feature: string;
  readonly kind: string;
  readonly query: string;
  readonly start?: string;
  readonly end?: string;
  readonly limit?: number;
  readonly step?: string;
  readonly fields_by?: readonly string[];
  readonly field?: string;
  readonly sorted?: boolean;
  readonly numeric?: boolean;
  readonly jsonarr?: readonly string[];
  readonly expect: {
    readonly error?: boolean;
    readonly idx?: string;
    readonly rows?: readonly Row[];
    readonly values?: readonly (readonly [string, number])[];
  };
};

export const WINDOW = { start: '2026-11-18T10:00:00Z', end: '2026-11-18T11:00:00Z' };

const folder = path.join(process.env['LOGWEIR_SHARED'] ?? path.join(import.meta.dirname, '../../../shared'), 'conformance/logsql');
export const isPresent = existsSync(path.join(folder, 'public.jsonl'));
const lines = (name: string): string[] =>
  readFileSync(path.join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export const loadCases = (): Case[] => lines('public.jsonl').map((line) => JSON.parse(line) as Case);
/** The rows that `idx` in expectations counts from 0. */
export const loadBase = (): Row[] => lines('base.jsonl').map((line) => JSON.parse(line) as Row);

/** The data set as entries with nanosecond times, oldest first. */
export function loadEntries(): LogEntry[] {
  return lines('dataset.ndjson').map((line) => toEntry(parseKeepingNumbers(line)));
}

/** JSON whose numbers stay as they were written. */
function parseKeepingNumbers(line: string): Row {
  const marked = line.replace(
    /("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g,
    (_all, text: string | undefined, number: string | undefined) => text ?? `"\\u0000${number ?? ''}"`,
  );
  return JSON.parse(marked) as Row;
}

const unmarked = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('\0')
    ? Number(value.slice(1))
    : Array.isArray(value)
      ? value.map(unmarked)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, unmarked(v)]))
        : value;

function toEntry(row: Row): LogEntry {
  const flat = new Map<string, FieldValue>();
  const add = (name: string, value: unknown): void => {
    if (value === null || value === undefined || value === '') return;
    if (Array.isArray(value)) flat.set(name, JSON.stringify(unmarked(value)));
    else if (typeof value === 'object') for (const [key, part] of Object.entries(value)) add(`${name}.${key}`, part);
    else if (typeof value === 'boolean') flat.set(name, new Literal(String(value)));
    else if (typeof value === 'string') flat.set(name, value.startsWith('\0') ? new Literal(value.slice(1)) : value);
  };
  for (const [key, value] of Object.entries(row)) add(key, value);
  const text = (name: string): string => {
    const value = flat.get(name);
    return value === undefined ? '' : typeof value === 'string' ? value : value.text;
  };
  for (const name of ['_msg', 'level', 'service']) if (flat.get(name) instanceof Literal) flat.set(name, text(name));
  const at = parseTime(text('_time'));
  if (at === null) throw new Error(`Unreadable time in the data set: ${text('_time')}`);
  const stream = renderStream(['app', 'host', 'env'].map((label) => [label, text(label)] as const));
  return new Map<string, FieldValue>([
    ['_time', momentText(at)],
    ['_stream', stream],
    ['_msg', text('_msg')],
    ...[...flat].filter(([name]) => !['_time', '_stream', '_msg'].includes(name)),
  ]);
}

const IGNORED = new Set(['_stream_id']);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function canonical(value: unknown, isNumeric: boolean, isNative: boolean): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (TIME.test(text))
    return text.replace('+00:00', 'Z').replace(/\.(\d*?)0*Z$/, (_all, digits: string) => (digits === '' ? 'Z' : `.${digits}Z`));
  if (isNumeric && ['nan', 'inf', '+inf', '-inf', 'null'].includes(text.toLowerCase())) return '';
  if ((isNumeric || isNative) && NUMBER.test(text)) {
    const number = Number(text);
    if (isNumeric) return Number.isInteger(number) && Math.abs(number) < 1e9 ? String(number) : nineDigits(number);
    if (Number.isInteger(number) && Math.abs(number) < 2 ** 53) return String(number);
  }
  return text;
}

/** Python's `%.9g`: ties go to the even digit, where toPrecision goes away from zero. */
function nineDigits(number: number): string {
  const text = number.toPrecision(9);
  // All digits of the double itself, of which those after the ninth decide.
  const digits = Math.abs(number).toFixed(60).replace('.', '').replace(/^0+/, '');
  if (!/^50*$/.test(digits.slice(9)) || Number(digits[8]) % 2 === 1) return text;
  const shown = text.replace(/(\.\d*|\d)$/, '');
  return `${shown}${text.slice(shown.length, -1)}${digits[8] ?? ''}`;
}

/** A row as run.py compares it: sorted keys, missing and empty the same, lists that have no order sorted. */
function canonicalRow(row: Iterable<readonly [string, unknown]>, test: Case): string {
  const out: [string, string][] = [];
  for (const [name, value] of row) {
    if (IGNORED.has(name)) continue;
    const isLiteral = value instanceof Literal;
    let plain: unknown = isLiteral ? value.text : value;
    if (test.jsonarr?.includes(name) === true) {
      const list = JSON.parse(String(plain)) as unknown[];
      plain = JSON.stringify(list.map((part) => canonical(typeof part === 'object' ? JSON.stringify(part) : part, false, false)).sort());
    }
    const text = canonical(plain, test.numeric === true, isLiteral || typeof value === 'number');
    if (text !== '') out.push([name, text]);
  }
  return JSON.stringify(out.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** What a row is for the cases that treat all of its values alike: most cases compare rows of the same data set. */
const usual = new WeakMap<Row | LogEntry, string>();

function textOfRow(row: Row | LogEntry, test: Case): string {
  const fresh = (): string => canonicalRow(row instanceof Map ? row : Object.entries(row), test);
  if (test.numeric === true || test.jsonarr !== undefined) return fresh();
  const text = usual.get(row) ?? fresh();
  usual.set(row, text);
  return text;
}

function indexes(text: string): number[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [from = '0', to = from] = part.split('-');
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_none, i) => Number(from) + i);
    });
}

/** Null when the rows are the expected ones, else what differs. */
export function compareRows(test: Case, rows: readonly LogEntry[], base: readonly Row[]): string | null {
  const expected = test.expect.idx === undefined ? (test.expect.rows ?? []) : indexes(test.expect.idx).map((index) => base[index] ?? {});
  const want = expected.map((row) => textOfRow(row, test)).filter((row) => row !== '[]');
  const got = rows.map((row) => textOfRow(row, test)).filter((row) => row !== '[]');
  if (test.sorted !== true) {
    want.sort();
    got.sort();
  }
  const at = want.findIndex((row, index) => row !== got[index]);
  if (at < 0 && want.length === got.length) return null;
  return `want ${String(want.length)} rows, got ${String(got.length)}; first difference: want ${(want[at] ?? '-').slice(0, 300)} got ${(got[at < 0 ? want.length : at] ?? '-').slice(0, 300)}`;
}

/** As compareRows, for values with their hits in any order; the empty value does not count. */
export function comparePairs(test: Case, pairs: readonly (readonly [string, number])[]): string | null {
  const sorted = (list: readonly (readonly [string, number])[]): string[] =>
    list
      .filter(([value]) => value !== '')
      .map((pair) => JSON.stringify(pair))
      .sort();
  const want = sorted(test.expect.values ?? []);
  const got = sorted(pairs);
  return JSON.stringify(want) === JSON.stringify(got) ? null : `want ${want.slice(0, 8).join(' ')} got ${got.slice(0, 8).join(' ')}`;
}
