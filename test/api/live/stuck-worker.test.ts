import { expect } from 'chai';
import { isStuck } from '../../../api/live/live-hub.ts';

describe('a live worker that is silent', () => {
  const cases: readonly (readonly [about: string, silentMs: number, workedMs: number | null, isEnded: boolean])[] = [
    ['has just been asked', 0, 0, false],
    ['is about to answer', 2900, 2900, false],
    ['works and does not answer', 3000, 2800, true],
    ['works half of the time and does not answer', 3250, 1500, true],
    ['had no turn on a busy machine', 3250, 400, false],
    ['had no turn for long', 15_000, 400, true],
    ['does not answer, and nobody knows its CPU time', 3000, null, true],
  ];
  for (const [about, silentMs, workedMs, isEnded] of cases)
    it(`${about}: ${isEnded ? 'is ended' : 'goes on'}`, () => {
      expect(isStuck(silentMs, workedMs)).to.equal(isEnded);
    });
});
