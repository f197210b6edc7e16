import { expect } from 'chai';
import { innerWindowHints } from '../../logsql/evaluation/inner-window.ts';
import { NOW, parse } from './support.ts';

const sentence = (name: string): string =>
  `The query inside ${name}(…) has no _time filter; it searched the window of the outer query, 2026-11-18T10:00:00Z to 2026-11-18T11:00:00Z.`;

describe('queries inside a query say which window they took', () => {
  for (const [query, ...names] of [
    ['error'],
    ['a:in(b, c)'],
    ['a:in(x | fields a)', 'in'],
    ['a:in(x | fields a) b:in(y | fields b)', 'in'],
    ['!(a:contains_any(x | fields a) or b)', 'contains_any'],
    ['* | filter a:contains_all(x | fields a)', 'contains_all'],
    ['_stream_id:in(x | fields _stream_id)', 'in'],
    ['* | join by (a) (x | fields a, b)', 'join'],
    ['* | union (x) | union (_time:1h y)', 'union'],
    ['* | stats count() if (a:in(x | fields a)) n', 'in'],
    ['_time:5m a:in(x | fields a)', 'in'],
    ['a:in(_time:2h x | fields a)'],
    ['a:in(x | filter _time:2h | fields a)'],
    ['a:in((x or _time:2h) | fields a)'],
    ['a:in(x _time:day_range[08:00, 18:00] | fields a)', 'in'],
    ['a:in(_time:2h x b:contains_any(y | fields b) | fields a)', 'contains_any'],
    ['* | join by (a) (x a:in(y | fields a) | fields a, b)', 'join', 'in'],
    ['options(ignore_global_time_filter=true) a:in(x | fields a)'],
    ['a:in(options(ignore_global_time_filter=true) x | fields a)'],
  ] as const)
    it(query, () => {
      expect(innerWindowHints(parse(query), { start: NOW - 3_600_000_000_000n, end: NOW })).to.deep.equal(names.map(sentence));
    });
});
