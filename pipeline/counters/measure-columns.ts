import { framesOf } from '../logs/columns/frames.ts';
import { columnHead, nativeString } from '../logs/columns/layout.ts';
import { CheckedColumns, isCount, isTime, readChecked, Wrong } from './checked-columns.ts';
import type { MeasureRow } from './measure.ts';

/** The columns of a record of `measures.v1`, in their order, as those of `counters.v1`. docs/topics.md is the specification. */
const COLUMNS = [
  ['tenant_id', 'UInt32'],
  ['retention_days', 'UInt16'],
  ['name', 'String'],
  ['labels', 'Map(String, String)'],
  ['span', 'UInt32'],
  ['time', "DateTime64(0, 'UTC')"],
  ['value', 'Float64'],
  ['version', 'UInt64'],
] as const;

export const MEASURE_COLUMNS: readonly string[] = COLUMNS.map(([name]) => name);

/** The columns as `input()` declares them. */
export const MEASURE_STRUCTURE = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');

const HEADS = Object.fromEntries(COLUMNS.map(([name, type]) => [name, columnHead(name, type)]));

/** What a row takes before it is compressed, about. Bytes. */
export const measureSize = ({ name, labels }: MeasureRow): number => 50 + 3 * labels.reduce((sum, label) => sum + 4 + label[0].length + label[1].length, name.length); // prettier-ignore

/** The value of a record with these rows. */
export function encodeMeasures(rows: readonly MeasureRow[]): Buffer {
  const numbers = (width: number, write: (bytes: Buffer, row: MeasureRow, at: number) => void): Buffer => {
    const bytes = Buffer.alloc(width * rows.length);
    rows.forEach((row, index) => {
      write(bytes, row, width * index);
    });
    return bytes;
  };
  let labels = 0;
  const columns = [
    numbers(4, (bytes, { tenantId }, at) => bytes.writeUInt32LE(tenantId, at)),
    numbers(2, (bytes, { retentionDays }, at) => bytes.writeUInt16LE(retentionDays, at)),
    Buffer.concat(rows.map(({ name }) => nativeString(name))),
    Buffer.concat([
      numbers(8, (bytes, row, at) => bytes.writeBigUInt64LE(BigInt((labels += row.labels.length)), at)),
      ...[0, 1].flatMap((part) => rows.flatMap((row) => row.labels.map((label) => nativeString(label[part] ?? '')))),
    ]),
    numbers(4, (bytes, { span }, at) => bytes.writeUInt32LE(span, at)),
    numbers(8, (bytes, { time }, at) => bytes.writeBigInt64LE(BigInt(time), at)),
    numbers(8, (bytes, { value }, at) => bytes.writeDoubleLE(value, at)),
    numbers(8, (bytes, { version }, at) => bytes.writeBigUInt64LE(BigInt(version), at)),
  ];
  return framesOf((to) => {
    COLUMNS.forEach(([name], index) => {
      to.put(HEADS[name] as Buffer);
      to.put(columns[index] as Buffer);
    });
  });
}

/** Reads the value of a record, and checks all of it, as `readVolume` does: so it can be passed on as it is. Returns what is wrong as a string. */
export function readMeasures(value: Buffer, count: number): MeasureRow[] | string {
  return readChecked(value, count, (bytes) => read(new CheckedColumns(HEADS, bytes, count), bytes, count));
}

function read(columns: CheckedColumns, bytes: Buffer, count: number): MeasureRow[] {
  const tenantId = columns.numbers('tenant_id', 4, (number) => number > 0);
  const retentionDays = columns.numbers('retention_days', 2);
  const name = columns.strings('name');
  const labels = columns.maps('labels');
  const span = columns.numbers('span', 4, (number) => number > 0);
  const time = columns.numbers('time', 8, isTime);
  const value = columns.floats('value');
  const version = columns.numbers('version', 8, isCount);
  columns.end();
  const pair = (index: number): [string, string] => [
    bytes.toString('utf8', labels.names.starts[index], labels.names.ends[index]),
    bytes.toString('utf8', labels.values.starts[index], labels.values.ends[index]),
  ];
  return Array.from({ length: count }, (_, row) => {
    const first = labels.ends[row - 1] ?? 0;
    const own = Array.from({ length: (labels.ends[row] ?? 0) - first }, (_none, index) => pair(first + index));
    // one series has one form
    if (own.some(([label], index) => index > 0 && label <= (own[index - 1] as [string, string])[0]))
      throw new Wrong('column labels has a map that is not in the order of its names');
    return {
      tenantId: tenantId[row] as number,
      retentionDays: retentionDays[row] as number,
      name: bytes.toString('utf8', name.starts[row], name.ends[row]),
      labels: own,
      span: span[row] as number,
      time: time[row] as number,
      value: value[row] as number,
      version: version[row] as number,
    };
  });
}
