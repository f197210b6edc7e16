import type { IHeaders } from '../bus/connection/kafka.ts';
import type { Signal } from '../bus/records/signal.ts';
import type { Rejected, Rejections } from './rejections.ts';

/** For whom the rows of one request are written, and what bounds them. */
export type RowsOwner = {
  readonly tenantId: number;
  /** The partitions that the tenant's rows go to: its shard. At least one. */
  readonly partitions: readonly number[];
  /** Retention in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Nanoseconds since the epoch. */
  readonly receivedAt: bigint;
};

/** What a request says beside its body: headers (names in lower case; empty where one is missing), and the query. */
export type Envelope = { header(name: string): string; readonly query: URLSearchParams };

/** What a writer is made for. */
export type RowsRequest = RowsOwner & {
  /** Most streams of a day that the tenant may have. */
  readonly streamsPerDay: number;
  /** Most series of metrics that may be active on a day. */
  readonly seriesPerDay: number;
  /** Whether names of metrics and labels may have any characters. */
  readonly utf8Names: boolean;
  /** Most bytes of all rows together, as they are stored. */
  readonly maxRowBytes: number;
  /** The size of the body. */
  readonly expectedBytes: number;
  readonly envelope: Envelope;
  /** What each row gets in addition, in place of its own; as a label where the signal has labels. Absent: nothing. */
  readonly labels?: Readonly<Record<string, string>>;
};

/** The value of a record, how it is written, and the headers that its signal adds to the common ones. */
export type EncodedRows = { readonly value: Buffer; readonly encoding: string; readonly headers: IHeaders };

/** Rows of one tenant for one partition: a record, or a part of one, until it is encoded. */
export interface RowChunk {
  readonly partition: number;
  readonly count: number;
  /** About how many bytes it takes in a batch of Kafka before it is compressed, headers included. */
  readonly size: number;
  /** True while another chunk of the same signal fits into the same record. */
  fits(other: RowChunk): boolean;
  /** Adds the rows of another chunk of the same signal, which must not be used any more. */
  append(other: RowChunk): void;
  /** The chunk must not be used any more. */
  encode(): EncodedRows;
}

/** What became of the rows of a request. */
export type Written = { readonly accepted: number; readonly rejected: Rejected; readonly total: number };

/** Takes the rows of one request: a normalizer writes them, and what cannot be taken is listed. Synchronous. */
export interface RowWriter {
  readonly options: RowsOwner;
  readonly rejected: Rejections;
  /** Rows taken so far, and all that were seen, in the unit of the signal. */
  readonly accepted: number;
  readonly total: number;
  /** Rows that were taken under a ceiling, which `answerHeaders` tells the client. */
  readonly limited: number;
  /** What the answer is to say beside the format's own; most often nothing. */
  answerHeaders?(): Readonly<Record<string, string>>;
  /** What was taken, ready to be produced. */
  chunks(): RowChunk[];
}

/** How requests become rows of a signal. `Writer` is what its normalizers write to. */
export interface Intake<Writer extends RowWriter = RowWriter> {
  readonly signal: Pick<Signal, 'name' | 'version' | 'topic' | 'encodings'>;
  /** What its limits count, as a plural: `entries`. */
  readonly unit: string;
  /** How many of its rows take of a partition what an entry of the log does; 1 unless told. */
  readonly rowsOfEntry?: number;
  /** False where only its bytes are limited, by the daily volume, and no rate. */
  readonly isRated?: false;
  /** A writer for one request. Throws HttpError 400 where the envelope cannot be read. */
  writer(request: RowsRequest): Writer;
}
