import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { toHttpError } from '../../../pipeline/store/client.ts';

const failure = (code: string, message = 'no'): ClickHouseError => new ClickHouseError({ message, code, type: 'SOME_ERROR' });

describe('errors of ClickHouse, as an analyst is told of them', () => {
  const told: readonly (readonly [what: string, code: string, status: number, slug: string])[] = [
    ['too deep a recursion', '306', 400, 'invalid_parameter'],
    ['too deep an AST', '167', 400, 'invalid_parameter'],
    ['too big an AST', '168', 400, 'invalid_parameter'],
    ['a regexp that RE2 does not take', '427', 400, 'invalid_parameter'],
    ['too long a query', '159', 504, 'query_timeout'],
    ['too slow a query', '160', 504, 'query_timeout'],
    ['a query that was ended', '394', 504, 'query_timeout'],
    ['no memory', '241', 504, 'query_timeout'],
    ['too large a set', '191', 504, 'query_timeout'],
    ['too many rows', '158', 504, 'query_timeout'],
    ['too large a result', '396', 504, 'query_timeout'],
    ['a silent socket', '209', 503, 'store_unavailable'],
    ['a failing network', '210', 503, 'store_unavailable'],
    ['no connection', '279', 503, 'store_unavailable'],
    ['no store of old rows', '499', 503, 'store_unavailable'],
    ['too many queries', '202', 429, 'rate_limited'],
  ];
  for (const [what, code, status, slug] of told)
    it(`${code}: ${what}`, () => {
      const error = toHttpError(failure(code));
      expect(error).to.be.instanceOf(HttpError);
      expect(error).to.include({ status, slug });
    });

  for (const code of ['32', '33'])
    it(`${code}: another shard that has ended in the middle of its answer, which no other end of data is`, () => {
      const of = (what: string): unknown => toHttpError(failure(code, `Attempt to read after eof: ${what}`));
      expect(of('while receiving packet from 127.0.0.1:9000')).to.include({ status: 503, slug: 'store_unavailable' });
      expect(of('in a string')).to.not.be.instanceOf(HttpError);
    });

  it('an unexpected one is passed on as it is, and one without an answer says that the store is away', () => {
    for (const unknown of [failure('47'), failure('62', 'Syntax error: failed at position 7')])
      expect(toHttpError(unknown)).to.equal(unknown);
    expect(toHttpError(failure('62', 'Max query size exceeded'))).to.include({ status: 400 });
    expect(toHttpError(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))).to.include({ status: 503 });
  });
});
