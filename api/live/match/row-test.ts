/** Filters compiled for the columns of a record: what decides for all of its entries, or for all with the same word, is tested once. */
import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { AndFilter, AnyFilter, NotFilter, OrFilter } from '../../../logsql/filters/logic.ts';
import { PhraseFilter, PrefixFilter } from '../../../logsql/filters/phrase.ts';
import type { Filter } from '../../../logsql/base/types.ts';
import type { LiveRecord } from './live-record.ts';

/** Which rows of a record match: a verdict for each, or one for all of them. */
type Verdict = boolean | ((row: number) => boolean);
type Test = (record: LiveRecord) => Verdict;

/** Called before each row is tested: false ends it. */
export type GoesOn = (row: number) => boolean;

/** A filter that is compiled: the rows of a record that match, in their order. */
export type RowTest = (record: LiveRecord, goesOn?: GoesOn) => Iterable<number>;

const NOTHING: LogEntry = new Map();

/** Compiles a filter whose subqueries are resolved. It matches exactly the entries that the filter matches. */
export function compileFilter(filter: Filter): RowTest {
  const test = testOf(filter);
  return function* (record, goesOn = () => true) {
    const verdict = test(record);
    if (verdict === false) return;
    for (let row = 0; row < record.count && goesOn(row); row++) if (verdict === true || verdict(row)) yield row;
  };
}

function testOf(filter: Filter): Test {
  if (filter instanceof AnyFilter) return () => true;
  if (filter instanceof AndFilter) return allOf([...filter.parts].sort((a, b) => rankOf(a) - rankOf(b)).map(testOf), true);
  if (filter instanceof OrFilter) return allOf([...filter.parts].sort((a, b) => rankOf(a) - rankOf(b)).map(testOf), false);
  if (filter instanceof NotFilter) return negated(testOf(filter.parts[0]));
  return fieldTest(filter);
}

/** What is decided by words comes first, then what tests the value of one field. */
function rankOf({ fields, parts }: Filter): number {
  if (fields.every((field) => field === 'level' || field === 'service' || field === '_stream' || field === '_stream_id')) return 0;
  return parts === undefined ? 1 : 2;
}

/** All tests together; with `wanted` false: any of them. */
function allOf(tests: readonly Test[], wanted: boolean): Test {
  return (record) => {
    const open: ((row: number) => boolean)[] = [];
    for (const test of tests) {
      const verdict = test(record);
      if (verdict === !wanted) return !wanted;
      if (typeof verdict === 'function') open.push(verdict);
    }
    const [only] = open;
    if (only === undefined) return wanted;
    if (open.length === 1) return only;
    return wanted ? (row) => open.every((test) => test(row)) : (row) => open.some((test) => test(row));
  };
}

const negated =
  (test: Test): Test =>
  (record) => {
    const verdict = test(record);
    return typeof verdict === 'boolean' ? !verdict : (row) => !verdict(row);
  };

/** A filter that is not composed. */
function fieldTest(filter: Filter): Test {
  const { fields } = filter;
  const [field] = fields;
  const isOfOne = fields.length === 1 && field !== undefined;
  const part = messagePartOf(filter);
  return (record) => {
    if (part !== null && !record.messagesMayHave(part)) return false;
    if (fields.length > 0 && fields.every((name) => !record.mayHave(name))) return filter.matches(NOTHING);
    const keyOf = isOfOne ? record.keyOf(field) : null;
    return keyOf === null ? (row) => filter.matches(record.look(row)) : byKey(filter, record, keyOf);
  };
}

/** Tests once each word that the entries of the record have in that field. */
function byKey(filter: Filter, record: LiveRecord, keyOf: (row: number) => number): (row: number) => boolean {
  const known: (boolean | undefined)[] = [];
  return (row) => {
    const key = keyOf(row);
    return (known[key] ??= filter.matches(record.look(row)));
  };
}

/** Bytes that the message of any entry that matches has; null where none are known. */
function messagePartOf(filter: Filter): Buffer | null {
  if (filter instanceof PhraseFilter && filter.field === '_msg' && filter.phrase !== '') return Buffer.from(filter.phrase);
  return filter instanceof PrefixFilter && filter.field === '_msg' && filter.prefix !== '' ? Buffer.from(filter.prefix) : null;
}
