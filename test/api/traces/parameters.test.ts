import { expect } from 'chai';
import { traceLogsParameters, tracesParameters, traceWindow } from '../../../api/traces/parameters.ts';
import { readTraceId } from '../../../api/traces/trace-id.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

const read = (query: string): ReturnType<typeof tracesParameters> => tracesParameters(new URLSearchParams(query));

function ok(query: string, expected: Readonly<Record<string, unknown>>): void {
  const { filter, ...rest } = read(query);
  expect({ ...filter, ...rest }, query).to.deep.include(expected);
}
function bad(query: string, message: string): void {
  expect(() => read(query), query)
    .to.throw(HttpError, message)
    .with.property('status', 400);
}

describe('parameters of traces', () => {
  it('have defaults', () => {
    ok('', { service: null, operation: null, tags: [], minDuration: null, maxDuration: null, status: null, kind: null });
    ok('', { start: '-1h', end: 'now', limit: 20, cursor: null });
  });

  it('are read', () => {
    ok('service=a%27b&operation=', { service: "a'b", operation: '' });
    ok('min_duration=1.5s&max_duration=1h30m', { minDuration: 1_500_000_000, maxDuration: 5_400_000_000_000 });
    ok('min_duration=300us&max_duration=1ms', { minDuration: 300_000, maxDuration: 1_000_000 });
    ok('status=error&kind=server', { status: 2, kind: 2 });
    ok('limit=1500', { limit: 1500 });
    ok('tag=a:b:c&tag=d:', { tags: [['a', 'b:c'], ['d', '']] }); // prettier-ignore
    ok(`tags=${encodeURIComponent('{"a":1,"b":true,"c":"x"}')}&tag=d:e`, { tags: [['d', 'e'], ['a', '1'], ['b', 'true'], ['c', 'x']] }); // prettier-ignore
    ok(`cursor=1795003200000000000-${'a'.repeat(32)}`, { cursor: { time: '1795003200000000000', id: 'a'.repeat(32) } });
    ok(`cursor=-1-${'0'.repeat(32)}`, { cursor: { time: '-1', id: '0'.repeat(32) } });
  });

  it('are refused with a sentence', () => {
    bad('limit=1501', 'limit must be less than or equal to 1500.');
    bad('limit=0', 'limit must be greater than or equal to 1.');
    bad('limit=1e9', 'limit');
    bad('status=bad', 'status must be one of [unset, ok, error');
    bad('kind=2', 'kind must be one of');
    bad('min_duration=x', 'min_duration "x" is not a duration such as 300ms');
    bad('max_duration=-1s', 'is not a duration');
    bad('min_duration=2s&max_duration=1s', 'min_duration is longer than max_duration.');
    bad('tag=a', 'tag "a" must be a name and a value');
    bad('tag=:a', 'must be a name and a value');
    for (const tags of ['[]', 'null', '{', '{"a":{}}', '{"a":null}', '1'])
      bad(`tags=${encodeURIComponent(tags)}`, 'tags must be a JSON object of strings');
    bad(Array.from({ length: 21 }, (_none, index) => `tag=a${String(index)}:b`).join('&'), 'more than 20 tags');
    bad(`tag=a:${'x'.repeat(8193)}`, 'more than 8192 characters');
    bad(`service=${'x'.repeat(8193)}`, 'service has more than 8192 characters');
    for (const cursor of ['x', '1', `1-${'A'.repeat(32)}`, `${'9'.repeat(20)}-${'a'.repeat(32)}`, `1-${'a'.repeat(31)}`])
      bad(`cursor=${cursor}`, 'is none: pass the next_cursor');
  });

  it('of windows and logs are read', () => {
    expect(traceWindow(new URLSearchParams(''))).to.deep.equal({ start: '-1d', end: 'now' });
    const logs = (query: string): ReturnType<typeof traceLogsParameters> => traceLogsParameters('a', new URLSearchParams(query));
    expect(logs('')).to.deep.equal({ id: 'a', start: null, end: null, limit: 1000, before: null });
    expect(logs('start=-1h&end=now&limit=5')).to.deep.include({ start: '-1h', end: 'now', limit: 5 });
    expect(() => logs('start=-1h')).to.throw('start and end are given together, or neither.');
  });

  it('ids of traces have 16 or 32 hex digits', () => {
    expect(readTraceId('A'.repeat(32))).to.equal('a'.repeat(32));
    expect(readTraceId('00000000000000fF')).to.equal(`${'0'.repeat(30)}ff`);
    for (const id of [
      undefined,
      '',
      'a',
      'g'.repeat(32),
      '0'.repeat(32),
      '0'.repeat(16),
      'a'.repeat(31),
      'a'.repeat(33),
      "' OR 1=1 --",
      `${'a'.repeat(31)}\n`,
    ])
      expect(() => readTraceId(id), String(id)).to.throw(HttpError, 'The id of a trace is 16 or 32 hex digits');
  });
});
