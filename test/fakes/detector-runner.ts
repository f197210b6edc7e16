import { lookAt, type CustomDetector } from '../../pipeline/detectors/custom.ts';
import type { RequestedSeries, LookedSeries } from '../../pipeline/alerting/custom/detector-messages.ts';
import type { DetectorRunner } from '../../pipeline/alerting/custom/detector-runner.ts';

/** Asks detectors in this process; keeps what has failed, and which were allowed again. */
export class FakeRunner implements DetectorRunner {
  readonly detectors: { readonly name: string; readonly description: string; readonly version: string }[];
  readonly failures: string[] = [];
  readonly allowed: string[] = [];
  readonly #detectors: readonly CustomDetector[];
  readonly #failed = new Set<string>();

  constructor(detectors: readonly CustomDetector[], version = 'v1') {
    this.#detectors = detectors;
    this.detectors = detectors.map(({ name, description }) => ({ name, description, version }));
  }

  async look(name: string, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[] | null> {
    // others have their turn, as with a process
    await Promise.resolve();
    const detector = this.#detectors.find((one) => one.name === name);
    if (detector === undefined || this.#failed.has(name)) return null;
    try {
      return series.map((one) => looked(detector, one));
    } catch {
      this.#failed.add(name);
      this.failures.push(name);
      return null;
    }
  }

  allow(name: string): void {
    this.#failed.delete(name);
    this.allowed.push(name);
  }
}

function looked(detector: CustomDetector, { state: before, points }: RequestedSeries): LookedSeries {
  let state: unknown = before === null ? detector.init() : JSON.parse(before);
  let text = before ?? '';
  const seen: LookedSeries['seen'][number][] = [];
  points.forEach(([minute, value, entries, errors], index) => {
    const found = lookAt(detector, state, { minute, value, entries, errors });
    [state, text] = [found.state, found.text];
    if (found.seen !== null) seen.push([index, found.seen]);
  });
  return { state: text, seen };
}
