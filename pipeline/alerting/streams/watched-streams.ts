import type { Sensitivity, Series, Finding } from '../../detectors/detector.ts';
import { newSeries, restoreSeries } from '../../detectors/series/series.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Part } from './alert-words.ts';
import { serviceLabels } from '../../core/labels.ts';

/** What detectors evaluate, and what is remembered of it. */
export type WatchedSeries = {
  /** Its label set; empty until it is known. */
  stream: string;
  readonly series: Series;
  /** The minute in which it was evaluated last; -1 where it is due. */
  evaluatedAt: number;
  /** How easily each detector fires, as far as it was evaluated; undefined where that has changed. */
  sensitivities?: Map<string, Sensitivity> | undefined;
};

/** Services of a tenant that are watched, at most; each takes as much as a stream. */
const MOST_SERVICES = 1000;
/** A partition of the log without entries of a tenant for this long is no longer waited for. Milliseconds. */
const QUIET_MS = 2 * 3_600_000;
/** Of a stream that makes up more of it than this it is the stream's own alert. */
const MOST_OF_ONE = 2 / 3;
/** Young streams that have this share of what others lack have taken it over. */
const MOST_TAKEN = 1 / 2;
/** Streams that the evidence of a service names. */
const NAMED = 5;

/** What a stream or service takes in a snapshot, at most, about: its series, and its label set. */
const watchedBytes = (labels: string): number => SERIES_BYTES + Buffer.byteLength(labels);
const SERIES_BYTES = 4096;

/** A service of several streams: their counts added up, whichever partitions of the log they lie in. */
export type Sum = WatchedSeries & {
  /** Up to when it was evaluated, by append time, milliseconds. */
  through: number;
  /** The partitions that its entries came from, and when the last ones were appended, milliseconds. */
  readonly sources: Map<number, number>;
};

/** A stream as it was counted last: by which partition of the log, and up to which append time, milliseconds. */
type Counted = { readonly series: Series; readonly source: number; readonly seenAt: number };

type Service = { readonly members: Set<string>; sum: Sum | null };

/** The services of a tenant, by the label set that their streams share; streams by their ids. */
class Services {
  readonly #all = new Map<string, Service>();
  #sums = 0;
  #bytes = 0;

  /** Services that are watched. */
  get size(): number {
    return this.#sums;
  }

  /** What those that are watched take in a snapshot, at most, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a stream. The second one makes a service a series: what it had so far is what the first one had. */
  join(labels: string, id: string, streamOf: (id: string) => Counted | undefined, mayTake: boolean): void {
    if (labels === '') return;
    let service = this.#all.get(labels);
    if (service === undefined) this.#all.set(labels, (service = { members: new Set(), sum: null }));
    const [first] = service.members;
    service.members.add(id);
    if (service.sum !== null || service.members.size < 2 || !mayTake || this.#sums >= MOST_SERVICES) return;
    const alone = service.members.size === 2 && first !== undefined ? streamOf(first) : undefined;
    const before = alone === undefined ? null : restoreSeries(Buffer.from(alone.series.snapshot()));
    this.#watch(service, sumOf(labels, before ?? newSeries(), new Map(alone === undefined ? [] : [[alone.source, alone.seenAt]])));
  }

  /** A stream is forgotten. True where its service has one stream left, or none, and is not watched any more. */
  leave(labels: string, id: string): boolean {
    const service = this.#all.get(labels);
    service?.members.delete(id);
    if (service === undefined || service.members.size > 1) return false;
    if (service.members.size === 0) this.#all.delete(labels);
    if (service.sum === null) return false;
    service.sum = null;
    this.#sums -= 1;
    this.#bytes -= watchedBytes(labels);
    return true;
  }

  /** The series of a service; null where it has none. */
  sum(labels: string): Sum | null {
    return this.#all.get(labels)?.sum ?? null;
  }

  /** The ids of its streams. */
  members(labels: string): ReadonlySet<string> {
    return this.#all.get(labels)?.members ?? new Set();
  }

  *[Symbol.iterator](): Generator<Sum> {
    for (const { sum } of this.#all.values()) if (sum !== null) yield sum;
  }

  /** A slice of the snapshot for each series. */
  *write(to: ByteWriter): Generator<undefined, void> {
    to.count(this.#sums);
    for (const { stream, series, through, sources } of this) {
      to.text(Buffer.from(stream).toString('latin1'));
      to.count(through);
      to.count(sources.size);
      for (const [partition, seenAt] of sources) for (const number of [partition, seenAt]) to.count(number);
      to.bytes(series.snapshot());
      yield;
    }
  }

  /** Takes what `write` wrote, whose streams have joined; false or CutOff thrown where it is anything else. */
  read(from: ByteReader): boolean {
    for (let left = from.count(MOST_SERVICES); left > 0; left--) {
      const stream = Buffer.from(from.text(), 'latin1').toString();
      const [through, sources] = [from.count(), new Map<number, number>()];
      for (let more = from.count(65_535); more > 0; more--) sources.set(from.count(65_535), from.count());
      const [series, service] = [restoreSeries(from.bytes()), this.#all.get(stream)];
      if (series === null || service === undefined || service.sum !== null) return false;
      this.#watch(service, { ...sumOf(stream, series, sources), through });
    }
    return true;
  }

  #watch(service: Service, sum: Sum): void {
    service.sum = sum;
    this.#sums += 1;
    this.#bytes += watchedBytes(sum.stream);
  }
}

const sumOf = (stream: string, series: Series, sources: Sum['sources']): Sum => ({ stream, series, evaluatedAt: -1, through: 0, sources });

/** Up to when all of a service's partitions are counted, given up to when each is; 0 where one of them is not known. */
export function countedThrough({ sources }: Pick<Sum, 'sources'>, throughOf: (partition: number) => number): number {
  const newest = Math.max(...[...sources.keys()].map(throughOf));
  const waitedFor = [...sources].filter(([, seenAt]) => seenAt >= newest - QUIET_MS).map(([partition]) => throughOf(partition));
  return Math.min(newest, ...waitedFor);
}

/**
 * What of a service's finding its streams have, the largest parts first. `isTheirs`: the streams report it, and not the service, since one
 * of them fires itself on the same side, or has most of it.
 */
export function partsOf(
  finding: Finding,
  streams: readonly WatchedSeries[],
): { readonly parts: readonly Part[]; readonly isTheirs: boolean } {
  const { detector, side, window, scale, value, mean } = finding;
  const whole = Math.max(1, Math.abs(value - mean) * scale);
  const parts = streams.map(({ stream, series }) => ({ stream, share: (series.departure(detector, side, window) ?? 0) / whole }));
  const isTheirs = streams.some(({ series }, index) => series.firing(detector)?.side === side || (parts[index]?.share ?? 0) > MOST_OF_ONE);
  return { parts: parts.sort((a, b) => b.share - a.share).slice(0, NAMED), isTheirs };
}

/**
 * Whether streams of a service that are too young to have a past have taken over what others have lost: as when the pods of a release take the
 * place of those before them. Then none of these has fallen silent.
 */
export function handedOver({ detector, side, window }: Finding, streams: readonly WatchedSeries[]): boolean {
  let [lost, taken] = [0, 0];
  for (const { series } of streams) {
    const departure = series.departure(detector, side, window);
    if (departure !== null) lost += Math.max(0, departure);
    else for (const entries of series.recent(detector, window.end, window.end - window.start + 1)) taken += entries;
  }
  return taken > 0 && taken >= lost * MOST_TAKEN;
}

/** Whether what a stream finds is a part of what its service fires for: the same detector and side. */
export function isPart({ detector, side }: Finding, sum: Sum): boolean {
  const firing = sum.series.firing(detector);
  return firing?.detector === detector && firing.side === side;
}

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
