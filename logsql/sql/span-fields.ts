/** Spans as rows of fields: the fields that each has, how an attribute is called, and rows of the table `spans` read as such. */
import { Literal, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { renderStream } from '../../pipeline/core/labels.ts';
import { join, sql, text, type Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from '../base/fields.ts';
import type { EntryColumns } from '../base/table.ts';
import { columnTime } from './time.ts';

/** Before the name of an attribute of the resource; and before that of one of the span whose name is a field already. */
export const RESOURCE = 'resource.';
/** Before the name of an attribute of the scope: a scope has a name and a version, too. */
export const SCOPE = 'scope.attributes.';
const ATTRIBUTES = 'attributes.';

/** The words for kinds and states, by their numbers. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
export const STATUSES = ['unset', 'ok', 'error'];
const NO_SPAN = '0'.repeat(16);

/** A field, its name as a literal, and its column: none for what has no text of its own. */
type SpanField = { readonly name: string; readonly literal: Sql; readonly column: Sql | null; read(value: string): FieldValue };

const asItIs = (value: string): string => value;
const field = (name: string, literal: Sql, column: Sql | null, read: SpanField['read'] = asItIs): SpanField => ({
  name,
  literal,
  column,
  read,
});

/** The fields of a span but its attributes and those of its resource, in the order in which answers have them. */
export const SPAN_FIELDS: readonly SpanField[] = [
  field('_time', sql`'_time'`, sql`_time`, columnTime),
  field('_stream', sql`'_stream'`, sql`service`, (service) => renderStream([['service', service]])),
  field('_stream_id', sql`'_stream_id'`, null),
  field('_msg', sql`'_msg'`, sql`name`),
  field('trace_id', sql`'trace_id'`, sql`lower(hex(trace_id))`),
  field('span_id', sql`'span_id'`, sql`lower(hex(span_id))`),
  field('parent_span_id', sql`'parent_span_id'`, sql`lower(hex(parent_span_id))`, (id) => (id === NO_SPAN ? '' : id)),
  field('name', sql`'name'`, sql`name`),
  field('service', sql`'service'`, sql`service`),
  field('kind', sql`'kind'`, sql`kind`, (number) => KINDS[Number(number)] ?? ''),
  field('status', sql`'status'`, sql`status`, (number) => STATUSES[Number(number)] ?? ''),
  field('status_message', sql`'status_message'`, sql`status_message`),
  field('duration', sql`'duration'`, sql`toString(duration)`, (digits) => new Literal(digits)),
  field('trace_state', sql`'trace_state'`, sql`trace_state`),
  field('scope.name', sql`'scope.name'`, sql`scope`),
  field('scope.version', sql`'scope.version'`, sql`scope_version`),
  field('events', sql`'events'`, sql`events`),
  field('links', sql`'links'`, sql`links`),
];
const NAMES = new Set(SPAN_FIELDS.map(({ name }) => name));

/** Whether an attribute of this name would be taken for another field. */
const isReserved = (name: string): boolean => NAMES.has(name) || isShared(name) || name.startsWith(ATTRIBUTES);

/** Whether it is an attribute of the resource or of the scope. */
export const isShared = (name: string): boolean => name.startsWith(RESOURCE) || name.startsWith(SCOPE);

/** The field of an attribute. */
const fieldOf = (attribute: string): string => (isReserved(attribute) ? ATTRIBUTES + attribute : attribute);

/** The attribute that a field is, none of those above; null where no attribute has it. */
export function attributeOf(name: string): string | null {
  if (!name.startsWith(ATTRIBUTES)) return name;
  const attribute = name.slice(ATTRIBUTES.length);
  return isReserved(attribute) ? attribute : null;
}

/** Above this many attributes all of them are read. */
const MAX_NAMED = 8;

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** An attribute's value by the character of its type (docs/topics.md): numbers and booleans are such in JSON too. */
function typedValue(value: string, type: string): FieldValue {
  if (type === 'b') return value === 'true' || value === 'false' ? new Literal(value) : value;
  return (type === 'i' || type === 'd') && NUMBER.test(value) ? new Literal(value) : value;
}

type Reader = (entry: LogEntry, row: readonly unknown[]) => void;

/** The columns that give these fields, and rows of them as entries. */
export function spanColumns(fields: FieldSet): EntryColumns {
  const columns: Sql[] = [];
  const readers: Reader[] = [];
  const add = (list: readonly Sql[], read: (at: number) => Reader): void => {
    readers.push(read(columns.length));
    columns.push(...list);
  };
  for (const { name, column, read } of SPAN_FIELDS)
    if (column !== null && fields.has(name)) add([column], (at) => (entry, row) => setField(entry, name, read(String(row[at]))));
  const list = fields.list();
  const named = list?.filter((name) => !NAMES.has(name) && !isShared(name)) ?? null;
  if (named !== null && named.length <= MAX_NAMED) for (const name of named) addAttribute(name, add);
  else add([sql`mapKeys(fields)`, sql`mapValues(fields)`, sql`attribute_types`], (at) => attributesReader(at, fields));
  if (list === null || list.some((name) => name.startsWith(RESOURCE)))
    add([sql`if(empty(long_resource), toString(resource), long_resource)`, sql`resource_types`], (at) =>
      sharedReader(at, resourceFields, fields),
    );
  if (list === null || list.some((name) => name.startsWith(SCOPE)))
    add([sql`context`, sql`''`], (at) => sharedReader(at, scopeFields, fields));
  if (columns.length === 0) columns.push(sql`1`);
  return {
    list: join(columns, sql`, `),
    count: columns.length,
    streamColumns: [],
    decode: (row) => {
      const entry: LogEntry = new Map();
      for (const read of readers) read(entry, row);
      return entry;
    },
  };
}

/** One of few that are named: its value, and the character of its type. */
function addAttribute(name: string, add: (list: readonly Sql[], read: (at: number) => Reader) => void): void {
  const key = attributeOf(name);
  if (key === null) return;
  const type = sql`substring(attribute_types, indexOf(mapKeys(fields), ${text(key)}), 1)`;
  add([sql`fields[${text(key)}]`, type], (at) => (entry, row) => setField(entry, name, typedValue(String(row[at]), String(row[at + 1]))));
}

/** An empty value is none. */
function setField(entry: LogEntry, name: string, value: FieldValue): void {
  if (value !== '' && !entry.has(name)) entry.set(name, value);
}

const attributesReader =
  (at: number, fields: FieldSet): Reader =>
  (entry, row) => {
    const [names, values, types] = [row[at] as readonly string[], row[at + 1] as readonly string[], String(row[at + 2])];
    for (const [index, name] of names.entries()) {
      const own = fieldOf(name);
      if (fields.has(own)) setField(entry, own, typedValue(values[index] ?? '', types[index] ?? 's'));
    }
  };

/** Strings of a JSON object of strings, names and values in turn. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;

type Pairs = readonly (readonly [name: string, value: FieldValue])[];

/** Most spans that follow one another share their resource and their scope, or one of a few. */
function sharedReader(at: number, read: (json: string, types: string) => Pairs, fields: FieldSet): Reader {
  let [known, pairs]: [string, Pairs] = ['', []];
  return (entry, row) => {
    const [json, types] = [String(row[at]), String(row[at + 1])];
    const key = `${types}/${json}`;
    if (known !== key) [known, pairs] = [key, read(json, types).filter(([name]) => fields.has(name))];
    for (const [name, value] of pairs) setField(entry, name, value);
  };
}

/** The fields of a resource, a JSON object of strings as it is stored; of those with one name the first counts. */
export function resourceFields(resource: string, types: string): Pairs {
  const strings = resource.match(STRINGS)?.map((string) => JSON.parse(string) as string) ?? [];
  return Array.from(
    { length: strings.length / 2 },
    (_none, index) => [RESOURCE + (strings[2 * index] ?? ''), typedValue(strings[2 * index + 1] ?? '', types[index] ?? 's')] as const,
  );
}

const TYPES: ReadonlyMap<string, string> = new Map([['intValue', 'i'], ['doubleValue', 'd'], ['boolValue', 'b']]); // prettier-ignore
type Pair = { readonly key: string; readonly value: object };

/** The fields of the attributes of a scope, by the column `context`, which has them in OTLP's JSON; of those with one name the first counts. */
export function scopeFields(context: string): Pairs {
  if (context === '') return [];
  const { scopeAttributes = [] } = JSON.parse(context) as { readonly scopeAttributes?: readonly Pair[] };
  return scopeAttributes.map(({ key, value }) => {
    const [type, own] = (Object.entries(value)[0] ?? ['', '']) as readonly [string, unknown];
    return [SCOPE + key, typedValue(typeof own === 'string' ? own : JSON.stringify(own), TYPES.get(type) ?? 's')] as const;
  });
}
