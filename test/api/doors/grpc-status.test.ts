import { status as Status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { statusOf } from '../../../api/doors/grpc-status.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

describe('statuses of gRPC', () => {
  const CASES: readonly (readonly [http: number, retryAfter: number | undefined, code: keyof typeof Status])[] = [
    [400, undefined, 'INVALID_ARGUMENT'],
    [401, undefined, 'UNAUTHENTICATED'],
    [403, undefined, 'PERMISSION_DENIED'],
    [408, undefined, 'DEADLINE_EXCEEDED'],
    [413, undefined, 'INVALID_ARGUMENT'],
    [429, 7, 'RESOURCE_EXHAUSTED'],
    [503, 7, 'UNAVAILABLE'],
    [503, undefined, 'FAILED_PRECONDITION'],
    [500, undefined, 'INTERNAL'],
  ];
  for (const [http, retryAfter, code] of CASES)
    it(`are ${code} in place of ${String(http)}${retryAfter === undefined ? '' : ' with a time'}`, () => {
      const error = new HttpError(http, 'slug', 'Why.', retryAfter === undefined ? {} : { retryAfter });
      const status = statusOf(error);
      expect([Status[status.code], status.details]).to.deep.equal([code, 'Why.']);
      // what has no time is not sent again
      expect(status.metadata.get('google.rpc.retryinfo-bin')).to.have.length(retryAfter === undefined ? 0 : 1);
    });
});
