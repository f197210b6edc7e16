import { expect } from 'chai';
import { renderResult } from '../../../api/query/render.ts';

describe('a row of an answer', () => {
  for (const [time, shown] of [
    ['2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['2026-11-18T10:00:00.1Z', '2026-11-18T10:00:00.100Z'],
    ['2026-11-18T10:00:00.12Z', '2026-11-18T10:00:00.120Z'],
    ['2026-11-18T10:00:00.123Z', '2026-11-18T10:00:00.123Z'],
    ['2026-11-18T10:00:00.1234Z', '2026-11-18T10:00:00.123400Z'],
    ['2026-11-18T10:00:00.12345678Z', '2026-11-18T10:00:00.123456780Z'],
    ['soon', 'soon'],
  ] as const)
    it(`shows the time ${time} as ${shown}, in its place`, () => {
      const row = new Map([
        ['a', time],
        ['_time', time],
        ['b', ''],
      ]);
      expect(renderResult(row)).to.equal(`{"a":${JSON.stringify(time)},"_time":${JSON.stringify(shown)}}`);
    });
});
