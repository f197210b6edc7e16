import type { Finding, Series } from '../../detectors/detector.ts';
import { newSeries, restoreSeries } from '../../detectors/series/series.ts';
import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Part } from '../evidence/alert-text.ts';
import type { WatchedSeries } from './watched-series.ts';

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
export const watchedBytes = (labels: string): number => SERIES_BYTES + Buffer.byteLength(labels);
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
export class Services {
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
