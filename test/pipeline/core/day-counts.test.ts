import { expect } from 'chai';
import fc from 'fast-check';
import {
  addCount,
  addCounts,
  countOf,
  countsFromJson,
  countsToJson,
  dayOf,
  dayText,
  type DayCounts,
} from '../../../pipeline/core/day-counts.ts';

const anyCounts = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 1e12 })))
  .map((list) => {
    const counts: DayCounts = new Map();
    for (const [day, tenant, bytes] of list) addCount(counts, day, tenant, bytes);
    return counts;
  });
const copy = (counts: DayCounts): DayCounts => structuredClone(counts);

describe('day counts', () => {
  it('take away what was added, and then hold nothing', () => {
    fc.assert(
      fc.property(anyCounts, anyCounts, (first, second) => {
        const sum = copy(first);
        addCounts(sum, second);
        addCounts(sum, first, -1);
        expect(sum).to.deep.equal(second);
        addCounts(sum, second, -1);
        expect(sum.size).to.equal(0);
      }),
    );
  });

  it('come back from JSON as they were', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        expect(countsFromJson(JSON.parse(JSON.stringify(countsToJson(counts))))).to.deep.equal(counts);
      }),
    );
  });

  for (const json of [
    null,
    1,
    {},
    [1],
    [[1]],
    [[1, 2]],
    [['1', []]],
    [[-1, []]],
    [[1, [[1]]]],
    [[1, [[1, -2]]]],
    [[1, [[1, 1.5]]]],
    [[1, [[1, 2 ** 53]]]],
  ])
    it(`are not ${JSON.stringify(json)}`, () => expect(countsFromJson(json)).to.equal(null));

  it('know the UTC day of a time', () => {
    const midnight = Date.UTC(2026, 10, 21);
    expect([midnight - 1, midnight, midnight + 86_399_999].map((ms) => dayText(dayOf(ms)))).to.deep.equal([
      '2026-11-20',
      '2026-11-21',
      '2026-11-21',
    ]);
    expect(countOf(new Map(), 1, 1)).to.equal(0);
  });
});
