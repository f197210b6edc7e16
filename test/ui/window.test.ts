import { expect } from 'chai';
import { before as windowBefore, endOf, moved, readWindow, spanOf, zoomedOut, shorterThan } from '../../web/ui/base/window.ts';

const NOW = Date.parse('2026-11-20T22:50:00Z');
const iso = (text: string): string => new Date(text).toISOString();
const about = (text: string): { from: string; to: string } => ({
  from: new Date(Date.parse(text) - 60_000).toISOString(),
  to: new Date(Date.parse(text) + 60_000).toISOString(),
});

describe('a pasted time', () => {
  const rows: readonly (readonly [string, { from: string; to: string } | null])[] = [
    ['-90m', { from: '-90m', to: 'now' }],
    [' 90m ', { from: '-90m', to: 'now' }],
    ['-2 days', { from: '-2d', to: 'now' }],
    ['-3h now', { from: '-3h', to: 'now' }],
    ['-3h to -1h', { from: '-3h', to: '-1h' }],
    ['22:40-22:45', { from: iso('2026-11-20T22:40Z'), to: iso('2026-11-20T22:45Z') }],
    ['22:40 – 22:45', { from: iso('2026-11-20T22:40Z'), to: iso('2026-11-20T22:45Z') }],
    ['23:50-00:10', { from: iso('2026-11-19T23:50Z'), to: iso('2026-11-20T00:10Z') }],
    ['22:44:35', about('2026-11-20T22:44:35Z')],
    ['23:00', about('2026-11-19T23:00:00Z')],
    ['2026-11-20T22:44:35.041812377Z', about('2026-11-20T22:44:35.041Z')],
    ['2026-11-20 22:44:35', about('2026-11-20T22:44:35Z')],
    ['2026-11-20T22:44:35+01:00', about('2026-11-20T21:44:35Z')],
    ['2026-11-20T22:44:35+0100', about('2026-11-20T21:44:35Z')],
    ['2026-11-20', { from: iso('2026-11-20T00:00Z'), to: iso('2026-11-21T00:00Z') }],
    ['2026-11-20T21:00Z - 2026-11-20T22:00Z', { from: iso('2026-11-20T21:00Z'), to: iso('2026-11-20T22:00Z') }],
    ['2026-11-19 2026-11-20', { from: iso('2026-11-19T00:00Z'), to: iso('2026-11-20T00:00Z') }],
    ['1795214675', about('2026-11-20T22:44:35Z')],
    ['1795214675000', about('2026-11-20T22:44:35Z')],
    ['1795214675000000', about('2026-11-20T22:44:35Z')],
    ['1795214675041812377', about('2026-11-20T22:44:35.041Z')],
    ['level=error ts=2026-11-20T22:44:35Z msg="x" next=2026-11-20T23:00:00Z', about('2026-11-20T22:44:35Z')],
    ['Nov 20 22:44:35 h1 sshd[12]: closed', about('2026-11-20T22:44:35Z')],
    ['Dec  1 10:00:00 h1 sshd[12]: closed', about('2025-12-01T10:00:00Z')],
    ['1.2.3.4 - - [20/Nov/2026:22:44:35 +0100] "GET / HTTP/1.1" 200', about('2026-11-20T21:44:35Z')],
    ['{"time":1795214675,"msg":"x"}', about('2026-11-20T22:44:35Z')],
    ['', null],
    ['yesterday-ish', null],
    ['25:00', null],
    ['99999999999999999999', null],
    ['-5x', null],
  ];
  for (const [text, window] of rows)
    it(`${JSON.stringify(text)} is ${window === null ? 'none' : `${window.from} to ${window.to}`}`, () =>
      expect(readWindow(text, 'utc', NOW)).to.deep.equal(window));

  it('is read in time that grows with its length alone', () => {
    for (const text of ['1'.repeat(200_000), '2026-'.repeat(40_000), '22:40-'.repeat(40_000), 'Nov '.repeat(50_000)])
      expect(readWindow(text, 'utc', NOW)).to.equal(null);
  });
});

describe('a window', () => {
  it('has two ends, and is the last hour where they are not readable', () => {
    expect(spanOf({ from: '-15m', to: 'now' }, NOW)).to.deep.equal({ start: NOW - 900_000, end: NOW });
    expect(spanOf({ from: 'x', to: 'y' }, NOW)).to.deep.equal({ start: NOW - 3_600_000, end: NOW });
    expect(spanOf({ from: 'now', to: '-1h' }, NOW).end).to.equal(NOW - 3_600_000);
    expect(endOf('-1w', NOW)).to.equal(NOW - 604_800_000);
  });

  it('steps back and forward, never behind now', () => {
    const back = moved({ from: '-1h', to: 'now' }, -0.5, NOW);
    expect(spanOf(back, NOW)).to.deep.equal({ start: NOW - 5_400_000, end: NOW - 1_800_000 });
    expect(spanOf(moved(back, 1, NOW), NOW)).to.deep.equal({ start: NOW - 3_600_000, end: NOW });
  });

  it('is zoomed out to twice its length', () => {
    const { start, end } = spanOf(zoomedOut({ from: '-1h', to: 'now' }, NOW), NOW);
    expect(end).to.equal(NOW);
    expect(end - start).to.equal(7_200_000);
  });

  it('has one before it', () => expect(windowBefore({ start: 10, end: 15 })).to.deep.equal({ start: 5, end: 10 }));

  it('has a shorter one, down to a minute', () => {
    const of = (minutes: number): number | null => shorterThan({ start: NOW, end: NOW + minutes * 60_000 });
    expect([10_080, 60, 15, 3, 1, 0].map(of)).to.deep.equal([15, 15, 5, 1, null, null]);
  });
});
