import { expect } from 'chai';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { MAX_LENGTH, readLength, readTime } from '../../logsql/values/times.ts';
import { entryOf, EVERYTHING, NOW, parse, planOf, statementOf, syntaxError } from './support.ts';

const ROWS = [
  entryOf({ _time: '2026-11-18T10:00:00Z', _msg: '<13>Nov 18 10:00:00 host app: x', a: '2026-11-18T10:00:00Z', n: 5, _stream: '{}' }),
];

describe('times and durations out of range', () => {
  for (const [query, expected] of [
    ['_time:5m offset -300000y', 'at most 200y'],
    ['_time:5m offset 201y', 'at most 200y'],
    ['_time:offset 300000y', 'at most 200y'],
    ['_time:500y', 'at most 200y'],
    ['_time:>500y', 'at most 200y'],
    ['_time:99999999999999999999y99999999999999999999y', 'at most 200y'],
    ['_time:day_range[00:00, 10:00] offset 300000y', 'at most 200y'],
    ['_time:week_range[Mon, Fri] offset -300000y', 'at most 200y'],
    ['_time:[9e30, 9e31]', 'a time such as'],
    ['_time:[now, 1e999]', 'a time such as'],
    ['_time:[now, 1e-999]', 'a time such as'],
    ['_time:>99999-01-01Z', 'a duration'],
    ['* | stats by (_time:500y) count()', 'of at most 200y'],
    ['* | stats by (_time:1d offset 300000y) count()', 'of at most 200y'],
    ['* | stats by (_time:1d offset -99999999999999999999) count()', 'of at most 200y'],
    ['* | stats by (_time:month offset 300000y) count()', 'of at most 200y'],
    ['* | stats by (a:99999999999999999999) count()', 'of at most 200y'],
    ['* | stats by (a:99999999999999TB) count()', 'of at most 200y'],
    ['* | unpack_syslog offset 300000y', 'at most 200y'],
    ['* | stream_context before 1 time_window 300000y', 'at most 200y'],
  ] as const)
    it(`${query} is refused`, () => expect(syntaxError(query)?.message ?? 'accepted').to.include(expected));

  for (const query of [
    '_time:200y',
    '_time:5m offset -200y',
    '_time:0000',
    '_time:[0000-01-01Z, 9999-12-31T23:59:59Z]',
    '_time:<9998',
    '_time:day_range[00:00, 10:00] offset -200y',
    '_time:week_range[Mon, Fri] offset 200y',
    '* | stats by (_time:200y offset -200y) count() n, rate() r',
    '* | stats by (_time:year offset 200y) rate() r',
    '* | stats by (_time:month offset -200y) rate() r',
    '* | stats by (_time:week offset 200y) rate() r',
    '* | stats by (a:200y offset 200y, n:6307200000000000000) count() c',
    '* | unpack_syslog offset 200y',
    '* | format "<time:n>" as t',
    '* | limit 99999999999999999999 | offset 99999999999999999999',
    'n:range[99999999999999999999, 0x7fffffffffffffff]',
  ])
    it(`${query} runs`, async () => {
      await evaluate(parse(query), ROWS, EVERYTHING);
      for (const options of [{}, { start: EVERYTHING.start, end: EVERYTHING.end }]) {
        const plan = planOf(query, options);
        expect(statementOf(plan, 10).strings.length, query).to.be.above(0);
      }
    });

  it('are no times and lengths', () => {
    for (const text of ['9e30', '-9e30', '1e999', '1e-999', '1E31', '500y', '-500y', 'now-500y', '300000y', '9999999999999999999999'])
      expect(readTime(text, NOW), text).to.equal(null);
    for (const text of ['9999999999', '1e9', '1.5e9', '-1e9', '0', '-200y', 'now-200y', '0000', '9999-12-31'])
      expect(readTime(text, NOW), text).to.not.equal(null);
    expect(readLength('200y')).to.equal(BigInt(MAX_LENGTH));
    for (const text of ['200y1ns1000000ns', '-201y', 'x', '']) expect(readLength(text), text).to.equal(null);
  });
});
