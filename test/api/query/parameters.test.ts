import { expect } from 'chai';
import { hitsParameters, searchParameters, windowParameters } from '../../../api/query/parameters.ts';

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
