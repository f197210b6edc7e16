import type { Finding } from '../../detectors/detector.ts';
import { readJson } from '../../core/read-json.ts';

/** What a detector of one's own has found of a stream, as it lies on `partials.v1` (docs/adr/0029-custom-detectors.md). */
export type StreamFinding = {
  /** The id of the stream, a character for each of its eight bytes; empty for all others together. */
  readonly id: string;
  readonly finding: Finding;
  /** When the detector fires: a sentence of its own. */
  readonly about: string;
};

/** A finding as the value of a record. */
export const findingValue = ({ id, finding, about }: StreamFinding): Buffer =>
  Buffer.from(JSON.stringify({ id: Buffer.from(id, 'latin1').toString('hex'), finding, about }));

/** Reads a value; null where it is not a finding. */
export function readFinding(value: Buffer): StreamFinding | null {
  try {
    const { id, finding, about } = readJson(value.toString()) as {
      readonly id: string;
      readonly finding: Finding;
      readonly about: string;
    };
    const { detector, side, state, z, value: own, mean, scale, expected, window, firedAt, updatedAt, fireCount } = finding;
    const numbers = [z, own, mean, scale, expected.low, expected.high, window.start, window.end, firedAt, updatedAt, fireCount];
    const isFinding = [id, detector, about].every((text) => typeof text === 'string') && numbers.every(Number.isFinite);
    if (!isFinding || !['up', 'down'].includes(side) || !['firing', 'resolved'].includes(state)) return null;
    return { id: Buffer.from(id, 'hex').toString('latin1'), finding, about };
  } catch {
    return null;
  }
}
