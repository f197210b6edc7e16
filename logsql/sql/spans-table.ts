/**
 * The table `spans` (pipeline/store/schema/016_spans.sql) as queries see it: docs/traces-query.md says which fields a span has. Of rows with
 * equal trace id, span id and kind the one that begins last counts, of these the one that arrived last (docs/adr/0042-spans.md).
 */
import { join, sql, text, texts, uint64, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import { renderStream } from '../../pipeline/core/labels.ts';
import type { FewWords, Look, Table } from '../base/table.ts';
import { TIME_TEXT } from './time.ts';
import { KINDS, RESOURCE, SCOPE, SPAN_FIELDS, STATUSES, attributeOf, isShared, spanColumns } from './span-fields.ts';

const AND = sql` AND `;

const COLUMNS = sql`arrived, kafka_part, kafka_off, kafka_idx, trace_id, span_id, parent_span_id, service, name, kind, status, status_message, duration, trace_state, scope, scope_version, context, resource, long_resource, resource_types, attribute_types, events, links`;
/** Names as in `logs` where the same is meant. ClickHouse looks through it: keys, indexes and columns are used as those of the table. */
const NAMED = sql`SELECT tenant_id, time AS _time, attributes AS fields, ${COLUMNS} FROM spans`;
/** Conditions stand within: over shards, each is sent what stands here (docs/adr/0062-shards.md). */
const rowsThat = (conditions: readonly Sql[]): Sql => sql`(${NAMED} WHERE ${join(conditions, AND)})`;

/** What few rows share that are no copies of one another: 8 bytes, which are quick to group. */
const MAYBE_SAME = sql`reinterpretAsUInt64(span_id) + kind`;

/** Of more rows that the key leaves, copies are not told apart: what is held for it grows with them. ClickHouse counts them first, by the key. */
const MOST_COMPARED = 5_000_000;
const KEYED = /^(?:tenant_id = |_time [<>]= |\(?service (?:=|IN) )/;

/** All columns of rows that meet conditions, of which those that copies of them follow are left out. */
function matching(conditions: readonly Sql[]): Sql {
  const twice = sql`SELECT ${MAYBE_SAME} AS same FROM matching GROUP BY same HAVING count() > 1`;
  const copies = sql`SELECT kafka_part, kafka_off, kafka_idx FROM matching WHERE ${MAYBE_SAME} IN (${twice}) ORDER BY _time DESC, arrived DESC, kafka_part DESC, kafka_off DESC, kafka_idx DESC LIMIT 1, 4294967295 BY trace_id, span_id, kind`;
  const ofKey = conditions.filter(({ strings }) => KEYED.test(strings.join('')));
  const areMany = sql`(SELECT count() FROM ${rowsThat(ofKey)}) > ${uint64(MOST_COMPARED)}`;
  return sql`(WITH matching AS ${rowsThat(conditions)} SELECT * FROM matching WHERE ${areMany} OR (kafka_part, kafka_off, kafka_idx) NOT IN (${copies})) WHERE 1`;
}

const NO_SPAN = sql`toFixedString('', 8)`;
const wordsOf = (column: Sql, words: Sql): Sql => sql`arrayElement(${words}, ${column} + 1)`;

const TEXTS: ReadonlyMap<string, Sql> = new Map([
  ['_time', TIME_TEXT],
  ['_stream_id', sql`''`],
  ['_msg', sql`name`],
  ['name', sql`name`],
  ['service', sql`service`],
  ['trace_id', sql`lower(hex(trace_id))`],
  ['span_id', sql`lower(hex(span_id))`],
  ['parent_span_id', sql`if(parent_span_id = ${NO_SPAN}, '', lower(hex(parent_span_id)))`],
  ['kind', wordsOf(sql`kind`, sql`['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']`)],
  ['status', wordsOf(sql`status`, sql`['unset', 'ok', 'error']`)],
  ['status_message', sql`status_message`],
  // logsql/sql/number.ts knows this form
  ['duration', sql`toString(toUInt64(duration))`],
  ['trace_state', sql`trace_state`],
  ['scope.name', sql`scope`],
  ['scope.version', sql`scope_version`],
  ['events', sql`events`],
  ['links', sql`links`],
]);

function textOf(field: string): Sql | null {
  if (field === '_stream') return null;
  const own = TEXTS.get(field);
  if (own !== undefined) return own;
  if (field.startsWith(RESOURCE)) return resourceText(text(field.slice(RESOURCE.length)));
  if (field.startsWith(SCOPE)) return scopeText(text(field.slice(SCOPE.length)));
  const key = attributeOf(field);
  return key === null ? sql`''` : sql`fields[${text(key)}]`;
}

/** Over the dictionary of resources each of them is read once; long ones are hardly there. */
const resourceText = (name: ReturnType<typeof text>): Sql =>
  sql`if(empty(long_resource), JSONExtractString(resource, ${name}), JSONExtractString(long_resource, ${name}))`;

/** The attributes of a scope, in OTLP's JSON, and the text of one of them: its value is the only member of an object. */
const SCOPE_ATTRIBUTES = sql`JSONExtractArrayRaw(context, 'scopeAttributes')`;
const VALUE = sql`if(JSONType(p, 'value', 1) = 'String', JSONExtractString(p, 'value', 1), JSONExtractRaw(p, 'value', 1))`;
const scopeText = (name: ReturnType<typeof text>): Sql =>
  sql`arrayElement(arrayMap(p -> ${VALUE}, arrayFilter(p -> JSONExtractString(p, 'key') = ${name}, ${SCOPE_ATTRIBUTES})), 1)`;

/** Ids are bytes, which a bloom filter is searched for. */
const IDS: ReadonlyMap<string, { readonly column: Sql; readonly digits: number }> = new Map([
  ['trace_id', { column: sql`trace_id`, digits: 32 }],
  ['span_id', { column: sql`span_id`, digits: 16 }],
  ['parent_span_id', { column: sql`parent_span_id`, digits: 16 }],
]);
const NONE = sql`0`;

function isOneOf(field: string, values: readonly string[]): Sql | undefined {
  const id = IDS.get(field);
  if (id === undefined) return undefined;
  const ids = values.filter((value) => value.length === id.digits && /^[0-9a-f]+$/.test(value) && /[^0]/.test(value));
  const bytes =
    id.digits === 32 ? (hex: Sql): Sql => sql`toFixedString(unhex(${hex}), 16)` : (hex: Sql): Sql => sql`toFixedString(unhex(${hex}), 8)`;
  const [only, ...more] = ids;
  if (only === undefined) return NONE;
  if (more.length === 0) return sql`${id.column} = ${bytes(sql`${text(only)}`)}`;
  return sql`${id.column} IN (SELECT ${bytes(sql`arrayJoin(${texts(ids)})`)})`;
}

/** A field of one of few words, by the numbers that stand for them. */
const fewWords = (words: readonly string[], column: Sql): FewWords => ({
  words,
  isOneOf: (chosen) => (chosen.length === 0 ? NONE : sql`has(${uint64s(chosen.map((word) => words.indexOf(word)))}, ${column})`),
});
const FEW_WORDS: ReadonlyMap<string, FewWords> = new Map([
  ['kind', fewWords(KINDS, sql`kind`)],
  ['status', fewWords(STATUSES, sql`status`)],
]);

/** Columns whose strings take long to read and to test. */
const DEAR = /\bname\b|\bfields\[|resource|\bcontext\b|\bstatus_message\b|\bevents\b|\blinks\b/;
/** An index shows where none of the rows meets these. */
const INDEXED = /\bfields\[\] (?:=|IN) |\btrace_id (?:=|IN) /;
/** Rows of one service are in the order of time. */
const ONE_SERVICE = /^\(?service = \)?$/;

function look(conditions: readonly Sql[]): Look {
  const written = conditions.map(({ strings }) => strings.join(''));
  if (written.some((one) => INDEXED.test(one))) return 'indexed';
  if (!written.some((one) => ONE_SERVICE.test(one))) return 'scattered';
  return written.some((one) => DEAR.test(one)) ? 'texts' : 'columns';
}

const PRESENT = sql`mapFilter((k, v) -> v != '', fields)`;
const RESERVED = sql`[${join(
  SPAN_FIELDS.map(({ literal }) => literal),
  sql`, `,
)}]`;

const named = (keys: Sql): Sql => sql`arrayMap(k -> if(has(${RESERVED}, k) OR startsWith(k, 'resource.') OR startsWith(k, 'scope.attributes.') OR startsWith(k, 'attributes.'), concat('attributes.', k), k), ${keys})`; // prettier-ignore

const resourcePairs = (resource: Sql): Sql =>
  sql`arrayMap(p -> (concat('resource.', p.1), p.2), arrayFilter(p -> p.2 != '', JSONExtractKeysAndValues(${resource}, 'String')))`;
const scopePairs = (context: Sql): Sql => {
  const pairs = sql`arrayMap(p -> (concat('scope.attributes.', JSONExtractString(p, 'key')), ${VALUE}), JSONExtractArrayRaw(${context}, 'scopeAttributes'))`;
  // of those with one name the first counts
  return sql`arrayFilter((p, at) -> p.2 != '' AND indexOf(tupleElement(${pairs}, 1), p.1) = at, ${pairs}, arrayEnumerate(${pairs}))`;
};

export const SPANS: Table = {
  ...{ row: 'span', member: 'spans' },
  from: sql`(${NAMED})`,
  where: rowsThat,
  columns: sql`tenant_id, _time, fields, ${COLUMNS}`,
  matching,
  identity: sql`hex(concat(trace_id, span_id, char(kind)))`,
  look,
  indexes: [
    { name: 'tenant, service and time (primary key)', parts: ['service = '] },
    { name: 'values of attributes (bloom filter)', parts: ['fields[] = )', 'fields[] IN )'] },
    { name: 'trace_id (bloom filter)', parts: ['trace_id = ', 'trace_id IN '] },
  ],
  text: textOf,
  isMapField: (field) => field !== '_stream' && !TEXTS.has(field) && !isShared(field),
  promoted: () => undefined,
  promotedLabel: () => undefined,
  indexedWords: () => [],
  isOneOf,
  isOneWord: (field) => IDS.has(field),
  number: (field) => (field === 'duration' ? sql`toFloat64(duration)` : undefined),
  fewWords: (field) => FEW_WORDS.get(field),
  ...{ names: named(sql`mapKeys(${PRESENT})`), values: sql`mapValues(${PRESENT})`, namesAlone: named(sql`mapKeys(${PRESENT})`) },
  lists: {
    common: ['_msg', 'name', 'service', 'kind', 'status', 'scope.name', 'scope.version', '_stream'],
    wide: ['trace_id', 'span_id', 'parent_span_id', 'status_message', 'duration', 'trace_state', 'events', 'links', '_time'],
    sampled: sql`fields, trace_id, span_id, parent_span_id, status_message, duration, trace_state, events, links, _time`,
    everywhere: 'kind',
    ...{ always: ['service', 'kind', 'status'], never: ['_time', '_msg', '_stream'] },
    counts: [
      ...['_time', '_stream', 'trace_id', 'span_id', 'kind', 'status', 'duration'].map((name) => [name, sql`count()`] as const),
      ...[
        '_msg',
        'name',
        'service',
        'parent_span_id',
        'status_message',
        'trace_state',
        'scope.name',
        'scope.version',
        'events',
        'links',
      ].map((name) => [name, sql`countIf(${TEXTS.get(name) ?? sql`''`} != '')`] as const),
    ],
    shared: {
      of: sql`(if(empty(long_resource), toString(resource), long_resource), toString(context))`,
      pairs: (shared) =>
        sql`arrayConcat(${resourcePairs(sql`tupleElement(${shared}, 1)`)}, ${scopePairs(sql`tupleElement(${shared}, 2)`)})`,
    },
  },
  stream: {
    key: sql`service`,
    isId: false,
    text: (service) => renderStream([['service', service]]),
    labels: (label) => (label === 'service' ? sql`service` : sql`''`),
  },
  ...{ isCounted: false, hasPatterns: false },
  entryColumns: spanColumns,
};
