import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { LoadTotals } from './load.ts';
import type { Memory } from './monitor.ts';
import { percentAtRest, serviceFaults } from './verdict.ts';

describe('verdict on memory', () => {
  const logs = mkdtempSync(path.join(os.tmpdir(), 'logweir-verdict-'));
  after(() => rmSync(logs, { recursive: true }));

  const checks = (memory: Memory): string[] =>
    serviceFaults({ oddAnswers: [] as readonly string[] } as LoadTotals, { 'sink-1': memory }, logs).map(({ check }) => check);

  const MOST = 'a process took more than 350 MiB';
  const cases: readonly (readonly [string, Memory, readonly string[]])[] = [
    ['at its bound for a moment', { start: 90, warm: 120, max: 350, end: 120 }, []],
    ['above it for a moment', { start: 90, warm: 120, max: 351, end: 120 }, [MOST]],
  ];
  for (const [name, memory, expected] of cases) {
    it(name, () => {
      expect(checks(memory)).to.deep.equal(expected);
    });
  }

  it('tells how much is kept at rest by the process that keeps most, after a run that was long enough', () => {
    const [kept, back] = [
      { start: 90, warm: 100, max: 300, end: 150 },
      { start: 90, warm: 100, max: 200, end: 90 },
    ];
    expect(percentAtRest({ a: back, b: kept })).to.equal(150);
    expect(percentAtRest({ a: { ...kept, warm: null } })).to.equal(null);
  });
});
