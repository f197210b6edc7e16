import { expect } from 'chai';
import type { Sql } from '../../pipeline/core/sql.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { entryOf, memoryFor, nanoseconds, parse, planOf } from './support.ts';
import { renderSql } from '../../pipeline/core/sql.ts';

const DAY = { start: nanoseconds('2026-11-18T00:00:00Z'), end: nanoseconds('2026-11-18T23:59:59.999999999Z') };
const TIME = '1795003200000000000';
const placeOf = (index: number): string[] => [TIME, '1795003200000', '0', String(index), '0'];

describe('stream_context', () => {
  it('takes what it finds piece by piece, and stops where it would hold more than it may', async () => {
    const memory = memoryFor({ maxBytes: 1_000_000 });
    const plan = planOf('boom | stream_context before 100 after 100', { tenantId: 1, ...DAY, widest: DAY, memory });
    if (plan.kind !== 'gather') throw new Error('it is one statement');
    let given = 0;
    async function* chunks(statement: Sql): AsyncGenerator<string[][]> {
      const columns = (/SELECT (.*?), toString\(stream_id\)/s.exec(renderSql(statement).text)?.[1] ?? '').split(', ').length;
      for (; given < 10_000; given++) {
        await Promise.resolve();
        yield [[...Array.from({ length: columns }, () => 'x'.repeat(1000)), '5', ...placeOf(given)]];
      }
    }
    const run = plan.gather({
      rows: () => Promise.resolve(Array.from({ length: 100 }, (_none, index) => ['5', ...placeOf(index)])),
      chunks,
      sample: () => Promise.resolve([]),
      streams: () => Promise.resolve(new Map([['5', '{a="x"}']])),
    });
    const error = await run.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(String(error)).to.contain('stream_context pipe would take more memory');
    expect(given).to.be.below(2000);
  });

  const at = (ms: number, message: string): LogEntry =>
    entryOf({ _time: new Date(1_795_003_200_000 + ms).toISOString(), _stream: '{a="x"}', _msg: message });
  /** What the pipe makes of matches, of a stream that has these entries; both oldest first. */
  async function expanded(matches: readonly LogEntry[], all: readonly LogEntry[], text: string): Promise<LogEntry[]> {
    const [pipe] = parse(`* | stream_context ${text}`).pipes;
    const memory = memoryFor({ maxRows: 1e9, maxBytes: 1e12 });
    const rows = await pipe?.expand?.(matches.toReversed(), () => Promise.resolve([...all].reverse()), { ...DAY, memory });
    return rows ?? [];
  }

  it('has contexts of more entries than a function has arguments', async () => {
    const all = Array.from({ length: 200_000 }, (_none, index) => at(index, `m${String(index)}`));
    const rows = await expanded(all.slice(150_000, 150_001), all, 'before 140000 after 40000');
    expect(rows.length).to.equal(180_002);
  });

  it('looks at each entry of a stream once, where matches are not there any more', async () => {
    const all = Array.from({ length: 20_000 }, (_none, index) => at(2 * index, 'there'));
    const gone = Array.from({ length: 20_000 }, (_none, index) => at(2 * index, 'gone'));
    expect(await expanded([...gone, at(39_998, 'there')], all, 'after 1')).to.have.length(2);
  });
});
