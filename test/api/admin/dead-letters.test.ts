import { expect } from 'chai';
import { deadLetterRoutes } from '../../../api/admin/dead-letters.ts';
import type { AdminRoute } from '../../../api/admin/admin-routes.ts';
import type { DeadLetter } from '../../../pipeline/bus/records/dead-letter.ts';
import type { StoredDeadLetter } from '../../../pipeline/bus/dead-letters/dead-letters.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { pino } from 'pino';

const letter = (offset: number, more: Partial<StoredDeadLetter> = {}): StoredDeadLetter => ({
  reason: 'refused', detail: 'no', stage: 'sink logs: insert', topic: 'logs.v1', partition: 1, offset, version: '0.1.0', at: 1_795_000_000_000 + offset,
  original: { key: null, value: Buffer.from('abc'), headers: { tenant: Buffer.from('7'), count: Buffer.from('2') }, timestamp: '1' }, ...more,
}); // prettier-ignore

/** The topic, some letters at a time, and the rows that are stored: `partition:offset` to how many. */
class Fake {
  readonly replayed: DeadLetter[] = [];
  readonly asked: string[] = [];
  from = NaN;
  readonly routes: AdminRoute[];

  constructor(letters: readonly StoredDeadLetter[], ...sets: readonly Readonly<Record<string, number>>[]) {
    this.routes = deadLetterRoutes({
      tables: new Map([['logs.v1', 'logs']]),
      log: pino({ level: 'silent' }),
      deadLetters: {
        read: async (from, onLetters) => {
          this.from = from;
          for (let at = 0; at < letters.length; at += 2) if (!(await onLetters(letters.slice(at, at + 2)))) return false;
          return true;
        },
        replay: (some) => {
          this.replayed.push(...some);
          return Promise.resolve();
        },
      },
      stores: (sets.length === 0 ? [{}] : sets).map((stored) => ({
        ownerRows: (text) => {
          this.asked.push(text);
          return Promise.resolve(Object.entries(stored).map(([key, rows]) => [...key.split(':'), String(rows)]));
        },
      })),
    });
  }

  async list(query = ''): Promise<Record<string, unknown>[]> {
    const answer = await this.routes[0]?.handle({
      params: {},
      requestId: 'r',
      query: new URLSearchParams(query),
      body: () => Promise.resolve(undefined),
    });
    return JSON.parse(answer?.body as string) as Record<string, unknown>[];
  }

  async replay(body: unknown): Promise<unknown> {
    const answer = await this.routes[1]?.handle({
      params: {},
      requestId: 'r',
      query: new URLSearchParams(),
      body: () => Promise.resolve(body),
    });
    return (answer?.body as unknown[] | undefined)?.[0];
  }
}

const failure = (step: Promise<unknown>): Promise<unknown> => step.then(() => null).catch((error: unknown) => error);

describe('admin routes of dead letters', () => {
  it('list them, the newest first, each record once, and whether it is stored whole', async () => {
    const fake = new Fake([letter(1), letter(2), letter(3), letter(1, { detail: 'again', at: 1_795_000_000_009 })], { '1:2': 2, '1:3': 1 });
    const rows = await fake.list();
    expect(rows.map(({ offset, detail, stored }) => [offset, detail, stored])).to.deep.equal([
      [1, 'again', false],
      [3, 'no', false],
      [2, 'no', true],
    ]);
    expect(rows[0]).to.deep.include({ time: '2026-11-18T11:06:40.009Z', tenant: '7', rows: '2', bytes: 3, topic: 'logs.v1', partition: 1 });
  });

  it('list those of a reason, and the last of them', async () => {
    const fake = new Fake([letter(1), letter(2, { reason: 'version' }), letter(3), letter(4), letter(3, { reason: 'version' })]);
    expect((await fake.list('reason=refused')).map(({ offset }) => offset)).to.deep.equal([4, 1]);
    expect((await fake.list('limit=2')).map(({ offset }) => offset)).to.deep.equal([3, 4]);
    await fake.list('from=2026-11-20T10:00Z');
    expect(fake.from).to.equal(Date.parse('2026-11-20T10:00:00Z'));
  });

  it('replay what is not stored whole, each once', async () => {
    const letters = [letter(1), letter(2), letter(1), letter(3, { reason: 'version' }), letter(4), letter(5, { topic: 'other.v1' })];
    const fake = new Fake(letters, { '1:2': 2, '1:4': 1 });
    const wanted = { reason: 'refused', from: '1h' };
    expect(await fake.replay({ ...wanted, dry_run: true })).to.deep.equal({
      reason: 'refused', letters: 3, stored: 1, left: false, to_replay: 2, replayed: 0,
    }); // prettier-ignore
    expect(fake.replayed).to.deep.equal([]);
    expect(await fake.replay(wanted)).to.deep.include({ letters: 3, stored: 1, to_replay: 0, replayed: 2 });
    expect(fake.replayed.map(({ offset }) => offset)).to.deep.equal([1, 4]);
  });

  it('are stored where every set has them whole', async () => {
    const fake = new Fake([letter(1), letter(2), letter(3)], { '1:1': 2, '1:2': 2 }, { '1:1': 2, '1:3': 2 });
    expect((await fake.list()).map(({ offset, stored }) => [offset, stored])).to.deep.equal([[3, false], [2, false], [1, true]]); // prettier-ignore
    await fake.replay({ reason: 'refused', from: '1h' });
    expect(fake.replayed.map(({ offset }) => offset)).to.deep.equal([2, 3]);
  });

  it('take one row for stored where the record does not say how many it has', async () => {
    const headers = { count: Buffer.from('x') };
    const original = { key: null, value: null, headers, timestamp: '1' };
    expect((await new Fake([letter(1, { original })], { '1:1': 1 }).list()).map(({ stored }) => stored)).to.deep.equal([true]);
  });

  it('ask the table in statements of bounded size', async () => {
    const fake = new Fake(Array.from({ length: 2500 }, (_, offset) => letter(1_000_000_000_000_000 + offset)));
    await fake.list('limit=10000');
    expect(fake.asked).to.have.length(3);
    for (const text of fake.asked) expect(text.length).to.be.below(100_000);
  });

  for (const [query, what] of [
    ['reason=bored', /The reason is one of foreign, version, headers, rows, refused/],
    ['from=yesterday', /not a valid time/],
    ['limit=0', /limit/],
    ['limit=10001', /limit/],
    ['limit=1e3', /limit/],
  ] as const)
    it(`refuse the query ${query}`, async () => {
      const error = await failure(new Fake([]).list(query));
      expect(error).to.be.instanceOf(HttpError);
      expect((error as HttpError).message).to.match(what);
    });

  for (const body of [
    undefined,
    {},
    { reason: 'refused' },
    { from: '1h' },
    { reason: 'bored', from: '1h' },
    { reason: 'refused', from: 'x' },
    { reason: 'refused', from: '1h', dry_run: 5 },
    { reason: 'refused', from: '1h', all: true },
  ])
    it(`refuse the replay ${JSON.stringify(body)}`, async () => {
      const error = await failure(new Fake([letter(1)]).replay(body));
      expect(error).to.be.instanceOf(HttpError);
      expect((error as HttpError).status).to.equal(400);
    });
});
