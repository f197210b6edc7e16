import { expect } from 'chai';
import { readGoDuration } from '../../../api/traces/go-duration.ts';

describe('durations as Go writes them', () => {
  const READ: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['-0', 0],
    ['5s', 5e9],
    ['1h30m', 5.4e12],
    ['300us', 300_000],
    ['300µs', 300_000],
    ['300μs', 300_000],
    ['1.5ms', 1_500_000],
    ['.5s', 5e8],
    ['1.s', 1e9],
    ['-1m', -6e10],
    ['+2ns', 2],
    ['0.1ns', 0],
  ];
  for (const [text, nanoseconds] of READ)
    it(`${text} is ${String(nanoseconds)} ns`, () => expect(readGoDuration(text)).to.equal(nanoseconds));

  const REFUSED: readonly (readonly [string, string])[] = [
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['.s', 'time: invalid duration ".s"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1s 2s', 'time: unknown unit "s " in duration "1s 2s"'],
    ['9999999999h', 'time: invalid duration "9999999999h"'],
    ["' OR 1=1", 'time: invalid duration "\' OR 1=1"'],
  ];
  for (const [text, sentence] of REFUSED) it(`refuses ${JSON.stringify(text)}`, () => expect(readGoDuration(text)).to.equal(sentence));
});
