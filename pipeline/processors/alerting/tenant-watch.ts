import type { Alert } from '../../alerts/alert.ts';
import { serviceOf } from '../../core/labels.ts';
import { newSeries, restoreSeries } from '../../detectors/series/series.ts';
import type { Sensitivity, Series, Side } from '../../detectors/detector.ts';
import type { StreamFinding } from '../merge/finding.ts';
import type { PartialInput } from '../merge/partial.ts';
import type { Rates } from '../rates/rates-partial.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { AlertBook } from './alert-book.ts';

/** A stream that had no entry for so long is forgotten, by append time. Milliseconds. */
const FORGET_MS = 24 * 3_600_000;
/** How often series are asked what they have found. Milliseconds. */
const TICK_MS = 10_000;
const MINUTE_MS = 60_000;
/** Minutes of counts that an alert shows. */
const SHOWN = 60;
const MAX_STREAMS = 20_000;

/** A stream, and what is remembered of it. */
type Watched = {
  /** Its label set; empty until it is told. */
  stream: string;
  /** The partition of the log that its last counts came from, and when those were appended, milliseconds. */
  source: number;
  seenAt: number;
  readonly series: Series;
  /** The minute in which it was asked last what it has found; -1 where it must be asked. */
  askedAt: number;
  /** How easily each detector fires, as far as it was asked; undefined where that has changed. */
  sensitivities?: Map<string, Sensitivity> | undefined;
};

/** How easily a detector fires of a stream. */
export type SensitivityOf = (detector: string, stream: string) => Sensitivity;
const NORMAL: SensitivityOf = () => 'normal';

/** What is watched of a tenant. */
export class TenantWatch {
  retentionDays = 0;
  readonly #streams = new Map<string, Watched>();
  /** Up to when each partition of the log is counted, and when its series were asked last: append times, milliseconds. */
  readonly #sources = new Map<number, { through: number; askedAt: number }>();
  #book = new AlertBook();
  #sensitivityOf = NORMAL;

  /** Streams that are watched. */
  get size(): number {
    return this.#streams.size;
  }

  /** Says how easily detectors fire from now on; null: normally. */
  configure(sensitivityOf: SensitivityOf | null): void {
    this.#sensitivityOf = sensitivityOf ?? NORMAL;
    for (const watched of this.#streams.values()) [watched.sensitivities, watched.askedAt] = [undefined, -1];
  }

  /** Adds what a partition has counted, as long as the tenant has no more than `most` streams; gives what was found. */
  take(input: PartialInput, rates: Rates, most: number): Alert[] {
    const { source, retentionDays } = input;
    this.retentionDays = retentionDays;
    this.#add(rates, source.partition, source.appendedAt, most);
    const known = this.#sources.get(source.partition) ?? { through: 0, askedAt: 0 };
    known.through = Math.max(known.through, source.appendedAt);
    this.#sources.set(source.partition, known);
    if (known.through < known.askedAt + TICK_MS) return [];
    known.askedAt = known.through;
    return this.#ask(input.tenantId, source.partition, known.through);
  }

  /** Takes what a detector of one's own has found: how its alert is told then; null where that changes nothing. `now`: milliseconds. */
  hear(tenantId: number, { id, finding, about }: StreamFinding, now: number): Alert | null {
    const watched = this.#streams.get(id);
    if (watched === undefined || watched.stream === '') return null;
    const { stream, series } = watched;
    const isOff = finding.state === 'firing' && this.#sensitivityOf(finding.detector, stream) === 'off';
    if (isOff) return null;
    const recent = series.recent(finding.detector, finding.window.end, SHOWN);
    const subject = { tenantId, retentionDays: this.retentionDays, stream, service: serviceOf(stream), recent, about };
    return this.#book.hear(finding, subject, Math.floor(now / 1000));
  }

  /** Resolves an alert by hand: how it is told then; null where that changes nothing. */
  resolve(shown: Alert, note: string, now: number): Alert | null {
    const resolved = this.#book.resolve(shown, note, Math.floor(now / 1000));
    if (resolved === null) return null;
    const { alert, wasFiring } = resolved;
    if (wasFiring)
      for (const watched of this.#streams.values()) {
        if (watched.stream !== alert.stream) continue;
        for (const side of SIDES) watched.series.resolve(alert.detector, side);
        watched.askedAt = -1;
      }
    return alert;
  }

  write(to: ByteWriter): void {
    to.count(this.retentionDays);
    to.count(this.#sources.size);
    for (const [partition, { through, askedAt }] of this.#sources) for (const number of [partition, through, askedAt]) to.count(number);
    to.count(this.#streams.size);
    for (const [id, { stream, source, seenAt, series }] of this.#streams) {
      to.text(id);
      to.text(Buffer.from(stream).toString('latin1'));
      to.count(source);
      to.count(seenAt);
      to.text(series.snapshot().toString('latin1'));
    }
    to.text(Buffer.from(JSON.stringify(this.#book)).toString('latin1'));
  }

  /** What `write` wrote; null or CutOff thrown where it is anything else. */
  static read(from: ByteReader): TenantWatch | null {
    const read = new TenantWatch();
    read.retentionDays = from.count(65_535);
    for (let left = from.count(65_535); left > 0; left--)
      read.#sources.set(from.count(65_535), { through: from.count(), askedAt: from.count() });
    for (let left = from.count(MAX_STREAMS); left > 0; left--) {
      const [id, stream] = [from.text(), utf8(from.text())];
      const [source, seenAt] = [from.count(65_535), from.count()];
      const series = restoreSeries(Buffer.from(from.text(), 'latin1'));
      if (series === null) return null;
      read.#streams.set(id, { stream, source, seenAt, series, askedAt: -1 });
    }
    read.#book = AlertBook.from(JSON.parse(utf8(from.text())));
    return read;
  }

  #add({ ids, streams, ends, minutes, entries, errors }: Rates, source: number, appendedAt: number, most: number): void {
    let row = 0;
    ids.forEach((id, index) => {
      const end = ends[index] as number;
      const watched = this.#watchedOf(id, source, most);
      if (watched === null) {
        row = end;
        return;
      }
      const stream = streams[index] ?? null;
      if (stream !== null && stream !== watched.stream) [watched.stream, watched.sensitivities, watched.askedAt] = [stream, undefined, -1];
      watched.source = source;
      watched.seenAt = Math.max(watched.seenAt, appendedAt);
      for (; row < end; row++)
        watched.series.add(minutes[row] as number, { entries: entries[row] as number, errors: errors[row] as number }, appendedAt);
      if (watched.series.isDue) watched.askedAt = -1;
    });
  }

  /** Null where there are `most` already. */
  #watchedOf(id: string, source: number, most: number): Watched | null {
    const known = this.#streams.get(id);
    if (known !== undefined || this.#streams.size >= most) return known ?? null;
    const watched: Watched = { stream: '', source, seenAt: 0, series: newSeries(), askedAt: -1 };
    this.#streams.set(id, watched);
    return watched;
  }

  #sensitivitiesOf(watched: Watched): ((detector: string) => Sensitivity) | undefined {
    if (this.#sensitivityOf === NORMAL) return undefined;
    const { stream } = watched;
    const known = (watched.sensitivities ??= new Map<string, Sensitivity>());
    return (detector) => {
      let found = known.get(detector);
      if (found === undefined) known.set(detector, (found = this.#sensitivityOf(detector, stream)));
      return found;
    };
  }

  /** What the series of a partition's streams have found, up to when it is counted. */
  #ask(tenantId: number, partition: number, through: number): Alert[] {
    // of an alert the last word counts
    const found = new Map<number, Alert>();
    const minute = Math.floor(through / MINUTE_MS);
    for (const [id, watched] of this.#streams) {
      const { stream, source, seenAt, series } = watched;
      const isGone = seenAt < through - FORGET_MS;
      if (source !== partition || (watched.askedAt === minute && !isGone)) continue;
      for (const finding of series.tick(through, this.#sensitivitiesOf(watched))) {
        if (stream === '') continue;
        const recent = series.recent(finding.detector, finding.window.end, SHOWN);
        const subject = { tenantId, retentionDays: this.retentionDays, stream, service: serviceOf(stream), recent };
        const alert = this.#book.take(finding, subject, Math.floor(through / 1000));
        if (alert !== null) found.set(alert.id, alert);
      }
      watched.askedAt = series.isDue ? -1 : minute;
      if (!isGone) continue;
      this.#streams.delete(id);
      for (const alert of this.#book.end(stream, Math.floor(through / 1000))) found.set(alert.id, alert);
    }
    return [...found.values()];
  }
}

const SIDES: readonly Side[] = ['up', 'down'];

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();
