import { expect } from 'chai';
import fc from 'fast-check';
import { Literal } from '../../../../pipeline/core/entry.ts';
import { readPlainRow } from '../../../../pipeline/logs/columns/plain-rows.ts';

const HEAD = '"_time":"1795000000000000000","_stream_id":"5"';
const row = (members: string): ReturnType<typeof readPlainRow> => readPlainRow(`{${HEAD}${members}}`);
const fieldsOf = (members: string): unknown => {
  const read = row(members);
  return typeof read === 'string' ? read : Object.fromEntries(read.fields.map(([name, value]) => [name, shown(value)]));
};
const shown = (value: string | Literal): unknown => (value instanceof Literal ? { json: value.text } : value);

const name = fc.constantFrom('a', 'b', 'user.id', '__proto__', 'numbers', 'é"', '');
const number = fc.oneof(fc.integer().map(String), fc.constantFrom('true', 'false', '-0', '1e400', '12345678901234567890.10', '1E5'));
const members = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<[string, T][]> => fc.array(fc.tuple(name, value), { maxLength: 8 });
const json = (list: readonly (readonly [string, string])[]): string =>
  `{${list.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;

describe('equal names in a row of the encoding ndjson', () => {
  it('mean the last one, as in a body of ingest', () => {
    expect(fieldsOf(',"fields":{"a":"1","b":"2","a":"3"}')).to.deep.equal({ a: '3', b: '2' });
    expect(fieldsOf(',"numbers":{"a":1,"a":2.0}')).to.deep.equal({ a: { json: '2.0' } });
    expect(fieldsOf(',"fields":{"a":"1"},"numbers":{"a":2}')).to.deep.equal({ a: { json: '2' } });
    expect(fieldsOf(',"fields":{"a":"1"},"fields":{"b":"2"}')).to.deep.equal({ b: '2' });
    expect(row(',"_msg":"m","level":"info","_msg":"n","level":"error"')).to.deep.include({ message: 'n', level: 'error' });
    expect(row(',"severity":3,"severity":5,"_stream_id":"6"')).to.deep.include({ severity: 5, streamId: 6n });
  });

  it('give one field each, whatever there are', () => {
    fc.assert(
      fc.property(members(fc.string({ maxLength: 3 })), members(number), (texts, numbers) => {
        const fields = json(texts.map(([key, value]) => [key, JSON.stringify(value)]));
        const read = row(`,"fields":${fields},"numbers":${json(numbers)}`);
        if (typeof read === 'string') throw new Error(read);
        const expected = new Map<string, unknown>([...texts, ...numbers.map(([key, value]) => [key, { json: value }] as const)]);
        expect(read.fields.map(([key]) => key)).to.have.members([...expected.keys()]);
        for (const [key, value] of read.fields) expect(shown(value)).to.deep.equal(expected.get(key));
      }),
    );
  });

  it('of numbers are refused where two objects of them differ', () => {
    for (const more of [
      ',"numbers":{"a":1},"numbers":{"b":1}',
      ',"numbers":{"a":1},"numbers":{"a":2}',
      ',"x":{"y":1,"numbers":{"a":1}},"numbers":{"b":1}',
    ])
      expect(fieldsOf(more), more).to.match(/^has numbers that are not an object of numbers and booleans at its end/);
  });
});

describe('numbers in a row of the encoding ndjson', () => {
  it('may have spaces before them, and be none', () => {
    expect(fieldsOf(',"numbers":{"a": 1,"b": true}')).to.deep.equal({ a: { json: '1' }, b: { json: 'true' } });
    expect(fieldsOf(',"numbers":{}')).to.deep.equal({});
  });

  for (const numbers of ['null', '"1"', '5', '{"a":null}', '{"a":"1"}', '{"a":"b,c"}', '{"a":[1]}', '{"a":{"b":1}}', '[1]'])
    it(`are not ${numbers}`, () => expect(fieldsOf(`,"numbers":${numbers}`)).to.match(/^has numbers/));
});
