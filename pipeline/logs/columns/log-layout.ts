import { nanoseconds, uint64, uint8 } from '../../rows/fixed-types.ts';
import { Layout } from '../../rows/layout.ts';
import { string, word, wordList, wordPairs, type Pairs } from '../../rows/string-types.ts';

/** A row of a record of `logs.v1`. On the path of an entry no such object is made: `LogColumns` and `ColumnsView` have the columns. */
export type LogRow = {
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly streamId: bigint;
  /** 0 for none. */
  readonly severity: number;
  /** 0 for none. */
  readonly pattern: bigint;
  readonly level: string;
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly message: string;
  readonly fields: Pairs;
  /** Names of the fields whose values are JSON numbers or booleans. */
  readonly jsonKeys: readonly string[];
};

/** The columns of a record of `logs.v1`, in their order. docs/topics.md is the specification. */
export const logLayout = new Layout<LogRow>('logs', [
  { name: '_time', type: nanoseconds, member: 'time' },
  { name: 'stream_id', type: uint64, member: 'streamId' },
  { name: 'severity', type: uint8, member: 'severity' },
  { name: 'pattern', type: uint64, member: 'pattern' },
  { name: 'level', type: word, member: 'level' },
  { name: 'service', type: word, member: 'service' },
  { name: 'trace_id', type: string, member: 'traceId' },
  { name: 'span_id', type: string, member: 'spanId' },
  { name: '_msg', type: string, member: 'message' },
  { name: 'fields', type: wordPairs, member: 'fields' },
  { name: 'json_keys', type: wordList, member: 'jsonKeys' },
]);

/** What begins each column, for code that writes and reads them without rows. */
export const HEADS = {
  time: logLayout.head('_time'),
  streamId: logLayout.head('stream_id'),
  severity: logLayout.head('severity'),
  pattern: logLayout.head('pattern'),
  level: logLayout.head('level'),
  service: logLayout.head('service'),
  traceId: logLayout.head('trace_id'),
  spanId: logLayout.head('span_id'),
  message: logLayout.head('_msg'),
  fields: logLayout.head('fields'),
  jsonKeys: logLayout.head('json_keys'),
};
