import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { keptRuns, PAGE, render, SHOWN_MEASURES, type RunRecord } from './report.ts';

const RUN: RunRecord = {
  day: '2026-11-21',
  commit: 'abc1234',
  scenario: 'kill-sink',
  seed: 7,
  seconds: 60,
  counters: { 'kills of sink': 12 },
  measures: { 'catch-up, times the load': 3.5 },
  acked: 120_000,
  unknown: 5,
  lost: 0,
  twice: 0,
  deliveredPercent: 100,
  slowestRefusalMs: 0,
  recoveries: [{ what: 'sink: from its end to its start', times: 12, median: 4000, max: 7000 }],
  maxMemory: 130,
  violations: [],
};

/** The row of a table that begins with a cell. */
const rowOf = (text: string, first: string): string | undefined => text.split('\n').find((line) => line.startsWith(`${first} | `));

describe('the report', () => {
  it('adds all runs up', () => {
    const text = render([
      RUN,
      { ...RUN, scenario: 'pause-sink', counters: { 'SIGKILL after-intent': 3, 'pauses of sink, 1 s': 4 }, maxMemory: 170 },
    ]);
    expect(text).to.contain('In all: 2 runs, 120 s of load, 240,000 entries acknowledged, 15 kills, 4 pauses, 0 dropped produce answers');
    expect(text).to.contain('lost: 0; stored twice: 0; runs with another finding: 0. Most memory of a process: 170 MiB.');
  });

  it('has a row for each scenario over all of its runs; one of several counts for each of them', () => {
    const text = render([
      { ...RUN, day: '2026-11-23', scenario: 'kill-sink + kill-api' },
      { ...RUN, lost: 2, twice: 3, violations: [{ check: 'a position is beyond the log', count: 9 }] },
      { ...RUN, counters: { 'SIGKILL after-intent': 3, 'pauses of sink, 1 s': 4 } },
    ]);
    expect(rowOf(text, 'kill-sink')).to.equal('kill-sink | 3 | 180 | 31 | 360,000 | 2 | 3 | 1 | 2026-11-23');
    expect(rowOf(text, 'kill-api')).to.equal('kill-api | 1 | 60 | 12 | 120,000 | 0 | 0 | 0 | 2026-11-23');
    expect(text).to.contain('Acknowledged entries lost: 2; stored twice: 3; runs with another finding: 1.');
  });

  it('keeps every finding of every run in sight, whatever a later run has found', () => {
    const slow = { check: 'a refusal took more than 7500 ms', count: 1 };
    const text = render([
      { ...RUN, scenario: 'kill-sink + kill-api', violations: [slow, { check: 'a refused entry is present', count: 350 }] },
      { ...RUN, day: '2026-11-22', scenario: 'kill-all', violations: [slow, { ...slow, count: 2 }] },
      RUN,
    ]);
    expect(text).to.contain('- a refusal took more than 7500 ms: 4 in 2 (kill-sink+kill-api, kill-all; latest 2026-11-22)\n');
    expect(text).to.contain('- a refused entry is present: 350 in 1 (kill-sink+kill-api; latest 2026-11-21)\n');
  });

  it('has entries that were lost or stored twice in their columns, not among the other findings', () => {
    const violations = [
      { check: 'an acknowledged entry is not in the table', count: 2 },
      { check: 'an entry in doubt is in the table more than once', count: 3 },
    ];
    const text = render([{ ...RUN, lost: 2, twice: 3, violations }]);
    expect(rowOf(text, 'kill-sink')).to.contain(' | 2 | 3 | 0 | ');
    for (const { check } of violations) expect(text).not.to.contain(check);
    expect(text).to.contain('- none');
  });

  it('takes times of recovery from all runs', () => {
    const [recovery] = RUN.recoveries;
    const text = render([{ ...RUN, recoveries: recovery === undefined ? [] : [{ ...recovery, max: 90_000 }] }, RUN]);
    expect(rowOf(text, 'sink restarted')).to.equal('sink restarted | 24 | 4.0 | 90.0');
  });

  it('has the latest value of a measure, and the range of all runs', () => {
    const [once = '', often = ''] = SHOWN_MEASURES;
    const text = render([
      { ...RUN, measures: { [once]: 7, [often]: 9000 } },
      { ...RUN, measures: { [often]: 3, 'refusals of some kind': 5 } },
      { ...RUN, measures: { [often]: 3.5 } },
    ]);
    expect(text).to.contain(`\n${once} | 7\n`);
    expect(text).to.contain(`\n${often} | 3.5 (3 to 9,000)\n`);
    expect(text).not.to.contain('refusals of some kind');
  });

  it('says of a safety part whether every run without it was found out', () => {
    const text = render([
      { ...RUN, mutation: 'intent', twice: 9 },
      { ...RUN, mutation: 'intent', twice: 2_000 },
      { ...RUN, mutation: 'token', lost: 4 },
      { ...RUN, mutation: 'token' },
      { ...RUN, mutation: 'state-order', violations: [{ check: 'segments of the volume overlap', count: 4 }] },
    ]);
    expect(rowOf(text, 'intent')).to.equal('intent | 0 | 2,009 | 0 | 2 of 2');
    expect(rowOf(text, 'token')).to.equal('token | 4 | 0 | 0 | **1 of 2**');
    expect(rowOf(text, 'state-order')).to.equal('state-order | 0 | 0 | 4 | 1 of 1');
    expect(text).to.contain('In all: 0 runs');
  });
});

describe('the runs that were kept', () => {
  it('are on the page', () => {
    expect(readFileSync(PAGE, 'utf8')).to.contain(`\n\n${render(keptRuns())}\n`);
  });

  it('have every measure that the page shows', () => {
    const measured = new Set(keptRuns().flatMap(({ measures }) => Object.keys(measures ?? {})));
    expect(SHOWN_MEASURES.filter((name) => !measured.has(name))).to.deep.equal([]);
  });
});
