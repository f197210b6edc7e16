import { renderStream } from '../../core/labels.ts';
import { readJson } from '../../core/read-json.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Sensitivity } from '../../detectors/detector.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { partialRows } from '../../processors/base/json.ts';
import type { SpanRate } from '../../processors/spans/span-rates.ts';
import type { AlertCommand } from '../book/command.ts';
import { Reports } from '../book/reports.ts';
import { spanWords } from './span-words.ts';
import { WatchedOperation } from './watched-operation.ts';

const TICK_MS = 10_000;
/** A partition without requests of the tenant for this long is no longer waited for; an operation without one is forgotten. Milliseconds. */
const QUIET_MS = 2 * 3_600_000;
const FORGET_MS = 24 * 3_600_000;
/** Minutes of counts that an alert shows. */
const SHOWN = 60;
const MOST = 1_000_000;

/** How easily a detector fires of a service and operation as labels. */
export type SpanSensitivity = (detector: string, stream: string) => Sensitivity;

type Watched = { readonly service: string; readonly operation: string; readonly of: WatchedOperation };

/** What is watched of a tenant: its services, and their operations, by their labels. */
export class SpanWatch {
  retentionDays = 0;
  sensitivityOf: SpanSensitivity = () => 'normal';
  readonly #watched = new Map<string, Watched>();
  /** Up to when each partition is counted, by append time, milliseconds. */
  readonly #sources = new Map<number, number>();
  #evaluatedAt = 0;
  #reports = new Reports(spanWords);

  /** Services and operations that are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** What its alerts take, about. Bytes. */
  get alertBytes(): number {
    return this.#reports.bytes;
  }

  /** Takes a partial; gives what is to be reported. `most`: services and operations that it may watch; `mostBytes`: of alerts. */
  take(input: PartialInput, most: number, mostBytes: number): AlertCommand[] {
    const { source, retentionDays, tenantId } = input;
    this.retentionDays = retentionDays;
    for (const row of partialRows(input) as readonly SpanRate[]) {
      const [service, operation] = row;
      this.#at(service, '', most)?.add(row, source.appendedAt);
      this.#at(service, operation, most)?.add(row, source.appendedAt);
    }
    this.#sources.set(source.partition, Math.max(source.appendedAt, this.#sources.get(source.partition) ?? 0));
    const newest = Math.max(...this.#sources.values());
    const through = Math.min(...[...this.#sources.values()].filter((at) => at >= newest - QUIET_MS));
    if (through < this.#evaluatedAt + TICK_MS) return [];
    this.#evaluatedAt = through;
    return this.#evaluate(tenantId, through, mostBytes);
  }

  /** True where nothing came for a day: it may be forgotten. */
  isOver(now: number): boolean {
    return this.#watched.size === 0 && now >= this.#evaluatedAt + FORGET_MS;
  }

  write(to: ByteWriter): void {
    for (const number of [this.retentionDays, this.#evaluatedAt, this.#sources.size]) to.count(number);
    for (const [partition, through] of this.#sources) for (const number of [partition, through]) to.count(number);
    to.count(this.#watched.size);
    for (const { service, operation, of } of this.#watched.values()) {
      to.bytes(Buffer.from(service));
      to.bytes(Buffer.from(operation));
      of.write(to);
    }
    to.bytes(Buffer.from(JSON.stringify(this.#reports)));
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): SpanWatch {
    const read = new SpanWatch();
    [read.retentionDays, read.#evaluatedAt] = [from.count(65_535), from.count()];
    for (let left = from.count(65_535); left > 0; left--) read.#sources.set(from.count(65_535), from.count());
    for (let left = from.count(MOST); left > 0; left--) {
      const [service, operation] = [from.bytes().toString(), from.bytes().toString()];
      read.#watched.set(streamOf(service, operation), { service, operation, of: WatchedOperation.read(from) });
    }
    read.#reports = Reports.from(readJson(from.bytes().toString()), spanWords);
    return read;
  }

  #at(service: string, operation: string, most: number): WatchedOperation | null {
    const stream = streamOf(service, operation);
    const known = this.#watched.get(stream);
    if (known !== undefined) return known.of;
    if (this.#watched.size >= most) return null;
    const of = new WatchedOperation();
    this.#watched.set(stream, { service, operation, of });
    return of;
  }

  /** Services first: what fires of a service is not reported of its operations. */
  #evaluate(tenantId: number, through: number, mostBytes: number): AlertCommand[] {
    const now = Math.floor(through / 1000);
    const found: AlertCommand[] = [];
    const inOrder = [...this.#watched].sort(([, one], [, other]) => Number(one.operation !== '') - Number(other.operation !== ''));
    for (const [stream, { service, operation, of }] of inOrder) {
      const whole = operation === '' ? undefined : this.#watched.get(streamOf(service, ''))?.of;
      for (const finding of of.tick(through, (detector) => this.sensitivityOf(detector, stream))) {
        const { detector, side, window } = finding;
        const subject = {
          ...{ tenantId, retentionDays: this.retentionDays, stream, service, operation, shown: of.shown(window) },
          recent: of.recent(detector, window.end, SHOWN),
          isNews: () =>
            this.#reports.bytes < mostBytes && whole?.firing(detector) !== side && this.sensitivityOf(detector, stream) !== 'off',
        };
        const command = this.#reports.take(finding, subject, now);
        if (command !== null) found.push(command);
      }
      if (of.seenAt >= through - FORGET_MS) continue;
      this.#watched.delete(stream);
      found.push(...this.#reports.end((one) => one.stream === stream, now));
    }
    return found;
  }
}

/** The labels of a service, or of an operation of it. */
const streamOf = (service: string, operation: string): string =>
  renderStream([
    ['service', service],
    ['operation', operation],
  ]);
