import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import fc from 'fast-check';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { findRefused, refusalOf } from '../../sinks/refused.ts';

const FAULT = { reason: 'refused', detail: 'no' } as const;
const records = (count: number): SignalRecord[] => Array.from({ length: count }, (_, offset) => ({ offset }) as SignalRecord);

/** A table that refuses some offsets; counts how often it was asked, and of how many records. */
function table(bad: ReadonlySet<number>) {
  const asked = { times: 0, records: 0 };
  const refuse = (part: readonly SignalRecord[]): Promise<typeof FAULT | null> => {
    asked.times += 1;
    asked.records += part.length;
    return Promise.resolve(part.some(({ offset }) => bad.has(offset)) ? FAULT : null);
  };
  return { asked, refuse };
}

describe('records that a table refuses', () => {
  it('are found, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 200 }), fc.uniqueArray(fc.nat(199)), async (count, bad) => {
        const { refuse } = table(new Set(bad));
        const found = await findRefused(records(count), refuse, Infinity);
        expect(found.map(({ record }) => record.offset)).to.deep.equal(bad.filter((at) => at < count).sort((a, b) => a - b));
      }),
    );
  });

  it('are found at the cost of three more readings of the range where it is one of 10,000', async () => {
    for (const bad of [0, 4999, 9999]) {
      const { asked, refuse } = table(new Set([bad]));
      expect(await findRefused(records(10_000), refuse, 101)).to.have.length(1);
      expect(asked.records).to.be.below(30_100);
      expect(asked.times).to.be.below(40);
    }
  });

  it('are looked for no further than it matters', async () => {
    const { asked, refuse } = table(new Set(records(10_000).map(({ offset }) => offset)));
    expect(await findRefused(records(10_000), refuse, 101)).to.have.length(101);
    expect(asked.times).to.be.below(500);
  });

  it('are none where a refusal does not come twice', async () => {
    let times = 0;
    const once = (): Promise<typeof FAULT | null> => Promise.resolve(times++ === 0 ? FAULT : null);
    expect(await findRefused(records(1), once, 10)).to.deep.equal([]);
    times = 0;
    expect(await findRefused(records(8), once, 10)).to.deep.equal([]);
  });

  it('are not told where the table does not answer', async () => {
    const down = (): Promise<null> => Promise.reject(new Error('down'));
    expect(await findRefused(records(8), down, 10).catch((error: unknown) => (error as Error).message)).to.equal('down');
  });

  it('are told by codes of parsing, types and constraints', () => {
    for (const code of ['26', '27', '72', '117', '131', '395', '469'])
      expect(refusalOf(new ClickHouseError({ message: 'm', code, type: 'T' }))).to.deep.equal({
        reason: 'refused',
        detail: `ClickHouse ${code} T: m`,
      });
  });

  it('are not told by what a server is in the way of, which is waited for', () => {
    // memory, readonly, disk, parts, queries, time, socket, network, killed, coordination; a table or column that is missing; rights
    for (const code of [
      '241',
      '164',
      '242',
      '243',
      '252',
      '202',
      '159',
      '209',
      '210',
      '425',
      '999',
      '394',
      '60',
      '16',
      '47',
      '497',
      '516',
      '1000',
      '1002',
    ])
      expect(refusalOf(new ClickHouseError({ message: 'm', code, type: 'T' })), code).to.equal(null);
    for (const error of [new Error('socket hang up'), new DOMException('late', 'TimeoutError'), null, 'x'])
      expect(refusalOf(error)).to.equal(null);
  });
});
