import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { UsageError } from '../../cli/output.ts';
import { spanOf, zoneOf } from '../../cli/zone.ts';

describe('time zones', () => {
  const shown: readonly (readonly [zone: string | undefined, time: string, expected: string])[] = [
    [undefined, '2026-11-18T10:00:00.123456789Z', '2026-11-18T10:00:00.123456789Z'],
    ['utc', '2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['Europe/Berlin', '2026-11-18T23:30:00.5Z', '2026-11-19T00:30:00.5+01:00'],
    ['Europe/Berlin', '2026-07-18T10:00:00Z', '2026-07-18T12:00:00+02:00'],
    ['europe/london', '2026-11-18T10:00:00Z', '2026-11-18T10:00:00+00:00'],
    ['America/St_Johns', '2026-11-18T01:00:00Z', '2026-11-17T21:30:00-03:30'],
    ['Asia/Kathmandu', '2026-11-18T10:00:00Z', '2026-11-18T15:45:00+05:45'],
    ['+02:00', '2026-11-18T10:00:00Z', '2026-11-18T12:00:00+02:00'],
    // its clocks were 44 minutes and 30 seconds behind
    ['Africa/Monrovia', '1971-01-01T00:00:00Z', '1970-12-31T23:16:00-00:44'],
    ['Europe/Berlin', 'no time', 'no time'],
    ['Europe/Berlin', '', ''],
  ];
  for (const [zone, time, expected] of shown)
    it(`show ${time || 'nothing'} in ${zone ?? 'UTC'} with its offset`, () => {
      expect(zoneOf(zone).show(time)).to.equal(expected);
      if (expected !== time) expect(Math.abs(Date.parse(expected) - Date.parse(time))).to.be.below(1);
    });

  const read: readonly (readonly [zone: string | undefined, text: string, edge: 'start' | 'end', expected: string])[] = [
    ['Europe/Berlin', '2026-11-20T10:00', 'start', '2026-11-20T09:00:00Z'],
    ['Europe/Berlin', '2026-11-20 10:00:00.25', 'start', '2026-11-20T09:00:00.250Z'],
    ['Europe/Berlin', '2026-11-20T10:00', 'end', '2026-11-20T09:00:59.999999999Z'],
    ['Europe/Berlin', '2026-11-20', 'start', '2026-11-19T23:00:00Z'],
    // a day of 25 hours, and one of 23
    ['Europe/Berlin', '2026-10-25', 'start', '2026-10-24T22:00:00Z'],
    ['Europe/Berlin', '2026-10-25', 'end', '2026-10-25T22:59:59.999999999Z'],
    ['Europe/Berlin', '2026-03-29', 'end', '2026-03-29T21:59:59.999999999Z'],
    // a time that comes twice, and one that is skipped
    ['Europe/Berlin', '2026-10-25T02:30', 'start', '2026-10-25T00:30:00Z'],
    ['Europe/Berlin', '2026-10-25T02:30', 'end', '2026-10-25T01:30:59.999999999Z'],
    ['Europe/Berlin', '2026-03-29T02:30', 'start', '2026-03-29T01:30:00Z'],
    ['America/New_York', '2026', 'start', '2026-01-01T05:00:00Z'],
    ['America/New_York', '2026-12', 'end', '2027-01-01T04:59:59.999999999Z'],
    // what has a zone, or needs none, is the service's
    ['Europe/Berlin', '2026-11-20T10:00:00Z', 'start', '2026-11-20T10:00:00Z'],
    ['Europe/Berlin', '2026-11-20T10:00:00-05:00', 'end', '2026-11-20T10:00:00-05:00'],
    ['Europe/Berlin', '-15m', 'start', '-15m'],
    ['Europe/Berlin', 'now', 'end', 'now'],
    ['Europe/Berlin', '1764000000', 'start', '1764000000'],
    ['Europe/Berlin', '2026-13-01', 'start', '2026-13-01'],
    [undefined, '2026-11-20', 'end', '2026-11-20'],
  ];
  for (const [zone, text, edge, expected] of read)
    it(`read ${text} as the ${edge} of a window in ${zone ?? 'UTC'}`, () => {
      expect(zoneOf(zone).read(text, edge)).to.equal(expected);
    });

  it('read the flags of a span, and say which zone is not known', () => {
    expect(spanOf({ from: '2026-11-20', to: '2026-11-20' }, zoneOf('Europe/Berlin'))).to.deep.equal({
      from: '2026-11-19T23:00:00Z',
      to: '2026-11-20T22:59:59.999999999Z',
    });
    expect(spanOf({}, zoneOf('Europe/Berlin'))).to.deep.equal({});
    expect(() => zoneOf('Mars/Base')).to.throw(UsageError, '--timezone "Mars/Base" is not a known time zone');
  });

  it('local is the zone of the machine, or of TZ', () => {
    const code = "import { zoneOf } from './cli/zone.ts'; console.log(zoneOf('local').show('2026-11-18T10:00:00Z'))";
    const root = path.resolve(import.meta.dirname, '../..');
    const env = { ...process.env, TZ: 'Asia/Tokyo' };
    const out = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', code], { cwd: root, env, encoding: 'utf8' });
    expect(out).to.equal('2026-11-18T19:00:00+09:00\n');
  });
});
