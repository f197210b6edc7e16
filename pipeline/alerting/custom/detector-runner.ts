import type { RequestedSeries, LookedSeries } from './detector-messages.ts';
import { DetectorProcess } from './detector-process.ts';
import type { LoadedDetector } from './load-detectors.ts';

/** A detector that was switched off, and why. */
export type DetectorFailure = { readonly detector: string; readonly version: string; readonly reason: string };

/** Runs detectors of one's own. */
export interface DetectorRunner {
  readonly detectors: readonly Pick<LoadedDetector, 'name' | 'description' | 'version'>[];
  /** Its answer for points of these series; null where it has failed, now or before. Concurrent calls are answered one after the other. */
  look(detector: string, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[] | null>;
  /** It was switched on: what it did before is forgotten. */
  allow(detector: string): void;
}

export type ProcessRunnerOptions = {
  readonly detectors: readonly LoadedDetector[];
  /** Called once for each failure: the detector is not called before it is allowed again. */
  readonly onFailure: (failure: DetectorFailure) => void;
  /** Whether it is off already, though that was not read on the log yet: then it is not called, and has not failed again. */
  readonly isOff?: (detector: Pick<LoadedDetector, 'name' | 'version'>) => boolean;
  /** Called after each look: points, and the CPU that they took, milliseconds. */
  readonly onLook?: (detector: string, points: number, cpuMs: number) => void;
};

/** A detector, its process once it was called, and its last call. */
type Lane = { readonly detector: LoadedDetector; child: Promise<DetectorProcess> | null; last: Promise<unknown>; hasFailed: boolean };

/** Runs each detector in a process of its own, which begins with its first call. */
export class ProcessRunner implements DetectorRunner {
  readonly detectors: readonly LoadedDetector[];
  readonly #options: ProcessRunnerOptions;
  readonly #lanes: ReadonlyMap<string, Lane>;
  #isStopped = false;

  constructor(options: ProcessRunnerOptions) {
    this.#options = options;
    this.detectors = options.detectors;
    const laneOf = (detector: LoadedDetector): Lane => ({ detector, child: null, last: Promise.resolve(), hasFailed: false });
    this.#lanes = new Map(options.detectors.map((detector) => [detector.name, laneOf(detector)]));
  }

  async look(detector: string, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[] | null> {
    const lane = this.#lanes.get(detector);
    if (lane === undefined) throw new Error(`BUG: There is no detector ${detector}.`);
    const answer = lane.last.then(() => this.#query(lane, series));
    lane.last = answer;
    return answer;
  }

  allow(detector: string): void {
    const lane = this.#lanes.get(detector);
    if (lane !== undefined) lane.hasFailed = false;
  }

  /** Ends all processes. */
  stop(): void {
    this.#isStopped = true;
    for (const lane of this.#lanes.values()) this.#end(lane);
  }

  async #query(lane: Lane, series: readonly RequestedSeries[]): Promise<readonly LookedSeries[] | null> {
    // a process that was killed from outside is replaced, once
    for (const isLast of [false, true]) {
      if (lane.hasFailed || this.#isStopped || this.#options.isOff?.(lane.detector) === true) return null;
      let child: DetectorProcess | null = null;
      try {
        child = await (lane.child ??= this.#begun(lane.detector));
        const before = child.cpuMs ?? 0;
        const looked = await child.look(lane.detector.name, series);
        const points = series.reduce((sum, one) => sum + one.points.length, 0);
        this.#options.onLook?.(lane.detector.name, points, (child.cpuMs ?? 0) - before);
        return looked;
      } catch (error) {
        this.#end(lane);
        if (child?.isKilled === true && !isLast) continue;
        this.#fail(lane, error);
      }
    }
    return null;
  }

  async #begun(detector: LoadedDetector): Promise<DetectorProcess> {
    const child = new DetectorProcess();
    try {
      const found = await child.load(detector.source);
      if (!found.some(({ name }) => name === detector.name)) throw new Error(`The file has no detector ${detector.name} any more.`);
      return child;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  #fail(lane: Lane, error: unknown): void {
    if (this.#isStopped) return;
    lane.hasFailed = true;
    const { name, version } = lane.detector;
    this.#options.onFailure({ detector: name, version, reason: error instanceof Error ? error.message : String(error) });
  }

  #end(lane: Lane): void {
    const { child } = lane;
    lane.child = null;
    child?.then((one) => one.kill()).catch(() => undefined);
  }
}
