import { expect } from 'chai';
import { FewGuesses } from '../../../api/metrics/few-guesses.ts';
import { StoredSamples } from '../../../api/metrics/sample-source.ts';
import { renderSql, type Sql } from '../../../pipeline/core/sql.ts';
import { columnHead, nativeString, varint } from '../../../pipeline/rows/native.ts';
import type { Store } from '../../../pipeline/store/client.ts';

const [NAMED, DAY_MS] = [[{ name: '__name__', op: '=', value: 'x' }] as const, 86_400_000];

/** One sample for each series, whose value is its id. */
function blockOf(ids: readonly bigint[]): Buffer {
  const column = (name: string, type: string, bytes: ArrayBufferLike): Buffer =>
    Buffer.concat([columnHead(name, type), Buffer.from(bytes)]);
  return Buffer.concat([
    ...[varint(5), varint(ids.length)],
    column('type', 'UInt8', new Uint8Array(ids.length).buffer),
    column('series', 'UInt64', BigUint64Array.from(ids).buffer),
    column('t', 'Float64', new Float64Array(ids.length).buffer),
    column('value', 'Float64', Float64Array.from(ids, Number).buffer),
    ...[columnHead('payload', 'String'), ...ids.map(() => nativeString(''))],
  ]);
}

/** A store that has these series, as rows in any order; it says what it was asked for, and what was answered. */
class FakeStore {
  series: readonly (readonly [id: bigint, last: string, kind: string])[] = [];
  readonly said: string[] = [];

  readonly rows: Store['rows'] = async () => {
    this.said.push('asked for definitions');
    const rows = this.series.map(([id, last, kind]) => [String(id), { __name__: 'x', id: String(id) }, kind, 0, last]);
    await new Promise((resolve) => setImmediate(resolve));
    this.said.push('definitions');
    return rows;
  };

  readonly bytes: Store['bytes'] = (statement) => this.#samples(statement);
  readonly query: Store['query'] = () => {
    throw new Error('All definitions are held.');
  };

  async *#samples(statement: Sql): AsyncGenerator<Buffer> {
    const ids = [...renderSql(statement).params.values()].find(({ type }) => type === 'Array(UInt64)')?.value as bigint[];
    this.said.push(`asked for ${ids.join(' and ')}`);
    await Promise.resolve();
    yield blockOf(ids);
  }
}

describe('samples of few series', () => {
  const guesses = new FewGuesses();
  const store = new FakeStore();
  const read = async (tenantId = 1, to = DAY_MS): Promise<string[]> => {
    const found: string[] = [];
    const source = new StoredSamples(store, { tenantId, timeoutMs: 1000 }, null, guesses);
    for await (const { id, kind, values } of source.select(NAMED, 0, to)) found.push(`${String(id)} ${kind} ${values.join()}`);
    return found;
  };
  beforeEach(() => store.said.splice(0));

  it('are those of the latest definitions, in the order of ids', async () => {
    store.series = [[9n, '2026-01-01', 'old'], [3n, '2026-01-02', 'own'], [9n, '2026-01-03', 'new'], [9n, '2026-01-02', 'older']]; // prettier-ignore
    expect(await read()).to.deep.equal(['3 own 3', '9 new 9']);
    expect(store.said).to.deep.equal(['asked for definitions', 'definitions', 'asked for 3 and 9']);
  });

  it('are asked for before it is known again that it is they', async () => {
    expect(await read()).to.deep.equal(['3 own 3', '9 new 9']);
    expect(store.said).to.deep.equal(['asked for 3 and 9', 'asked for definitions', 'definitions']);
  });

  it('are never those of a wrong guess', async () => {
    store.series = [[3n, '2026-01-02', 'own'], [4n, '2026-01-02', 'added']]; // prettier-ignore
    expect(await read()).to.deep.equal(['3 own 3', '4 added 4']);
    expect(store.said).to.deep.equal(['asked for 3 and 9', 'asked for definitions', 'definitions', 'asked for 3 and 4']);
    expect(await read()).to.deep.equal(['3 own 3', '4 added 4']);
  });

  it('are guessed by the tenant, and not where they have too much time', async () => {
    await read(2);
    expect(store.said[0]).to.equal('asked for definitions');
    store.said.splice(0);
    store.series = [];
    expect(await read(1, 40 * DAY_MS)).to.deep.equal([]);
    expect(store.said).to.deep.equal(['asked for definitions', 'definitions']);
  });

  it('of more selections than are kept are not guessed', () => {
    const own = new FewGuesses();
    for (let at = 0; at <= 1000; at++) own.keep(String(at), [BigInt(at)]);
    expect([own.of('0'), own.of('1'), own.of('1000')]).to.deep.equal([null, [1n], [1000n]]);
    own.keep('x'.repeat(1001), [1n]);
    expect(own.of('x'.repeat(1001))).to.equal(null);
  });
});
