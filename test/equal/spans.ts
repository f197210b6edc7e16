/** Spans as rows of fields that look random, made of entries that do; and such rows as spans of the table. */
import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { parseStream, renderStream } from '../../pipeline/core/labels.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { insertSpans, spanId, traceId, type TestSpan } from '../fakes/stored-spans.ts';
import type { Random } from '../fuzz/random.ts';
import { NAMES, randomEntries } from './entries.ts';

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUSES = ['unset', 'ok', 'error'];
const OWN = ['_time', '_stream', '_msg', 'trace_id', 'span_id', 'parent_span_id', 'name', 'service', 'kind', 'status', 'status_message'];
const ALL = new Set([...OWN, 'duration', 'trace_state', 'scope.name', 'scope.version', 'events', 'links']);
const DURATIONS = ['0', '1', '999', '1000', '300000000', '1500000000', '9007199254740993', '9223372036854775'];

/** The fields that are asked for mostly. */
export const SPAN_NAMES: readonly string[] = [
  ...NAMES,
  ...['name', 'service', 'kind', 'status', 'status', 'duration', 'duration', 'status_message', 'trace_id', 'span_id', 'parent_span_id'],
  ...['scope.name', 'resource.app', 'resource.host', 'attributes.status', 'attributes.name', 'events'],
];

const withType = ([, value]: readonly [string, FieldValue]): string =>
  value instanceof Literal ? (/^[tf]/.test(value.text) ? 'b' : /^-?\d+$/.test(value.text) ? 'i' : 'd') : 's';

/** Rows of spans, oldest first. */
export const randomSpanRows = (random: Random, count: number): LogEntry[] =>
  randomEntries(random, count).map((entry, index): LogEntry => {
    const service = textOf(entry.get('service'));
    const attributes = [...entry].filter(([name]) => !name.startsWith('_') && name !== 'service');
    const messages = [textOf(entry.get('_msg')), textOf(entry.get('level')), ''];
    return new Map<string, FieldValue>(
      [
        ['_time', entry.get('_time') ?? ''] as const,
        ['_stream', renderStream([['service', service]])] as const,
        ...['_msg', 'name'].map((name) => [name, textOf(entry.get('_msg'))] as const),
        ['trace_id', traceId(random.below(40) + 1)] as const,
        ['span_id', spanId(index + 1)] as const,
        ['parent_span_id', random.below(3) === 0 ? '' : spanId(random.below(count) + 1)] as const,
        ['service', service] as const,
        ['kind', random.pick(KINDS)] as const,
        ['status', random.pick(STATUSES)] as const,
        ['status_message', random.pick(messages)] as const,
        ['duration', new Literal(random.pick(DURATIONS))] as const,
        ['scope.name', random.pick(['', 'http', 'db.sql'])] as const,
        ['events', random.below(5) === 0 ? '[{"name":"exception"}]' : ''] as const,
        ...attributes.map(([name, value]) => [ALL.has(name) ? `attributes.${name}` : name, value] as const),
        ...[...parseStream(textOf(entry.get('_stream')) || '{}')].map(([name, value]) => [`resource.${name}`, value] as const),
      ].filter(([, value]) => textOf(value) !== ''),
    );
  });

/** The span of a row. */
function spanOf(row: LogEntry): TestSpan {
  const text = (name: string): string => textOf(row.get(name));
  const attributes = [...row]
    .filter(([name]) => !ALL.has(name) && !name.startsWith('resource.'))
    .map((pair) => [pair[0].replace(/^attributes\./, ''), textOf(pair[1]), withType(pair)] as const);
  const resource = [...row]
    .filter(([name]) => name.startsWith('resource.'))
    .map((pair) => [pair[0].slice('resource.'.length), textOf(pair[1]), withType(pair)] as const);
  return {
    ...{ trace: text('trace_id'), span: text('span_id'), service: text('service'), name: text('name') },
    ...(text('parent_span_id') === '' ? {} : { parent: text('parent_span_id') }),
    ...{ kind: KINDS.indexOf(text('kind')), status: STATUSES.indexOf(text('status')), arrived: 0, attributes, resource },
    columns: {
      ...{ ns: String(parseTime(text('_time')) ?? 0n), took: text('duration'), status_message: text('status_message') },
      ...{ scope: text('scope.name'), events: text('events') },
    },
  };
}

/** Puts rows, oldest first, into the table of a tenant. */
export const insertSpanRows = (store: Store, tenantId: number, rows: readonly LogEntry[]): Promise<void> =>
  insertSpans(store, tenantId, rows.map(spanOf));
