import { expect } from 'chai';
import { preferredCoding } from '../../../api/http/answer-coding.ts';

describe('the coding of an answer', () => {
  const both = (header: string): string => preferredCoding(header) ?? 'identity';

  const cases: readonly (readonly [string, string])[] = [
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=0.9, zstd;q=0.8', 'gzip'],
    ['gzip ; Q=0.9 , zstd ; q=0.8', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.000, *', 'zstd'],
    ['*', 'zstd'],
    ['*;q=0', 'identity'],
    ['*;q=0, gzip;q=0.001', 'gzip'],
    ['zstd;q=0, *;q=0.5', 'gzip'],
    ['identity', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', 'identity'],
    ['br, deflate', 'identity'],
    // what is not in the form of the header does not count
    ['gzip;q=2', 'identity'],
    ['gzip;q=-1', 'identity'],
    ['gzip;q=0.1234', 'identity'],
    ['gzip;q=abc', 'identity'],
    ['gzip;q', 'identity'],
    ['gzip;level=1', 'identity'],
    ['gzip;q=1;x=1', 'identity'],
    ['gzip zstd', 'identity'],
    [',;q=1,,gzip,', 'gzip'],
    ['constructor, __proto__;q=1', 'identity'],
    [`${'x;q=0.5,'.repeat(8000)}gzip`, 'gzip'],
  ];
  for (const [header, coding] of cases)
    it(`${JSON.stringify(header.slice(0, 60))}: ${coding}`, () => {
      expect(both(header)).to.equal(coding);
    });
});
