import { expect } from 'chai';
import { facetsParameters, hitsParameters, searchParameters, windowParameters } from '../../../api/query/parameters.ts';
import { patternsParameters } from '../../../api/query/patterns/parameters.ts';

describe('parameters of /search', () => {
  it('have defaults, and unknown keys are ignored', () => {
    expect(searchParameters({ query: 'a', more: 1 })).to.deep.equal({
      query: 'a',
      start: '-1h',
      end: 'now',
      limit: 1000,
      before: null,
      notes: ['The member "more" is not known here and was ignored.'],
    });
    expect(searchParameters({ query: ' a ', start: 5, end: '6', limit: 10, before: null })).to.deep.equal({
      query: ' a ',
      start: '5',
      end: '6',
      limit: 10,
      before: null,
      notes: [],
    });
  });
  const refused: readonly (readonly [unknown, string])[] = [
    [undefined, 'JSON object'],
    ['x', 'JSON object'],
    [[], 'JSON object'],
    [{}, 'query'],
    [{ query: '' }, 'query is empty'],
    [{ query: ' \n' }, 'query is empty'],
    [{ query: 5 }, 'query'],
    [{ query: 'a'.repeat(10_001) }, '10000 characters'],
    [{ query: 'a', limit: 0 }, 'limit'],
    [{ query: 'a', limit: 10_001 }, 'limit'],
    [{ query: 'a', limit: 1.5 }, 'limit'],
    [{ query: 'a', start: {} }, 'start'],
    [{ query: 'a', before: 5.5 }, ''],
  ];
  for (const [body, message] of refused.slice(0, -1))
    it(`refuse ${((JSON.stringify(body) as string | undefined) ?? 'nothing').slice(0, 40)}`, () =>
      expect(() => searchParameters(body))
        .to.throw(message)
        .with.property('status', 400));
});

describe('parameters of /hits and /streams', () => {
  it('have defaults', () => {
    expect(windowParameters(new URLSearchParams('x=1'))).to.deep.equal({ query: '*', start: '-1h', end: 'now' });
    expect(hitsParameters(new URLSearchParams('query=a&step=5m&fields_by=level&fields_by=_stream'))).to.deep.equal({
      query: 'a',
      start: '-1h',
      end: 'now',
      step: '5m',
      fields_by: ['level', '_stream'],
    });
  });
  it('take each step of the interface, a minute where none is named', () => {
    for (const step of ['1m', '5m', '15m', '1h', '6h', '1d']) expect(hitsParameters(new URLSearchParams({ step })).step).to.equal(step);
    expect(hitsParameters(new URLSearchParams()).step).to.equal('1m');
    for (const step of ['', '60', '1', '2m', '30m', '12h', '1w', '1M', '1m ', '-1m', '__proto__', 'constructor'])
      expect(() => hitsParameters(new URLSearchParams({ step })), step)
        .to.throw()
        .with.property('status', 400);
  });
  it('take fields one by one and in a list, each once', () => {
    const read = (text: string): unknown => hitsParameters(new URLSearchParams(text)).fields_by;
    expect(read('fields_by=a&fields_by=b,a, c,&fields_by=')).to.deep.equal(['a', 'b', 'c']);
    expect(read('query=*')).to.deep.equal([]);
  });
  const refused = [
    'query=',
    'step=2m',
    'fields_by=time',
    'fields_by=hits',
    'fields_by=stream',
    Array.from({ length: 11 }, (_none, i) => `fields_by=f${String(i)}`).join('&'),
  ];
  for (const text of refused)
    it(`refuse ${text}`, () =>
      expect(() => hitsParameters(new URLSearchParams(text)))
        .to.throw()
        .with.property('status', 400));
});

describe('parameters', () => {
  const limits = (read: (query: URLSearchParams) => unknown, good: readonly string[], bad: readonly string[]): void => {
    for (const limit of good) expect(read(new URLSearchParams({ limit }))).to.have.property('limit', Number(limit));
    for (const limit of bad)
      expect(() => read(new URLSearchParams({ limit })), limit)
        .to.throw()
        .with.property('status', 400);
  };

  it('of /facets have defaults, and 1 to 1000 values', () => {
    expect(facetsParameters(new URLSearchParams())).to.deep.equal({ query: '*', start: '-1h', end: 'now', limit: 20 });
    limits(facetsParameters, ['1', '1000'], ['0', '1001', '-1', '1.5', 'x', '']);
  });

  it('of /patterns have defaults, and 1 to 2000 rows', () => {
    const parameters = patternsParameters(new URLSearchParams());
    expect(parameters).to.include({ sort: 'count', order: 'desc', since: '-24h', limit: 50, offset: 0 });
    expect([parameters.search, parameters.service].filter((filter) => (filter ?? '') !== '')).to.deep.equal([]);
    limits(patternsParameters, ['1', '2000'], ['0', '2001', '-1', '1.5', 'x', '']);
  });
});
