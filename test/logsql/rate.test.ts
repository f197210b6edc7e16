import { expect } from 'chai';
import { throughPipes } from '../../logsql/evaluation/pipeline.ts';
import { entryOf, memoryFor, nanoseconds, parse, planAs, plainOf, type Plain } from './support.ts';

const HOUR = { start: nanoseconds('2026-11-18T10:02:00Z'), end: nanoseconds('2026-11-18T10:12:59.999999999Z'), memory: memoryFor() };
const MONTHS = { start: nanoseconds('2026-01-16T00:00:00Z'), end: nanoseconds('2026-03-02T23:59:59.999999999Z'), memory: memoryFor() };

/** The rate of each group, of so many entries at these times. */
function ratesOf(query: string, times: readonly string[], window: typeof HOUR, count: number): readonly Plain[] {
  const rows = times.flatMap((time) => Array.from({ length: count }, () => entryOf({ _time: time, n: 2 })));
  return throughPipes(parse(query).pipes, rows, window).map(plainOf);
}

describe('rate()', () => {
  const inHour = ['2026-11-18T10:02:00Z', '2026-11-18T10:06:00Z', '2026-11-18T10:11:00Z'];
  const inMonths = ['2026-01-20T00:00:00Z', '2026-02-20T00:00:00Z', '2026-03-01T00:00:00Z'];
  const DAY = 86_400;
  const table: readonly (readonly [string, readonly string[], typeof HOUR, number, readonly number[]])[] = [
    ['no bucket: the window', inHour, HOUR, 220, [1]],
    ['by (_time:5m)', inHour, HOUR, 900, [3, 3, 3]],
    ['by (_time:15m)', inHour, HOUR, 300, [1]],
    ['by (_time:5m offset 1m)', inHour, HOUR, 120, [0.4, 0.4, 0.4]],
    ['by (_time:1h)', inHour, HOUR, 1200, [1]],
    ['by (_time:1s)', inHour, HOUR, 3, [3, 3, 3]],
    ['by (_time:month)', inMonths, MONTHS, 16 * 28 * DAY, [448 / 31, 16, 448 / 31]],
    ['by (_time:year)', inMonths.slice(0, 1), MONTHS, 365 * 2, [2 / DAY]],
    ['by (_time:week)', inMonths.slice(2), MONTHS, 70, [70 / (7 * DAY)]],
  ];
  for (const [by, times, window, count, expected] of table)
    it(by, () => {
      const some = count > 1000 ? 1 : count;
      const rows = ratesOf(`* | stats ${by.startsWith('no') ? '' : by} rate() r, rate_sum(n) s`, times, window, some);
      expect(rows.map(({ r }) => Math.round(Number(r) * (count / some) * 1e9) / 1e9)).to.deep.equal(
        expected.map((rate) => Math.round(rate * 1e9) / 1e9),
      );
      for (const { r, s } of rows) expect(Number(s)).to.equal(2 * Number(r));
    });
  it('of a time outside of the window is over the whole bucket', () => {
    expect(ratesOf('* | stats by (_time:1h) rate() r', ['2026-11-18T05:00:00Z'], HOUR, 36)).to.deep.include.members([
      { _time: '2026-11-18T05:00:00Z', r: 0.01 },
    ]);
  });
  it('is the same out of SQL', () => {
    const plan = planAs('aggregate', '* | stats by (_time:5m) rate() r', HOUR);
    const streams = { get: (): undefined => undefined };
    for (const time of ['2026-11-18T10:00:00Z', '2026-11-18T10:05:00Z', '2026-11-18T10:10:00Z'])
      expect(plan.decode([nanoseconds(time).toString(), 300], streams), time).to.satisfy(
        (row: ReadonlyMap<string, { readonly text: string }>) => row.get('r')?.text === '1',
      );
  });
});
