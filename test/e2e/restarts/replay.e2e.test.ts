import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { MAX_SESSION_MS } from '../../../pipeline/replay/chunk.ts';
import { startInstance, until, type Instance } from '../instance.ts';

type Answer = Awaited<ReturnType<Instance['call']>>;
type Listed = { readonly sessions: readonly Readonly<Record<string, unknown>>[] };

const KEPT = ['near', 'many', 'sparse'];

describe('session replay over restarts', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-replay-restart-'));
  let instance: Instance;
  let second: ClickHouse | null = null;
  const now = Date.now();

  before(async () => {
    instance = await startInstance();
  });
  after(async () => {
    await instance.stop();
    await second?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const event = (at: number, type = 3, data: object = {}): object => ({ type, data, timestamp: at });
  const send = (session: string, seq: number, events: readonly object[], more: object = {}): Promise<Answer> =>
    instance.call('POST', `${instance.app}/v1/rum/replay`, { ...{ session_id: session, seq, events }, ...more });
  const call = (rest: string, method = 'GET'): Promise<Answer> => instance.call(method, `${instance.app}/api/v1/tenants/1/replay/sessions${rest}`); // prettier-ignore
  const list = async (): Promise<Listed['sessions']> => {
    const { status, body } = await call(`?start=-2d&end=${new Date(now + 86_400_000).toISOString()}&limit=100`);
    return status === 200 ? (body as Listed).sessions : [];
  };
  /** Every session as it is listed and asked for, with its events. */
  async function everything(): Promise<unknown> {
    const of = async (rest: string): Promise<unknown> => {
      const { status, body } = await call(rest);
      return status === 200 ? [rest, body] : [rest, status];
    };
    const paths = [...KEPT, 'deleted'].flatMap((id) => [`/${id}`, `/${id}/events`]);
    return [await list(), await Promise.all(paths.map(of))];
  }

  it('know how long a session is that was stored before: what is beyond its bound is refused, and no other one', async () => {
    const taken = { status: 202, body: { status: 'ok' } };
    const begin = now - MAX_SESSION_MS + 60_000;
    expect(await send('near', 0, [event(begin, 4, { href: 'https://shop.example/' }), event(begin + 1, 2)])).to.deep.include(taken);
    await until('the session', () => call('/near'), ({ status }) => status === 200); // prettier-ignore
    for (const role of ['app', 'ingest']) {
      const victim = instance.processes().get(role)?.pid ?? 0;
      process.kill(victim, 'SIGKILL');
      await until(`${role} again`, () => Promise.resolve(instance.processes().get(role)?.pid), (pid) => pid !== undefined && pid !== victim); // prettier-ignore
    }
    await until('an answer', () => send('near', 1, [event(now)]).catch(() => null), (answer) => answer?.status === 202); // prettier-ignore
    const { body } = await until('the refusal', () => send('near', 2, [event(now + 90_000)]), ({ status }) => status === 413); // prettier-ignore
    expect(body).to.deep.include({
      detail: 'The session is longer than 12 hours, which is the most that one may last; begin another one.',
    });
    expect(await send('sparse', 0, [event(now + 90_000)])).to.deep.include(taken);
  });

  it('are the same when their tables are filled from the log alone, and what was deleted stays deleted', async () => {
    for (let seq = 9; seq >= 0; seq--)
      await send('many', seq, [event(now + seq * 1000, 2), event(now + seq * 1000 + 500, 5, { tag: 'error' })], { user: 'ada', service: `s${String(seq % 2)}` }); // prettier-ignore
    // once more
    await send('many', 3, [event(now + 3000, 2), event(now + 3500, 5, { tag: 'error' })], { user: 'ada', service: 's1' });
    await send('deleted', 0, [event(now, 4, { href: 'https://shop.example/secret' }), event(now + 1, 2)]);
    await until('the session', () => call('/deleted'), ({ status }) => status === 200); // prettier-ignore
    expect((await call('/deleted', 'DELETE')).status).to.equal(202);
    await send('deleted', 1, [event(now + 5000)]);
    await until('all sessions', list, (all) => all.length === 3 && all.find(({ session_id: id }) => id === 'many')?.['events'] === 20); // prettier-ignore
    const before = await everything();
    await instance.stop({ keep: true });

    second = await startClickHouse({ dataDir: folder });
    const { url, user, password, readerUser, readerPassword } = second;
    writeFileSync(path.join(folder, 'password'), `${password}\n`);
    const set = { name: 'b', url, user, password_file: 'password', reader_user: readerUser, reader_password: readerPassword };
    writeFileSync(path.join(folder, 'sets.json'), JSON.stringify({ sets: [{ ...set, whole: true }] }));
    const env = { LOGWEIR_CLICKHOUSE_SETS_FILE: path.join(folder, 'sets.json'), LOGWEIR_CLICKHOUSE_SETS_OUT: 'a' };
    instance = await startInstance({ dataDir: instance.dataDir, env });
    await until('the same sessions', everything, (after) => JSON.stringify(after) === JSON.stringify(before)); // prettier-ignore
    expect((await call('/deleted')).status).to.equal(404);
  });
});
