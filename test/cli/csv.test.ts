import { expect } from 'chai';
import { columnsOf, csvEntry } from '../../cli/csv-entry.ts';
import { csvOf, csvRow } from '../../cli/csv.ts';
import { parseEntry } from '../../cli/json-entry.ts';
import { UTC, zoneOf } from '../../cli/zone.ts';

describe('CSV', () => {
  const cells: readonly (readonly [what: string, value: string, cell: string])[] = [
    ['plain text', 'a b', 'a b'],
    ['nothing', '', ''],
    ['a comma', 'a,b', '"a,b"'],
    ['quotes', 'a "b"', '"a ""b"""'],
    ['line ends', 'a\nb\r\nc', '"a\nb\r\nc"'],
    ['spaces at its ends', ' a ', '" a "'],
    ['a formula', '=1+1', "'=1+1"],
    ['a formula with quotes', '=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['a plus', '+cmd|x', "'+cmd|x"],
    ['a minus', '-cmd', "'-cmd"],
    ['an at', '@SUM(A1)', "'@SUM(A1)"],
    ['a tab before a formula', '\t=1', `'\t=1`],
    ['a full-width formula', '\uff1d1+1', "'\uff1d1+1"],
    ['a negative number', '-5', '-5'],
    ['a number with a sign and an exponent', '+1.5e-7', '+1.5e-7'],
    ['a formula that begins like a number', '-5+cmd', "'-5+cmd"],
  ];
  for (const [what, value, cell] of cells)
    it(`has ${what} in a cell`, () => {
      expect(csvRow([value, 'x'])).to.equal(`${cell},x\n`);
    });

  it('has members of any kind', () => {
    expect(csvOf(['a', 'b', 'c', 'd'], { a: null, b: true, c: { n: 1 }, e: 2 })).to.equal(',true,"{""n"":1}",\n');
  });

  it('begins entries with time, level, service and message; then come the fields as they are first seen', () => {
    const logs = [
      '{"_time":"2026-11-18T10:00:00Z","_stream":"{}","_msg":"m","b":1}',
      '{"_time":"t","_stream":"{}","a":18446744073709551615,"b":2}',
    ];
    const columns = columnsOf(logs);
    expect(columns).to.deep.equal(['_time', 'level', 'service', '_msg', '_stream', 'b', 'a']);
    const row = (log: string, zone = UTC): string => csvEntry(parseEntry(log), columns, zone);
    expect(row(logs[1] ?? '')).to.equal('t,,,,{},2,18446744073709551615\n');
    expect(row(logs[0] ?? '', zoneOf('Europe/Berlin'))).to.equal('2026-11-18T11:00:00+01:00,,,m,{},1,\n');
  });

  it('keeps the order of the fields of a pipe', () => {
    expect(columnsOf(['{"n":1,"service":"a"}', '{"n":1,"_msg":"b"}'])).to.deep.equal(['n', 'service', '_msg']);
  });
});
