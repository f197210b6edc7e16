import { serviceLabels } from '../../core/labels.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { newSeries, restoreSeries } from '../../detectors/series/series.ts';
import { Services, watchedBytes, type Sum } from './services.ts';
import type { WatchedSeries } from './watched-series.ts';

const MAX_STREAMS = 20_000;

/** A stream. */
export type Watched = WatchedSeries & {
  /** The label set of its service; empty for none. */
  service: string;
  /** The partition of the log that its last counts came from, and when those were appended, milliseconds. */
  source: number;
  seenAt: number;
};

/** The streams of a tenant and their services, which together take no more of a snapshot than they may: bytes, about. */
export class WatchedStreams {
  readonly #streams = new Map<string, Watched>();
  readonly services = new Services();
  #bytes = 0;

  /** Streams and services that are watched. */
  get size(): number {
    return this.#streams.size + this.services.size;
  }

  get bytes(): number {
    return this.#bytes + this.services.bytes;
  }

  find(id: string): Watched | undefined {
    return this.#streams.get(id);
  }

  /** The streams by their ids. */
  [Symbol.iterator](): IterableIterator<[string, Watched]> {
    return this.#streams.entries();
  }

  *all(): Generator<WatchedSeries> {
    yield* this.#streams.values();
    yield* this.services;
  }

  /** The streams of a service. */
  membersOf({ stream }: Sum): readonly Watched[] {
    return [...this.services.members(stream)].map((id) => this.#streams.get(id) as Watched);
  }

  /** A stream, watched from now on; null where there is no room for another. */
  watch(id: string, source: number, most: number): Watched | null {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    if (this.bytes + watchedBytes('') > most) return null;
    this.#bytes += watchedBytes('');
    const watched: Watched = { stream: '', service: '', source, seenAt: 0, series: newSeries(), evaluatedAt: -1 };
    this.#streams.set(id, watched);
    return watched;
  }

  /** Takes the label set of a stream, if it fits: without one nothing is published of it. */
  name(id: string, watched: Watched, stream: string, most: number): void {
    const grown = watchedBytes(stream) - watchedBytes(watched.stream);
    if (this.bytes + grown > most) return;
    this.#bytes += grown;
    if (watched.stream !== '') this.services.leave(watched.service, id);
    [watched.stream, watched.sensitivities, watched.evaluatedAt] = [stream, undefined, -1];
    watched.service = serviceLabels(stream);
    const mayTake = this.bytes + watchedBytes(watched.service) <= most;
    this.services.join(watched.service, id, (first) => this.#streams.get(first), mayTake);
  }

  /** True where its service is not watched any more either. */
  forget(id: string, { stream, service }: Watched): boolean {
    this.#streams.delete(id);
    this.#bytes -= watchedBytes(stream);
    return this.services.leave(service, id);
  }

  /** A slice of the snapshot for each series. */
  *write(to: ByteWriter): Generator<undefined, void> {
    to.count(this.#streams.size);
    for (const [id, { stream, source, seenAt, series }] of this.#streams) {
      to.text(id);
      to.text(Buffer.from(stream).toString('latin1'));
      to.count(source);
      to.count(seenAt);
      to.bytes(series.snapshot());
      yield;
    }
    yield* this.services.write(to);
  }

  /** What `write` wrote, or an older release, which had no services; null or CutOff thrown where it is anything else. */
  static read(from: ByteReader, hasServices: boolean): WatchedStreams | null {
    const read = new WatchedStreams();
    for (let left = from.count(MAX_STREAMS); left > 0; left--) {
      const [id, stream] = [from.text(), Buffer.from(from.text(), 'latin1').toString()];
      const [source, seenAt] = [from.count(65_535), from.count()];
      const series = restoreSeries(from.bytes());
      if (series === null) return null;
      const service = stream === '' ? '' : serviceLabels(stream);
      read.#streams.set(id, { stream, service, source, seenAt, series, evaluatedAt: -1 });
      read.#bytes += watchedBytes(stream);
      read.services.join(service, id, () => undefined, !hasServices);
    }
    return hasServices && !read.services.read(from) ? null : read;
  }
}
