import { expect } from 'chai';
import fc from 'fast-check';
import { bodyRows, eventAt, type BodyRow } from '../../../api/replay/chunk-rows.ts';
import { inOrder } from '../../../api/replay/in-order.ts';
import { LogsqlLimitError } from '../../../logsql/base/errors.ts';
import { QueryMemory } from '../../../logsql/base/memory.ts';

/** A row of events at these times, whose JSON is a number. */
const rowOf = (times: readonly number[], number = 0): BodyRow => ({
  first: times[0] ?? 0,
  body: Buffer.from(times.map((time, index) => `${String(time - (times[0] ?? 0))} 3 ${String(number * 1000 + index)}\n`).join('')),
});
const memory = (maxBytes = 1_000_000): QueryMemory => new QueryMemory({ maxRows: 1000, maxBytes });
async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}
/** Bytes of RowBinary. */
function binaryOf({ first, body }: BodyRow): Buffer {
  const length: number[] = [];
  let left = body.length;
  for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) + 128);
  const head = Buffer.alloc(8);
  head.writeBigInt64LE(BigInt(first));
  return Buffer.concat([head, Buffer.from([...length, left]), body]);
}

describe('events of a session, as they are read', () => {
  it('are read out of rows that come in pieces of any length', async () => {
    const rows = [rowOf([5, 6, 7]), rowOf([-3]), { first: 9, body: Buffer.alloc(0) }, rowOf(Array.from({ length: 300 }, (_none, i) => i))];
    const bytes = Buffer.concat(rows.map(binaryOf));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 }), async (sizes) => {
        const pieces: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const size = sizes[n % sizes.length] ?? 1;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        const read: BodyRow[] = [];
        for await (const row of bodyRows(each(pieces))) read.push({ ...row, body: Buffer.from(row.body) });
        expect(read).to.deep.equal(rows);
      }),
      { numRuns: 50 },
    );
  });

  it('have their lines read in place', () => {
    const row = { first: 1000, body: Buffer.from('0 4 {"a":1}\n25 2 {"b":" 2 "}\n') };
    const first = eventAt(row, 0);
    expect(first).to.deep.equal({ time: 1000, type: 4, start: 4, end: 12 });
    const second = eventAt(row, first?.end ?? 0);
    expect(second).to.deep.include({ time: 1025, type: 2 });
    expect(row.body.toString('utf8', second?.start, second?.end)).to.equal('{"b":" 2 "}\n');
    expect(eventAt(row, second?.end ?? 0)).to.equal(null);
  });

  it('are in the order of their times, whichever batches they came in', async () => {
    const times = fc.array(fc.nat(500), { minLength: 1, maxLength: 20 }).map((all) => [...all].sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(fc.array(times, { maxLength: 12 }), async (batches) => {
        const rows = batches.map(rowOf).sort((a, b) => a.first - b.first);
        const found: number[] = [];
        for await (const events of inOrder(each(rows), memory())) found.push(...events.map(({ time }) => time));
        expect(found).to.deep.equal(batches.flat().sort((a, b) => a - b));
      }),
      { numRuns: 100 },
    );
  });

  it('of one time are in the order of their rows', async () => {
    const found: string[] = [];
    for await (const events of inOrder(each([rowOf([1, 5, 5], 1), rowOf([5, 5], 2), rowOf([5, 6], 3)]), memory()))
      found.push(...events.map(({ row, start, end }) => row.body.toString('utf8', start, end - 1)));
    expect(found).to.deep.equal(['1000', '1001', '1002', '2000', '2001', '3000', '3001']);
  });

  it('hold no more than the query may: batches that all overlap are refused beyond it, those that follow one another are not', async () => {
    const long = (first: number): BodyRow => ({ first, body: Buffer.from(`0 3 ${'x'.repeat(1000)}\n100000 3 x\n`) });
    const count = async (rows: readonly BodyRow[]): Promise<number> => {
      let events = 0;
      for await (const some of inOrder(each(rows), memory(50_000))) events += some.length;
      return events;
    };
    const following = Array.from({ length: 500 }, (_none, index) => long(index * 200_000));
    expect(await count(following)).to.equal(1000);
    const overlapping = Array.from({ length: 500 }, (_none, index) => long(index));
    let thrown: unknown = null;
    await count(overlapping).catch((error: unknown) => (thrown = error));
    expect(thrown).to.be.instanceOf(LogsqlLimitError);
  });
});
