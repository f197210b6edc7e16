/** A record of a topic, as far as its body is concerned. */
export type SourceRecord = { readonly offset: string; readonly value: Buffer | null };

/** Records that are one body: those of formats with a line each are joined. */
export type RecordBody = { readonly body: Buffer; readonly records: readonly (SourceRecord & { readonly value: Buffer })[] };

/** Of what is read, this much is taken at once, and committed once it is on the log. Bytes of values, and records. */
const MAX_GROUP_BYTES = 1_048_576;
const MAX_GROUP_RECORDS = 1000;

const [LINE_FEED, OPEN_BRACE, CLOSE_BRACE, LESS_THAN] = [0x0a, 0x7b, 0x7d, 0x3c];

const isLine = (value: Buffer): boolean => !value.includes(LINE_FEED);
/** No two of these are one value of JSON: an object that has no end goes on with anything but another one. */
const isObject = (value: Buffer): boolean => value[0] === OPEN_BRACE && value.at(-1) === CLOSE_BRACE && isLine(value);
/** No count of octets, which could take in the frames behind it. */
const isFrame = (value: Buffer): boolean => value[0] === LESS_THAN && isLine(value);

/** Which records may stand in a body with others, by format; those of other formats are a body each. */
const JOINED: Readonly<Record<string, (value: Buffer) => boolean>> = {
  json: isObject,
  gelf: isObject,
  syslog: isFrame,
  hec_raw: isLine,
  influx: isLine,
};

/** Records in groups, in their order: as many as are taken at once. */
export function* groupsOf<T extends SourceRecord>(records: readonly T[]): Generator<T[]> {
  let group: T[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = record.value?.length ?? 0;
    if (group.length > 0 && (bytes + size > MAX_GROUP_BYTES || group.length >= MAX_GROUP_RECORDS)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(record);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** The bodies of a group, each at most `maxBytes` unless a record alone is larger. Records without a value have none. */
export function bodiesOf(format: string, group: readonly SourceRecord[], maxBytes: number): RecordBody[] {
  const mayJoin = JOINED[format] ?? (() => false);
  const bodies: RecordBody[] = [];
  let joined: RecordBody['records'][number][] = [];
  let bytes = 0;
  const close = (): void => {
    if (joined.length > 0) bodies.push({ body: joinedBody(joined), records: joined });
    [joined, bytes] = [[], 0];
  };
  for (const { offset, value } of group) {
    if (value === null || value.length === 0) continue;
    if (!mayJoin(value)) {
      bodies.push(bodyOf({ offset, value }));
      continue;
    }
    if (bytes + value.length + 1 > maxBytes) close();
    joined.push({ offset, value });
    bytes += value.length + 1;
  }
  close();
  return bodies;
}

/** The body of one record. */
export const bodyOf = (record: RecordBody['records'][number]): RecordBody => ({ body: record.value, records: [record] });

function joinedBody(records: RecordBody['records']): Buffer {
  const [first] = records;
  if (records.length === 1 && first !== undefined) return first.value;
  return Buffer.concat(records.flatMap(({ value }) => [value, LINE_END]));
}

const LINE_END = Buffer.from('\n');
