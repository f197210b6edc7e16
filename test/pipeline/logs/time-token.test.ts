import { expect } from 'chai';
import fc from 'fast-check';
import { parseTime } from '../../../pipeline/core/time.ts';
import { readUnixDigits } from '../../../pipeline/logs/time-token.ts';
import type { SplitTime } from '../../../pipeline/rows/halves.ts';

/** What `readUnixDigits` reads, in nanoseconds; null where it leaves the text to others. */
function read(text: string): bigint | null {
  const bytes = Buffer.from(`"${text}"`);
  const time: SplitTime = { seconds: 0, nanos: 0 };
  if (!readUnixDigits(bytes, 1, bytes.length - 1, time)) return null;
  return BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
}

describe('Unix numbers read from bytes', () => {
  const digits = fc.stringMatching(/^[1-9][0-9]{0,18}$/);
  const fraction = fc.option(fc.stringMatching(/^[0-9]{1,12}$/));

  it('are what the time parser reads, for every number of digits', () => {
    fc.assert(
      fc.property(digits, fraction, (whole, part) => {
        const text = part === null ? whole : `${whole}.${part}`;
        expect(read(text), text).to.equal(parseTime(text));
      }),
      { numRuns: 5000 },
    );
  });

  for (const text of [
    '99999999999',
    '100000000000',
    '99999999999999',
    '100000000000000',
    '99999999999999999',
    '100000000000000000',
    '1',
    '1.5',
  ])
    it(`${text}, at an edge, too`, () => expect(read(text)).to.equal(parseTime(text)));

  for (const text of ['', '0', '0.5', '007', '-1', '+1', '1e9', '1.', '.5', '1.2.3', '1 ', '12345678901234567890', 'x', '1.5x'])
    it(`leaves ${JSON.stringify(text)} to others`, () => expect(read(text)).to.equal(null));
});
