/**
 * The row: how one entry stands in the value of a Kafka record, shaped like the table so that ClickHouse reads it as it lies.
 * One JSON object a line: `_time` (nanoseconds, quoted), `_stream_id` (quoted), `level`, `service`, `trace_id`, `span_id`,
 * `severity`, `_msg`, `fields` (strings) and `numbers` (JSON numbers and booleans). docs/topics.md is its specification.
 */

/** Version of the row's layout, in each record's header `sv`. */
export const ROW_VERSION = 2;

const NUMBERS = /,"numbers":(\{[^]*\})\}$/;

/** The names and source strings of the numbers and booleans, which JSON.parse would round. They stand last in the row. */
export function* readLiterals(line: string): Generator<[string, string]> {
  const numbers = NUMBERS.exec(line)?.[1];
  if (numbers === undefined) return;
  const member = /("(?:[^"\\]|\\.)*"):([^,}]+)/gy;
  member.lastIndex = 1;
  for (let match = member.exec(numbers); match !== null; match = member.exec(numbers)) {
    yield [JSON.parse(match[1] ?? '""') as string, (match[2] ?? '').trim()];
    if (numbers[member.lastIndex] === ',') member.lastIndex += 1;
  }
}
