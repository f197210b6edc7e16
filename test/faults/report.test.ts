import { expect } from 'chai';
import { render, type RunRecord } from './report.ts';

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

describe('the report', () => {
  it('adds all runs up, and has a row for the latest ones that have each scenario', () => {
    const text = render([
      { ...RUN, seed: 6 },
      { ...RUN, seed: 7, scenario: 'kill-sink + kill-api' },
      { ...RUN, seed: 8, counters: { 'SIGKILL after-intent': 3, 'pauses of sink, 1 s': 4 } },
    ]);
    expect(text).to.contain('In all: 3 runs, 180 s of load, 360,000 entries acknowledged, 27 kills, 4 pauses');
    expect(text).to.contain('Acknowledged entries lost: 0; stored twice: 0; runs in which anything else was wrong: 0.');
    const row = '| 2026-11-21 | abc1234 |';
    expect(text).to.contain(`| kill-sink + kill-api ${row} 7 | 60 | 12 × kills of sink | 120,000 | 0 | 0 | 100 | 130 | nothing |`);
    expect(text).to.contain(`| kill-sink ${row} 8 |`);
    expect(text).not.to.contain(`${row} 6 |`);
    expect(text).to.contain('| kill-sink | 60 | catch-up, times the load | 3.5 |');
    expect(text).to.contain('| sink: from its end to its start | 24 | 4.0 | 7.0 |');
  });

  it('says of a mutation whether it was found out', () => {
    const text = render([
      { ...RUN, mutation: 'intent', twice: 9 },
      { ...RUN, mutation: 'token' },
      { ...RUN, mutation: 'state-order', violations: [{ check: 'segments of the volume overlap', count: 4 }] },
    ]);
    expect(text).to.contain('| intent | kill-sink | 2026-11-21 | 7 | 60 | 120000 | 0 | 9 | 0 | yes |');
    expect(text).to.contain('| 0 | 0 | 0 | **no** |');
    expect(text).to.contain('| 0 | 0 | 4 | yes |');
    expect(text).to.contain('In all: 0 runs');
  });
});
