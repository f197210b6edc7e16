import path from 'node:path';
import { holdDetectors, type HeldDetector } from '../pipeline/alerting/custom/detector-contract.ts';

/** Holds the detectors of a file, whose name counts from the working folder, to their contract; rejects with a sentence where it cannot be used. */
export const holdDetectorFile = (file: string): Promise<readonly HeldDetector[]> =>
  holdDetectors({ specifier: path.resolve(file), folder: process.cwd() });
