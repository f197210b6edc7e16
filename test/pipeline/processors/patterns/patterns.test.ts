import { expect } from 'chai';
import fc from 'fast-check';
import { OVERFLOW_FINGERPRINT } from '../../../../pipeline/clusterer/clusterer.ts';
import { fingerprintOf } from '../../../../pipeline/clusterer/shapes.ts';
import { COUNTS_ALL, COUNTS_CLOSED, COUNTS_STREAM, type PatternCount } from '../../../../pipeline/counters/pattern-counts.ts';
import { readColumns } from '../../../../pipeline/logs/columns/column-reader.ts';
import { FoldedPatterns } from '../../../fakes/folded-patterns.ts';
import { messageOf } from './messages.ts';

/** 2026-11-24 00:00 UTC. */
const START = 1_795_478_400_000;
const HOUR_MS = 3_600_000;
const idOf = (fingerprint: string): bigint => BigInt(`0x${fingerprint.slice(0, 16)}`);
const OVERFLOW = idOf(OVERFLOW_FINGERPRINT);
const numberOf = (template: string): bigint => idOf(fingerprintOf(template));

const entry = (at: number, _msg: string, more: object = {}): object => ({ _time: new Date(at).toISOString(), _msg, app: 'a', ...more });
const sum = (rows: readonly PatternCount[]): number => rows.reduce((all, { entries }) => all + entries, 0);
const key = (row: Omit<PatternCount, 'entries' | 'first' | 'last'>): string =>
  [row.tenantId, row.span, row.time, row.pattern, row.streamId, row.severity].join('/');

/** What rows of a span say of each group, and what the records of the log say. */
function counted(world: FoldedPatterns, span: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const row of world.counts)
    if (row.span === span && row.scope === COUNTS_STREAM) sums.set(key(row), (sums.get(key(row)) ?? 0) + row.entries);
  return new Map([...sums].sort());
}

function recounted(world: FoldedPatterns, span: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const partition of [0, 1])
    for (const { value, headers } of world.messages(partition)) {
      const count = Number(headers?.['count'] ?? 0);
      if (count === 0 || value === null) continue;
      const view = readColumns(value, count);
      if (typeof view === 'string') throw new Error(view);
      for (let row = 0; row < count; row++) {
        const seconds = Number(view.bytes.readBigInt64LE(view.time + 8 * row) / 1_000_000_000n);
        const group = key({
          ...{ tenantId: Number(headers?.['tenant']), retentionDays: 0, scope: 0, span, time: Math.floor(seconds / span) * span },
          ...{ pattern: view.bytes.readBigUInt64LE(view.pattern + 8 * row), streamId: view.bytes.readBigUInt64LE(view.streamId + 8 * row) },
          ...{ severity: view.bytes[view.severity + row] as number, part: 0, partition: 0, segment: 0, until: 0, run: 0 },
        });
        sums.set(group, (sums.get(group) ?? 0) + 1);
      }
    }
  return new Map([...sums].sort());
}

const came = fc.record({
  partition: fc.nat(1),
  later: fc.integer({ min: -2000, max: 900_000 }),
  tenantId: fc.integer({ min: 1, max: 2 }),
  what: fc.constantFrom('entries', 'entries', 'entries', 'tick', 'save', 'kill'),
  entries: fc.array(fc.record({ text: fc.nat(5), app: fc.constantFrom('a', 'b'), level: fc.constantFrom('', 'info', 'error'), ago: fc.nat(7_200_000) }), { maxLength: 8 }), // prettier-ignore
});

describe('the counts of patterns', () => {
  it('are those of the log by minutes and by hours, whatever is killed', () => {
    fc.assert(
      fc.property(fc.array(came, { minLength: 1, maxLength: 40 }), (all) => {
        const world = new FoldedPatterns();
        let at = START;
        for (const { partition, later, tenantId, what, entries } of all) {
          at += later;
          if (what === 'tick') world.tick(at);
          else if (what === 'save') world.save();
          else if (what === 'kill') world.kill();
          else
            world.log(
              partition,
              entries.map(({ text, ago, ...more }) => entry(at - ago, messageOf(text), more)),
              { appendedAt: at, tenantId },
            );
        }
        world.tick(at + 2 * HOUR_MS);
        for (const span of [60, 3600]) expect(counted(world, span), String(span)).to.deep.equal(recounted(world, span));
        // every tenant is told behind its rows that a segment is closed
        const ended = new Set(world.counts.filter(({ scope }) => scope === COUNTS_CLOSED).map(({ tenantId, until }) => [tenantId, until].join('/'))); // prettier-ignore
        for (const { tenantId, until } of world.counts) expect(ended.has([tenantId, until].join('/'))).to.equal(true);
      }),
      { numRuns: 60 },
    );
  });

  it('have the times of the earliest and the latest entry, and pass over entries without a pattern', () => {
    const world = new FoldedPatterns(1);
    const entries = [entry(START + 1500, 'took 5 ms'), entry(START + 250, 'took 7 ms'), entry(START + 900, 'took 9 ms')];
    world.log(0, entries, { appendedAt: START });
    world.tick(START + HOUR_MS);
    const [row] = world.counts.filter(({ span, scope }) => span === 60 && scope === COUNTS_STREAM);
    expect(row).to.include({ entries: 3, first: START + 250, last: START + 1500, pattern: numberOf('took <N>'), time: START / 1000 });
  });

  it('lose no entry of a tenant that has too many patterns, and are exact for the others', () => {
    const world = new FoldedPatterns(1, { maxGroups: 200 });
    for (let record = 0; record < 10; record++) {
      const at = START + record * 100;
      const words = Array.from({ length: 100 }, (_none, index) => entry(at, `unlike ${'abcdefghij'[record] ?? ''}${messageOf(index)}`, { app: `a${String(index)}` })); // prettier-ignore
      world.log(0, words, { appendedAt: at, tenantId: 2 });
      world.log(0, [entry(at, 'took 5 ms'), entry(at, 'started')], { appendedAt: at, tenantId: 1 });
    }
    world.tick(START + 2 * HOUR_MS);
    for (const span of [60, 3600]) {
      const rows = world.counts.filter((row) => row.span === span);
      const [own, hostile] = [1, 2].map((tenant) => rows.filter(({ tenantId }) => tenantId === tenant)) as [PatternCount[], PatternCount[]];
      expect(sum(hostile)).to.equal(1000);
      expect(hostile.find(({ pattern }) => pattern === OVERFLOW)).to.include({ scope: COUNTS_ALL, severity: 0 });
      expect(own.filter(({ scope }) => scope === COUNTS_STREAM).map(({ entries }) => entries)).to.deep.equal([10, 10]);
    }
    expect(world.counts.length).to.be.below(1000);
  });

  it('go on behind records that are missing', () => {
    const world = new FoldedPatterns(1);
    world.log(0, [entry(START, 'started')], { appendedAt: START });
    // an offset that is not the next one
    (world.messages(0) as unknown[]).push(null);
    world.log(0, [entry(START, 'started')], { appendedAt: START + 1000 });
    world.tick(START + 2 * HOUR_MS);
    const hours = world.counts.filter(({ span, scope }) => span === 3600 && scope === COUNTS_STREAM);
    expect(hours.map(({ run, entries }) => [run, entries])).to.deep.equal([
      [0, 1],
      [START + 1000, 1],
    ]);
  });
});
