import { defaultExport } from '../../pipeline/core/default-export.ts';
import { pointDetectorOf } from '../../pipeline/detectors/custom-series.ts';
import { detectorFault, type CustomDetector, type Point } from '../../pipeline/detectors/custom.ts';
import type { Finding } from '../../pipeline/detectors/detector.ts';
import { pointDetectors, type PointDetector } from '../../pipeline/detectors/point-series.ts';
import { UsageError } from '../output.ts';

/** A detector that history is given to. */
export type Replay = {
  readonly name: string;
  /** What it finds in the minutes of a series, in their order, none left out. */
  readonly run: (points: readonly Point[]) => Finding[];
};

/** The detector of a name (of the service's own), or of a file. Throws UsageError where there is none. */
export async function replayOf(name: string): Promise<Replay> {
  const own = pointDetectors.find(name);
  if (own !== undefined) return replayWith(own);
  if (!/[./\\]/.test(name))
    throw new UsageError(`There is no detector ${JSON.stringify(name)}: give a file, or one of ${pointDetectors.names.join(', ')}.`);
  const found = await defaultExport(name, 'detector');
  const fault = detectorFault(found);
  if (fault !== null) throw new UsageError(`The detector ${name} cannot be used: ${fault}`);
  return replayWith(pointDetectorOf(found as CustomDetector));
}

const replayWith = (detector: PointDetector): Replay => ({
  name: detector.name,
  run(points) {
    const series = detector.newSeries();
    return points.flatMap((point) => series.add(point));
  },
});
