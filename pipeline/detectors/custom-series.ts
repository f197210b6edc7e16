import { ByteReader, ByteWriter, unlessDamaged } from '../core/snapshot-bytes.ts';
import { lookAt, MAX_STATE, type CustomDetector, type Point, type Seen } from './custom.ts';
import type { Finding } from './detector.ts';
import { Episodes } from './episode.ts';
import type { PointDetector, PointSeries } from './point-series.ts';
import { readJson } from '../core/read-json.ts';

/** When what a detector of one's own has seen makes an alert fire, go on and end: the same for all of them. */
export class CustomEpisodes {
  #episodes = new Episodes();
  /** What was expected when it fired last. */
  #expected: Finding['expected'] = { low: 0, high: 0 };

  /** True while an alert fires. */
  get isOpen(): boolean {
    return this.#episodes.open !== null;
  }

  /** Takes what was seen at the next minute, if anything; returns its finding. */
  take(name: string, minute: number, seen: Seen | null): Finding | null {
    if (seen === null) return this.#ended(this.#episodes.look(minute, true).finding);
    const { side, z, mean, low, high, scale, value } = seen;
    const bound = side === 'up' ? high : low;
    const finding = this.#episodes.fire(name, side, minute, { scale, z, value, mean, bound }, null);
    if (finding === null) return this.#ended(this.#episodes.look(minute, false).finding);
    this.#expected = { low, high };
    return { ...finding, expected: this.#expected };
  }

  /** Ends what fires, since it is no longer watched; returns the finding, if any. */
  end(minute: number): Finding | null {
    return this.#ended(this.#episodes.end(minute));
  }

  write(to: ByteWriter): void {
    this.#episodes.write(to);
    to.text(JSON.stringify([this.#expected.low, this.#expected.high]));
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): CustomEpisodes {
    const read = new CustomEpisodes();
    read.#episodes = Episodes.read(from);
    const [low, high] = readJson(from.text()) as [number, number];
    read.#expected = { low, high };
    return read;
  }

  #ended(finding: Finding | null): Finding | null {
    return finding === null ? null : { ...finding, expected: this.#expected };
  }
}

/** A detector of one's own, behind the interface of the built-in ones; it runs in this process. */
export const pointDetectorOf = (detector: CustomDetector): PointDetector => ({
  name: detector.name,
  description: detector.description,
  newSeries: () => new CustomSeries(detector),
  restoreSeries: (bytes) => CustomSeries.restore(detector, bytes),
});

/** A series that a detector of one's own looks at. */
class CustomSeries implements PointSeries {
  readonly #detector: CustomDetector;
  #episodes = new CustomEpisodes();
  #state: unknown;

  constructor(detector: CustomDetector) {
    this.#detector = detector;
    this.#state = detector.init();
  }

  /** Throws an Error with a sentence where the detector gives what it may not. */
  add(point: Point): readonly Finding[] {
    const { state, seen } = lookAt(this.#detector, this.#state, point);
    this.#state = state;
    const finding = this.#episodes.take(this.#detector.name, point.minute, seen);
    return finding === null ? [] : [finding];
  }

  snapshot(): Buffer {
    const to = new ByteWriter();
    to.text(Buffer.from(JSON.stringify(this.#state)).toString('latin1'));
    this.#episodes.write(to);
    return to.finish();
  }

  static restore(detector: CustomDetector, bytes: Buffer): CustomSeries | null {
    const from = new ByteReader(bytes);
    return unlessDamaged(() => {
      const text = Buffer.from(from.text(), 'latin1').toString();
      if (text.length > MAX_STATE) return null;
      const read = new CustomSeries(detector);
      read.#state = readJson(text);
      read.#episodes = CustomEpisodes.read(from);
      return from.isAtEnd ? read : null;
    });
  }
}
