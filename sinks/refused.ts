import { ClickHouseError } from '@clickhouse/client';
import type { Fault } from '../pipeline/bus/records/dead-letter.ts';
import type { Refusal } from '../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';

/**
 * What ClickHouse answers where it is the rows that are at fault, and no repeat will help
 * (https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp). Every other answer is a state of the server,
 * the network or the table, and is waited for.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  '6', // CANNOT_PARSE_TEXT
  '25', // CANNOT_PARSE_ESCAPE_SEQUENCE
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '32', // ATTEMPT_TO_READ_AFTER_EOF
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '130', // CANNOT_READ_ARRAY_FROM_TEXT
  '131', // TOO_LARGE_STRING_SIZE
  '271', // CANNOT_DECOMPRESS
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  '349', // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  '395', // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
  '407', // DECIMAL_OVERFLOW
  '467', // CANNOT_PARSE_BOOL
  '469', // VIOLATED_CONSTRAINT
  '691', // UNKNOWN_ELEMENT_OF_ENUM
]);

/** Of these, what ClickHouse also answers where a body was cut off or damaged on its way. */
const CUT_OFF: ReadonlySet<string> = new Set(['32', '33', '271']);

/** What ClickHouse answers where it has not the memory for a statement: MEMORY_LIMIT_EXCEEDED, CANNOT_ALLOCATE_MEMORY. */
const OUT_OF_MEMORY: ReadonlySet<string> = new Set(['241', '173']);

/** Whether the statement was too large for ClickHouse's memory, as it is now. */
export const isOutOfMemory = (error: unknown): boolean => error instanceof ClickHouseError && OUT_OF_MEMORY.has(error.code);

/** Whether an error may come from the way of the body, and not from its rows. */
export const mayBeCutOff = (error: unknown): boolean => error instanceof ClickHouseError && CUT_OFF.has(error.code);

/** The fault of rows that an error reports; null where it is not about rows. */
export function refusalOf(error: unknown): Fault | null {
  if (!(error instanceof ClickHouseError) || !REFUSALS.has(error.code)) return null;
  return { reason: 'refused', detail: `ClickHouse ${error.code} ${error.type ?? ''}: ${error.message}` };
}

/**
 * Finds the records that `refuse` has something against, by halving; `refuse` must change nothing. A record counts only where it is
 * refused twice: the body of a single insert may have been cut off on its way. Ends when `most` were found.
 */
export async function findRefused(
  records: readonly SignalRecord[],
  refuse: (records: readonly SignalRecord[]) => Promise<Fault | null>,
  most: number,
): Promise<Refusal[]> {
  const found: Refusal[] = [];
  const open = [records];
  while (open.length > 0 && found.length < most) {
    const part = open.pop() as readonly SignalRecord[];
    if (part.length === 0 || (await refuse(part)) === null) continue;
    const middle = part.length >> 1;
    if (middle > 0) {
      open.push(part.slice(middle), part.slice(0, middle));
      continue;
    }
    const fault = await refuse(part);
    if (fault !== null) found.push({ record: part[0] as SignalRecord, fault });
  }
  return found;
}
