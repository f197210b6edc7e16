import { expect } from 'chai';
import { parseTime } from '../../../../pipeline/core/time.ts';
import { readBsdStamp, readIsoStamp, type Clock } from '../../../../pipeline/normalizers/syslog/timestamp.ts';
import { UTC, zoneOf, type Zone } from '../../../../pipeline/normalizers/syslog/zone.ts';

const clockAt = (now: string, zone: Zone = UTC): Clock => {
  const seconds = Number((parseTime(now) ?? 0n) / 1_000_000_000n);
  return { zone, now: seconds, year: Number(now.slice(0, 4)) };
};
const shown = ({ seconds, nanos }: { seconds: number; nanos: number }): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19) + (nanos === 0 ? '' : `.${String(nanos).padStart(9, '0')}`);

/** The time of a stamp that is followed by ` rest`, and what follows it; null where it is none. */
function bsd(text: string, now = '2026-11-21T14:00:00Z', zone: Zone = UTC): [string, string] | null {
  const bytes = Buffer.from(text);
  const time = { seconds: 0, nanos: 0 };
  const after = readBsdStamp(bytes, 0, bytes.length, clockAt(now, zone), time);
  return after < 0 ? null : [shown(time), bytes.toString('utf8', after)];
}

function iso(text: string, zone: Zone = UTC): string | null {
  const bytes = Buffer.from(`x ${text} x`);
  const time = { seconds: 0, nanos: 0 };
  return readIsoStamp(bytes, 2, bytes.length - 2, clockAt('2026-11-21T14:00:00Z', zone), time) ? shown(time) : null;
}

describe('syslog: times of RFC 3164', () => {
  const ok = (text: string, time: string, rest: string): void => {
    it(`reads ${text}`, () => expect(bsd(text)).to.deep.equal([time, rest]));
  };
  ok('Nov 20 23:21:50 host', '2026-11-20T23:21:50', ' host');
  ok('Nov  3 00:00:00 host', '2026-11-03T00:00:00', ' host');
  ok('Nov 03 00:00:00 host', '2026-11-03T00:00:00', ' host');
  ok('Nov 3 00:00:00 host', '2026-11-03T00:00:00', ' host');
  ok('NOV 20 23:21:50', '2026-11-20T23:21:50', '');
  ok('Nov 20 23:21:50: %ASA', '2026-11-20T23:21:50', ': %ASA');
  ok('Nov 20 23:21:50.123 host', '2026-11-20T23:21:50.123000000', ' host');
  ok('Nov 20 23:21:50,1 host', '2026-11-20T23:21:50.100000000', ' host');
  ok('Nov 20 23:21:50.1234567891 host', '2026-11-20T23:21:50.123456789', ' host');
  ok('Nov 20 2025 23:21:50 host', '2025-11-20T23:21:50', ' host');
  ok('2025 Nov 20 23:21:50 host', '2025-11-20T23:21:50', ' host');
  ok('Nov 20 23:21:50 2025 host', '2025-11-20T23:21:50', ' host');
  ok('Nov 20 23:21:50 2025: %ASA', '2025-11-20T23:21:50', ': %ASA');
  ok('Nov 20 23:21:50 2001:db8::1 x', '2026-11-20T23:21:50', ' 2001:db8::1 x');
  ok('Nov 20 23:21:50 UTC: %SYS', '2026-11-20T23:21:50', ': %SYS');
  ok('Nov 20 23:21:50.5 CET: x', '2026-11-20T22:21:50.500000000', ': x');
  ok('Aug 24 05:34:00 CST 1987 host', '1987-08-24T11:34:00', ' host');
  ok('Nov 20 23:21:50 CRON: x', '2026-11-20T23:21:50', ' CRON: x');
  ok('Nov 20 23:21:50 HOST x', '2026-11-20T23:21:50', ' HOST x');
  ok('Nov 20 23:59:60 host', '2026-11-21T00:00:00', ' host');
  ok('Feb 29 10:00:00 host', '2024-02-29T10:00:00', ' host');

  for (const text of [
    '',
    'Nov',
    'Nov 20',
    'Nov 20 23:21',
    'Nov 20 23:21:5',
    'Foo 20 23:21:50',
    'Nov 31 23:21:50',
    'Nov 0 23:21:50',
    'Nov 20 24:00:00',
    'Nov 20 23:60:00',
    'Nov 20 23:21:61',
    'Nov 20 23:21:50x',
    'Nov 20 23-21-50',
    'Nov20 23:21:50',
    'Nov 20  23:21:50',
    'Feb 29 2026 10:00:00',
    'Nov 20 1826 23:21:50',
    '2026-11-20T23:21:50Z',
  ])
    // prettier-ignore
    it(`does not take ${JSON.stringify(text)} for one`, () => expect(bsd(text)).to.equal(null));

  const year = (now: string, text: string, expected: string): void => {
    it(`puts ${text} into ${expected.slice(0, 4)} on ${now}`, () => expect(bsd(text, now)?.[0]).to.equal(expected));
  };
  year('2027-01-01T00:00:05Z', 'Dec 31 23:59:59', '2026-12-31T23:59:59');
  year('2026-12-31T23:59:55Z', 'Jan  1 00:00:01', '2027-01-01T00:00:01');
  year('2026-12-31T23:59:55Z', 'Jan  3 00:00:01', '2026-01-03T00:00:01');
  year('2026-11-21T14:00:00Z', 'Nov 23 13:59:59', '2026-11-23T13:59:59');
  year('2026-11-21T14:00:00Z', 'Nov 24 13:59:59', '2025-11-24T13:59:59');
  year('2028-03-01T00:00:00Z', 'Feb 29 12:00:00', '2028-02-29T12:00:00');
  year('2103-06-01T00:00:00Z', 'Feb 29 12:00:00', '2096-02-29T12:00:00');
});

describe('syslog: times of ISO 8601', () => {
  const ok = (text: string, time: string | null): void => {
    it(`${time === null ? 'leaves' : 'reads'} ${text}`, () => expect(iso(text)).to.equal(time));
  };
  ok('2026-11-20T23:20:02Z', '2026-11-20T23:20:02');
  ok('2026-11-20T23:20:02.641Z', '2026-11-20T23:20:02.641000000');
  ok('2026-11-20T23:20:02.123456789+05:30', '2026-11-20T17:50:02.123456789');
  ok('2026-11-20T23:20:02-07:00', '2026-11-21T06:20:02');
  ok('2026-11-20T23:20:02', '2026-11-20T23:20:02');
  ok('2026-11-20T23:20:02-0700', '2026-11-21T06:20:02');
  ok('2026-11-20T23:20:02.5+09', '2026-11-20T14:20:02.500000000');
  ok('2026-11-20T23:20:02+0', null);
  ok('2026-11-20T23:20:02+24', null);
  ok('2026-11-20T23:20:02+24:00', null);
  ok('2026-11-20T23:20:02.Z', null);
  ok('2026-11-20T23:20:02.1234567891Z', null);
  ok('2026-11-20T23:20Z', null);
  ok('2026-02-30T23:20:02Z', null);
  ok('-', null);
  ok('Z', null);
  ok('', null);
});

describe('syslog: zones', () => {
  const local = (text: string): number => Date.parse(`${text}Z`) / 1000;
  const ok = (zone: string, wall: string, utc: string): void => {
    it(`takes ${wall} in ${zone} for ${utc}`, () => {
      expect(zoneOf(zone)?.(local(wall))).to.equal(local(utc));
    });
  };
  ok('+02:00', '2026-07-01T12:00:00', '2026-07-01T10:00:00');
  ok(' 02:00', '2026-07-01T12:00:00', '2026-07-01T10:00:00');
  ok('-0530', '2026-07-01T12:00:00', '2026-07-01T17:30:00');
  ok('+01', '2026-07-01T12:00:00', '2026-07-01T11:00:00');
  ok('UTC', '2026-07-01T12:00:00', '2026-07-01T12:00:00');
  ok('Europe/Berlin', '2026-07-01T12:00:00', '2026-07-01T10:00:00');
  ok('Europe/Berlin', '2026-12-01T12:00:00', '2026-12-01T11:00:00');
  ok('Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59');
  ok('Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00');
  ok('America/New_York', '2026-11-01T00:59:59', '2026-11-01T04:59:59');
  ok('America/New_York', '2026-11-01T02:00:00', '2026-11-01T07:00:00');
  ok('Asia/Kathmandu', '2026-07-01T12:00:00', '2026-07-01T06:15:00');
  ok('Australia/Lord_Howe', '2026-07-01T12:00:00', '2026-07-01T01:30:00');
  for (const zone of ['', 'x', 'Mars/Olympus', '+2', '+02:0', '02:00', 'Europe/Berlin;', 'a'.repeat(100_000)])
    it(`does not know ${zone.slice(0, 20)}`, () => expect(zoneOf(zone)).to.equal(null));
  it('are used for times that name none', () => {
    const zone = zoneOf('Europe/Berlin') ?? UTC;
    expect(bsd('Nov 20 12:00:00', '2026-11-21T14:00:00Z', zone)?.[0]).to.equal('2026-11-20T11:00:00');
    expect(bsd('Nov 20 12:00:00 UTC: x', '2026-11-21T14:00:00Z', zone)?.[0]).to.equal('2026-11-20T12:00:00');
    expect(iso('2026-11-20T12:00:00', zone)).to.equal('2026-11-20T11:00:00');
    expect(iso('2026-11-20T12:00:00Z', zone)).to.equal('2026-11-20T12:00:00');
  });
  it('stay right when many zones and times were asked for', () => {
    for (let i = 0; i < 300; i++) zoneOf(`Nowhere/${String(i)}`);
    const zone = zoneOf('Europe/Paris');
    for (let i = 0; i < 11_000; i++) expect(zone?.(i * 86_400)).to.be.a('number');
    expect(zone?.(local('2026-07-01T12:00:00'))).to.equal(local('2026-07-01T10:00:00'));
  }).timeout(240_000);
});
