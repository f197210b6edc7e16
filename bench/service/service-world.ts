import { alertBook } from '../../pipeline/alerting/book/alert-book.ts';
import { commandsInputOf } from '../../pipeline/alerting/book/command.ts';
import { type AlertRow, alertLayout } from '../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import { encodeTick, encodeHeaders } from '../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { EntryCodec, EntryWriter } from '../../pipeline/logs/writer.ts';
import { alerting } from '../../pipeline/alerting/streams/alerting.ts';
import { inputOf } from '../../pipeline/processors/base/input.ts';
import { partialInputOf, hostedProcessor, hostedMerger } from '../../pipeline/processors/merge/partials.ts';
import { rates } from '../../pipeline/processors/rates/rates.ts';

const PARTITIONS = [0, 1, 2, 3];
const TENANT = 1;
const RETENTION_DAYS = 30;

/**
 * From an entry to an alert by the code of the service, with append times as they are given: the writer of requests, records of the log, `rates` in
 * four partitions, partials, `alerting`, rows of alerts. Only Kafka is missing in between: it gives records its own time.
 */
export class ServiceWorld {
  readonly #codec = new EntryCodec();
  readonly #first = hostedProcessor(rates);
  #counted = PARTITIONS.map(() => this.#first.init());
  readonly #offsets = PARTITIONS.map(() => 0);
  readonly #second = hostedMerger(alerting);
  #watched = this.#second.init();
  #partials = 0;
  #book = alertBook.init();
  #commands = 0;
  /** What was told, row by row. */
  readonly rows: AlertRow[] = [];
  /** Most bytes that a snapshot of `alerting` had. */
  snapshotBytes = 0;

  /** A request with these entries, appended at a time, milliseconds. */
  send(entries: readonly object[], appendedAt: number): void {
    const receivedAt = BigInt(appendedAt) * 1_000_000n;
    const options = { tenantId: TENANT, partitions: PARTITIONS, retentionDays: RETENTION_DAYS, receivedAt, streamFields: null };
    const writer = new EntryWriter(this.#codec, options);
    for (const entry of entries) writer.add(entry);
    if (writer.accepted !== entries.length) throw new Error(`${String(entries.length - writer.accepted)} entries were not taken.`);
    for (const chunk of writer.chunks()) {
      const { partition, count } = chunk;
      const { value, headers } = chunk.encode();
      const info = { tenantId: TENANT, retentionDays: RETENTION_DAYS, count, bytes: value.length, encoding: 'columns' };
      this.#append(partition, appendedAt, { value, headers: encodeHeaders(logsSignal, info, headers) });
    }
  }

  /** Says in each partition that time has passed. */
  tick(appendedAt: number): void {
    for (const partition of PARTITIONS) this.#append(partition, appendedAt, encodeTick(logsSignal, {}));
  }

  /** Begins again from snapshots, as after a kill. */
  restart(): void {
    this.#counted = this.#counted.map((state) => restored(this.#first.restore(Buffer.from(this.#first.snapshot(state)))));
    const bytes = Buffer.from(this.#second.snapshot(this.#watched));
    this.snapshotBytes = Math.max(this.snapshotBytes, bytes.length);
    this.#watched = restored(this.#second.restore(bytes));
    this.#book = restored(alertBook.restore(Buffer.from(alertBook.snapshot(this.#book))));
  }

  #append(partition: number, appendedAt: number, record: Pick<AbsoluteRecord, 'headers'> & { readonly value: Buffer | null }): void {
    const offset = this.#offsets[partition] as number;
    this.#offsets[partition] = offset + 1;
    const message = { key: null, attributes: 0, offset: String(offset), timestamp: String(appendedAt), ...record } as KafkaMessage;
    for (const partial of this.#first.fold(this.#counted[partition], inputOf(partition, message))) this.#take(partial, appendedAt);
  }

  #take({ topic, value, headers }: AbsoluteRecord, appendedAt: number): void {
    if (topic !== 'partials.v1') return;
    const message = { value, headers, offset: String(this.#partials++), timestamp: String(appendedAt) } as KafkaMessage;
    for (const commands of this.#second.fold(this.#watched, partialInputOf(0, message))) {
      const place = { offset: String(this.#commands++), timestamp: String(appendedAt) };
      for (const record of alertBook.fold(
        this.#book,
        commandsInputOf(0, { ...place, value: commands.value, headers: commands.headers } as KafkaMessage),
      )) {
        const rows = alertLayout.read(record.value, Number(record.headers['count']));
        if (typeof rows === 'string') throw new Error(rows);
        this.rows.push(...rows);
      }
    }
  }
}

function restored<State>(state: State | null): State {
  if (state === null) throw new Error('A snapshot cannot be read.');
  return state;
}
