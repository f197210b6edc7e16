import { expect } from 'chai';
import { goDuration } from '../../../../api/traces/jaeger/go-words.ts';
import { dependencyWindow, jaegerIdOf, jaegerSearch, kindOf } from '../../../../api/traces/jaeger/parameters.ts';
import { searchV3, traceV3 } from '../../../../api/traces/jaeger/v3.ts';
import { HttpError } from '../../../../pipeline/core/errors.ts';

const ID = '0123456789abcdef0123456789abcdef';
const refused = (read: () => unknown, message: string): void => {
  expect(read, message).to.throw(HttpError, message).with.property('status', 400);
};
const params = (query: string): URLSearchParams => new URLSearchParams(query);

describe("parameters of Jaeger's API", () => {
  it('of a search are read', () => {
    const { filter, ...rest } = jaegerSearch(
      params(
        `service=a&operation=b&start=1795003200000000&end=1795003200000001&minDuration=1.5ms&maxDuration=2s&limit=1500&tag=x:y:z&tags=${encodeURIComponent('{"x":"1","k":"v"}')}`,
      ),
    );
    expect(filter).to.deep.equal({ service: 'a', operation: 'b', tags: [['x', '1'], ['k', 'v']], minDuration: 1_500_000, maxDuration: 2e9, status: null, kind: null }); // prettier-ignore
    expect(rest).to.deep.equal({ limit: 1500, ids: [], raw: false, start: '1795003200000000000', end: '1795003200000001000' });
    expect(jaegerSearch(params('service=a'))).to.deep.include({ start: null, end: null, limit: 100 });
    expect(jaegerSearch(params('service=a&end=3600000000&lookback=1h'))).to.deep.include({ start: '0' });
    expect(jaegerSearch(params(`traceID=${ID}&traceID=1`))).to.deep.include({ ids: [ID, '1'.padStart(32, '0')] });
  });

  const BAD: readonly (readonly [string, string])[] = [
    ['', "parameter 'service' is required"],
    ['service=', "parameter 'service' is required"],
    ['service=a&start=x', `unable to parse param 'start': strconv.ParseInt: parsing "x": invalid syntax`],
    [
      'service=a&end=9223372036854775808',
      `unable to parse param 'end': strconv.ParseInt: parsing "9223372036854775808": value out of range`,
    ],
    ['service=a&limit=x', `strconv.ParseInt: parsing "x": invalid syntax`],
    ['service=a&limit=2147483648', `strconv.ParseInt: parsing "2147483648": value out of range`],
    ['service=a&limit=0', 'invalid parameter: limit must be greater than 0'],
    ['service=a&limit=1501', 'invalid parameter: limit must not be greater than 1500'],
    ['service=a&start=2&end=1', 'invalid parameter: start time must be before end time'],
    ['service=a&minDuration=1d', `unable to parse param 'minDuration': time: unknown unit "d" in duration "1d"`],
    ['service=a&minDuration=2s&maxDuration=1s', `'maxDuration' should be greater than 'minDuration'`],
    ['service=a&tag=x', `malformed 'tag' parameter, expecting key:value, received: x`],
    ['service=a&tags=x', `malformed 'tags' parameter, cannot unmarshal JSON: invalid character`],
    ['service=a&tags=[]', 'json: cannot unmarshal array into Go value of type map[string]string'],
    ['service=a&tags={"a":1}', 'json: cannot unmarshal number into Go value of type string'],
    ['traceID=xyz', `strconv.ParseUint: parsing "xyz": invalid syntax`],
  ];
  for (const [query, message] of BAD) it(`refuse ${query}`, () => { refused(() => jaegerSearch(params(query)), message); }); // prettier-ignore

  it('ids are hex digits, or base64 of 16 bytes or 8', () => {
    expect(jaegerIdOf(ID.toUpperCase())).to.equal(ID);
    expect(jaegerIdOf('Ab')).to.equal('ab'.padStart(32, '0'));
    for (const text of ['base64', 'base64url'] as const) {
      expect(jaegerIdOf(Buffer.from(`ff${ID.slice(2)}`, 'hex').toString(text))).to.equal(`ff${ID.slice(2)}`);
      expect(jaegerIdOf(Buffer.from('fffefdfcfbfaf9f8', 'hex').toString(text))).to.equal('fffefdfcfbfaf9f8'.padStart(32, '0'));
    }
    refused(() => jaegerIdOf('a'.repeat(33)), 'TraceID cannot be longer than 32 hex characters');
    for (const id of ['', 'g', "' OR 1=1 --", '\0']) refused(() => jaegerIdOf(id), 'strconv.ParseUint: parsing');
  });

  it('of dependencies and kinds are read', () => {
    expect(dependencyWindow(params('endTs=5&lookback=2'))).to.deep.equal({ end: '5000000', lookback: '2000000' });
    expect(dependencyWindow(params(''))).to.deep.equal({ end: null, lookback: '86400000000000' });
    refused(
      () => dependencyWindow(params('lookback=1h')),
      `unable to parse param 'lookback': strconv.ParseInt: parsing "1h": invalid syntax`,
    );
    expect([kindOf(''), kindOf('server'), kindOf('x')]).to.deep.equal([null, 2, -1]);
  });

  it('of version 3 are read in camel and in snake case', () => {
    const time = { start: '1795003200000000000', end: '1795006800000000000' };
    for (const query of [
      'query.serviceName=a&query.startTimeMin=2026-11-18T12:00:00Z&query.startTimeMax=2026-11-18T15:00:00%2B02:00&query.searchDepth=5&query.durationMin=1ms',
      'query.service_name=a&query.start_time_min=2026-11-18T12:00:00Z&query.start_time_max=2026-11-18T15:00:00+02:00&query.num_traces=5&query.duration_min=1ms',
    ]) {
      const { filter, ...rest } = searchV3(params(query));
      expect(rest).to.deep.equal({ ...time, limit: 5, ids: [], raw: false });
      expect(filter).to.deep.include({ service: 'a', minDuration: 1_000_000 });
    }
    const times = 'query.startTimeMin=2026-11-18T12:00:00Z&query.startTimeMax=2026-11-18T13:00:00Z';
    expect(searchV3(params(times))).to.deep.include({ limit: 100 });
    expect(searchV3(params(`${times}&query.attributes={"a":"b"}`)).filter.tags).to.deep.equal([['a', 'b']]);
    refused(() => searchV3(params('query.startTimeMin=2026-11-18T12:00:00Z')), 'query.startTimeMin and query.startTimeMax are required');
    refused(() => searchV3(params('query.start_time_min=x')), 'malformed parameter query.start_time_min: parsing time "x"');
    refused(() => searchV3(params(`${times}&query.searchDepth=-1`)), 'query.searchDepth must be greater than 0');
    refused(() => searchV3(params(`${times}&query.attributes=[]`)), 'malformed parameter query.attributes: json: cannot unmarshal array');
    refused(() => traceV3('xyz', params('')), 'malformed parameter trace_id: strconv.ParseUint');
    expect(traceV3(ID, params('start_time=2026-11-18T12:00:00.5 02:00'))).to.deep.equal({ id: ID, raw: false });
  });

  it("durations are printed as Go's", () => {
    const PRINTED: readonly (readonly [bigint, string])[] = [[0n, '0s'], [999n, '999ns'], [1500n, '1.5µs'], [35_000_000n, '35ms'], [-1_500_000_000n, '-1.5s'], [60_000_000_000n, '1m0s'], [3_661_000_000_001n, '1h1m1.000000001s']]; // prettier-ignore
    for (const [duration, text] of PRINTED) expect(goDuration(duration)).to.equal(text);
  });
});
