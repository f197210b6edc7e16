import { expect } from 'chai';
import { nearest } from '../../../pipeline/core/nearest.ts';

const NAMES = ['service', 'status', 'start', 'end', 'level', 'limit', 'query'];

describe('the nearest name', () => {
  for (const [name, meant] of [
    ['servce', 'service'],
    ['sevrice', 'service'],
    ['Service', 'service'],
    ['strat', 'start'],
    ['ned', 'end'],
    ['lmit', 'limit'],
    ['statsu', 'status'],
    ['host', null],
    ['en', 'end'],
    ['x', null],
    ['', null],
    ['service', null],
    ['s'.repeat(100_000), null],
  ] as const)
    it(`of ${JSON.stringify(name.slice(0, 20))} is ${String(meant)}`, () => expect(nearest(name, NAMES)).to.equal(meant));
});
