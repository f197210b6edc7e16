import { faultOf, encodeHeaders } from '../../../../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../../../../pipeline/bus/records/signal-record.ts';
import { SharedRecord, type Compression, type SealedRecord } from '../../../../pipeline/bus/producer/pending-record.ts';
import type { Signal } from '../../../../pipeline/bus/records/signal.ts';
import { insertStatement } from '../../../../sinks/insert-statement.ts';
import type { Sink } from '../../../../sinks/sink.ts';

/** A ping: what a whole signal needs beside its room of records is this file. */
export type Ping = { readonly at: number; readonly host: string };

/** A record of pings has the names of its hosts in a header of its own. */
export type PingRecord = SignalRecord & { readonly hosts: ReadonlySet<string> };

export const pings: Signal<PingRecord> = {
  name: 'pings',
  topic: { name: 'pings.v1', partitions: 3, cleanup: 'delete', maxMessageBytes: 1_000_000, timestamps: 'append' },
  version: 1,
  encodings: ['ndjson'],
  decode: (record, header) => ({ ...record, hosts: new Set(header('hosts').split(',')) }),
  check: ({ value, count }) =>
    value.toString().split('\n').length - 1 === count ? null : faultOf('rows', 'The record has not as many pings as it says.'),
  rowEnds: () => null,
};

export const PINGS_TABLE = `CREATE TABLE pings (
  tenant_id UInt32, at DateTime64(3, 'UTC'), host String,
  arrived DateTime64(3, 'UTC'), kafka_part UInt16, kafka_off UInt64, kafka_idx UInt32, retention_days UInt16
) ENGINE = MergeTree ORDER BY (tenant_id, at) SETTINGS non_replicated_deduplication_window = 10000`;

export const pingsSink: Sink<PingRecord> = {
  name: 'pings',
  signal: pings,
  table: 'pings',
  forget: () => undefined,
  prepare: () => Promise.resolve(),
  insert: (range, { table: into = 'pings', fence } = {}) => ({
    text: insertStatement({
      ...{ range, into, fence, table: 'pings', structure: 'at Int64, host String' },
      columns: [
        ['at', "fromUnixTimestamp64Milli(at, 'UTC')"],
        ['host', 'host'],
      ],
    }),
    body: range.records.map(({ value }) => value),
  }),
};

/** Pings that wait for their send. `claimed`: how many the header says there are. */
export class PendingPings extends SharedRecord {
  readonly compression: Compression = 'none';
  readonly partition: number;
  readonly #pings: readonly Ping[];
  readonly #claimed: number;

  constructor(partition: number, some: readonly Ping[], claimed = some.length) {
    super();
    this.partition = partition;
    this.#pings = some;
    this.#claimed = claimed;
  }

  get size(): number {
    return this.#pings.length * 40;
  }

  protected finish(): SealedRecord {
    const info = { tenantId: 1, retentionDays: 0, count: this.#claimed, bytes: this.size, encoding: 'ndjson' };
    const hosts = [...new Set(this.#pings.map(({ host }) => host))].join(',');
    const value = Buffer.from(this.#pings.map((ping) => `${JSON.stringify(ping)}\n`).join(''));
    return { value, headers: encodeHeaders(pings, info, { hosts }), info };
  }
}
