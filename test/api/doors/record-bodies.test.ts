import { expect } from 'chai';
import { bodiesOf, groupsOf, type SourceRecord } from '../../../api/doors/record-bodies.ts';

const records = (...values: readonly (string | null)[]): SourceRecord[] =>
  values.map((value, index) => ({ offset: String(index), value: value === null ? null : Buffer.from(value) }));
const bodies = (format: string, ...values: readonly (string | null)[]): string[] =>
  bodiesOf(format, records(...values), 100).map(({ body }) => body.toString());

describe('bodies of records', () => {
  it('have a line each, where the format has lines and the record is one', () => {
    expect(bodies('json', '{"a":1}', '{"b":2}')).to.deep.equal(['{"a":1}\n{"b":2}\n']);
    expect(bodies('syslog', '<13>one', '<14>two')).to.deep.equal(['<13>one\n<14>two\n']);
    expect(bodies('hec_raw', 'one', 'two')).to.deep.equal(['one\ntwo\n']);
    expect(bodies('otlp_logs', '{"a":1}', '{"b":2}'), 'no lines').to.deep.equal(['{"a":1}', '{"b":2}']);
  });

  it('are of one record where others would change what it says', () => {
    expect(bodies('json', '{"a":', '{"b":2}', '}').sort()).to.deep.equal(['{"a":', '{"b":2}', '}']);
    expect(bodies('json', '[{"a":1}]', '{"b":\n2}')).to.deep.equal(['[{"a":1}]', '{"b":\n2}']);
    expect(bodies('syslog', '200 <13>liar', '<14>two').sort()).to.deep.equal(['200 <13>liar', '<14>two']);
  });

  it('have a bound, and nothing of records without a value', () => {
    const long = `{"a":"${'x'.repeat(50)}"}`;
    expect(bodies('json', long, long, null, '')).to.deep.equal([long, long]);
    expect(bodies('json', `{"a":"${'x'.repeat(200)}"}`)).to.have.length(1);
  });

  it('come in groups of 1000 records or 1 MiB', () => {
    const many = records(...Array.from({ length: 2001 }, () => '{}'));
    expect([...groupsOf(many)].map(({ length }) => length)).to.deep.equal([1000, 1000, 1]);
    const large = 'x'.repeat(600_000);
    expect([...groupsOf(records(large, large, 'x', large.repeat(3), 'x'))].map(({ length }) => length)).to.deep.equal([1, 2, 1, 1]);
    expect([...groupsOf([])]).to.deep.equal([]);
  });
});
