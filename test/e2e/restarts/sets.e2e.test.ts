import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../../../compose/embedded/clickhouse.ts';
import { SET_HEADER } from '../../../api/engine/set-engine.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import { askClickHouse } from '../engine.ts';
import { pace } from '../pace.ts';
import { tableHashes, type Ask } from '../set-hashes.ts';
import { newTenant, runCli } from '../shared.ts';

describe('two sets, each a whole copy of the data', function () {
  this.timeout(900_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-sets-'));
  const ENV = { LOGWEIR_CLICKHOUSE_SETS_FILE: path.join(folder, 'sets.json') };
  let instance: Instance;
  let second: ClickHouse;
  let sent = 0;
  const first: Ask = (statement) => askClickHouse(instance, statement);
  const other: Ask = async (statement) => {
    const headers = { 'X-ClickHouse-User': second.user, 'X-ClickHouse-Key': second.password, 'X-ClickHouse-Database': 'logweir' };
    const response = await fetch(second.url, { method: 'POST', body: statement, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text.split('\n').slice(0, -1).map((line) => line.split('\t')); // prettier-ignore
  };

  before(async () => {
    second = await startClickHouse({ dataDir: folder });
    const { url, user, password, readerUser, readerPassword } = second;
    writeFileSync(path.join(folder, 'password'), `${password}\n`);
    const set = { name: 'b', url, user, password_file: 'password', reader_user: readerUser, reader_password: readerPassword };
    writeFileSync(path.join(folder, 'sets.json'), JSON.stringify({ sets: [set] }));
    const { port } = second;
    await second.stop();
    instance = await startInstance({ env: ENV });
    await until('the warning', warnings, (text) => text.includes('Nothing is stored in the set b'));
    await send(100);
    await untilStored(first);
    expect(await setOf()).to.equal('a');
    second = await startAgain(port);
  });
  after(async () => {
    await instance.stop();
    await second.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts the second server, which finds the backups of the first. */
  const startAgain = (port: number): Promise<ClickHouse> =>
    startClickHouse({ dataDir: folder, port, backups: { at: path.join(instance.dataDir, 'backups'), accessKey: '', secretKey: '' } });
  async function send(count: number): Promise<void> {
    const entries = Array.from({ length: count }, () => ({
      _msg: `entry ${String(++sent)}`,
      service: `s${String(sent % 5)}`,
      level: 'info',
    }));
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries);
    expect(status).to.equal(200);
  }
  const search = (): ReturnType<Instance['call']> =>
    instance.call('POST', `${instance.app}/api/v1/tenants/1/search`, { query: '*', start: '-1h', limit: 10 });
  const setOf = async (): Promise<string | null> => {
    const { status, headers } = await search();
    return status === 200 ? headers.get(SET_HEADER) : String(status);
  };
  /** The sets, or the statuses of failures, of searches one after the other while entries come in and something is done meanwhile. */
  async function searching(meanwhile: () => void): Promise<unknown[]> {
    const seen = new Set<string | null>();
    let isOver = false;
    const loops = [1, 2, 3, 4].map(async () => {
      while (!isOver) {
        seen.add(await setOf());
        await pace();
      }
    });
    for (let batch = 0; batch < 30; batch++) {
      if (batch === 10) meanwhile();
      await send(50);
      await setOf();
    }
    isOver = true;
    await Promise.all(loops);
    return [...seen].sort();
  }
  const stored = async (ask: Ask): Promise<number> => Number((await ask('SELECT count() FROM logs'))[0]?.[0]);
  const untilStored = (ask: Ask): Promise<number> => until('all entries', () => stored(ask), (count) => count === sent); // prettier-ignore
  const untilEqual = async (): Promise<void> => {
    await Promise.all([untilStored(first), untilStored(other)]);
    const [a, b] = await until('equal tables', () => Promise.all([tableHashes(first), tableHashes(other)]), ([one, two]) => JSON.stringify(one) === JSON.stringify(two)); // prettier-ignore
    expect(a).to.deep.equal(b);
    expect(a['logs']).to.match(new RegExp(`^${String(sent)} `));
  };
  const series = async (name: string): Promise<Record<string, number>> => {
    const { body } = await instance.call('GET', `${instance.admin}/metrics`);
    const found = String(body).matchAll(new RegExp(`^${name}\\{.*set="(\\w+)".*\\} (\\d+)`, 'gm'));
    return Object.fromEntries([...found].map(([, set = '', value]): [string, number] => [set, Number(value)]));
  };
  const warnings = async (): Promise<string> =>
    ((await instance.call('GET', `${instance.admin}/ready`)).body as { warnings: string[] }).warnings.join('\n');

  it('start while one is unavailable, whose tables are made when it has recovered', async () => {
    await untilEqual();
    await until('both sets', () => series('logweir_set_ready'), (ready) => ready['a'] === 1 && ready['b'] === 1); // prettier-ignore
    await until('no warning', warnings, (text) => text === '');
  });

  it('get all entries from the log, and an answer names its set', async () => {
    for (let batch = 0; batch < 5; batch++) await send(200);
    await untilEqual();
    expect(await setOf()).to.equal('a');
    expect(await series('logweir_set_ready')).to.deep.equal({ a: 1, b: 1 });
    expect(await instance.count('*')).to.equal(sent);
  });

  it('answer while either is killed under ingest, and what was killed catches up by itself', async () => {
    const a = instance.processes().get('clickhouse');
    expect(await searching(() => void process.kill(a?.pid ?? 0, 'SIGKILL')), 'no search fails').to.deep.equal(['a', 'b']);
    await untilEqual();
    await until('both sets', () => series('logweir_set_ready'), (ready) => ready['a'] === 1 && ready['b'] === 1); // prettier-ignore

    const { port } = second;
    expect(await searching(() => second.kill()), 'no search fails').to.deep.equal(['a', 'b']);
    expect((await instance.call('GET', `${instance.admin}/ready`)).status).to.equal(200);
    await until('the warning', warnings, (text) => text.includes('The set b does not serve: it is unavailable.'));
    await untilStored(first);
    expect(await instance.count('*'), 'counts are of the set that is there').to.equal(sent);

    second = await startAgain(port);
    await untilEqual();
    await until('no warning', warnings, (text) => text === '');
  });

  it('answer while one is silent, which is left within seconds', async () => {
    const pid = instance.processes().get('clickhouse')?.pid ?? 0;
    expect(await setOf()).to.equal('a');
    try {
      expect(await searching(() => void process.kill(pid, 'SIGSTOP')), 'no search fails').to.deep.equal(['a', 'b']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await untilEqual();
    await until('both sets', () => series('logweir_set_ready'), (ready) => ready['a'] === 1 && ready['b'] === 1); // prettier-ignore
  });

  it('lose the rows of a deleted tenant, also one that was unavailable then', async () => {
    const tenant = await newTenant(instance);
    const rows = async (ask: Ask): Promise<string> =>
      (await ask(`SELECT count() FROM logs WHERE tenant_id = ${String(tenant.id)}`))[0]?.[0] ?? '';
    const auth = { Authorization: `Bearer ${tenant.key}` };
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, [{ _msg: 'of the tenant' }], auth);
    await until('the entry', () => Promise.all([rows(first), rows(other)]), (found) => found.join() === '1,1'); // prettier-ignore
    const { port } = second;
    second.kill();
    await second.exited;
    const operator = { id: 1, key: instance.key };
    const id = ['--tenant', String(tenant.id)];
    const { body } = await instance.call('GET', `${instance.admin}/admin/tenants`, undefined, { Authorization: `Bearer ${readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim()}` }); // prettier-ignore
    const name = (body as { tenant_id: number; name: string }[]).find(({ tenant_id: one }) => one === tenant.id)?.name ?? '';
    expect((await runCli(instance, operator, ['admin', 'tenant', 'delete', ...id, '--name', name])).code).to.equal(0);
    await until('no row in the set that is there', () => rows(first), (count) => count === '0'); // prettier-ignore
    const state = async (): Promise<string> => (await runCli(instance, operator, ['admin', 'tenant', 'deletion', ...id, '--json'])).stdout;
    expect(await state(), 'it is not done').to.contain('deleting');
    second = await startAgain(port);
    await until('no row in the other one', () => rows(other), (count) => count === '0'); // prettier-ignore
    await until('the certificate', state, (text) => /"deleted"/.test(text));
  });

  it('refuse one that comes back empty, also with new tables, and rebuild it from a backup of the other, and the log', async () => {
    const operator = { id: 1, key: instance.key };
    const admin = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runCli(instance, operator, ['admin', ...args]);
      return code === 0 ? stdout : stderr;
    };
    await send(100);
    expect(await admin('backup', '--at', 'whole', '--set', 'a')).to.contain('done');
    await send(100);
    await untilEqual();
    expect(await admin('restore', '--at', 'whole', '--set', 'b'), 'its sinks run').to.contain('Sinks run');
    const { port } = second;
    second.kill();
    await second.exited;
    rmSync(path.join(folder, 'clickhouse/data'), { recursive: true });
    await until('the warning', warnings, (text) => text.includes('The set b does not serve: it is unavailable.'));
    second = await startAgain(port);
    await until('the warning', warnings, (text) => text.includes('The set b does not serve: it is in another server than the one'));
    expect(await setOf()).to.equal('a');

    // a start makes tables in every set
    await instance.stop({ keep: true });
    instance = await startInstance({ dataDir: instance.dataDir, env: ENV });
    await until('the warnings', warnings, (text) =>
      ['The set b does not serve: it', 'Nothing is stored in the set b: it'].every((one) => text.includes(`${one} is in another server`)),
    );
    await send(100);
    await untilStored(first);
    expect([await stored(other), await setOf()]).to.deep.equal([0, 'a']);
    expect(await admin('restore', '--at', 'whole', '--set', 'c')).to.contain('There is no set "c"; there is a, b.');
    expect(await admin('restore', '--at', 'whole', '--set', 'b')).to.contain('done');
    await untilEqual();
    await until('no warning', warnings, (text) => text === '');
    await until('both sets', () => series('logweir_set_ready'), (ready) => ready['a'] === 1 && ready['b'] === 1); // prettier-ignore
  });

  it('are audited one by one, or all', async () => {
    const tenant = { id: 1, key: instance.key };
    const { stdout, stderr, code } = await runCli(instance, tenant, ['audit', '--all-sets']);
    expect(stderr).to.not.contain('Usage');
    expect(stdout.split('\n').map((line) => line.replace(/ of .*/, ''))).to.deep.equal([
      'set a: logs.v1: 0 lost, 0 doubled',
      'set b: logs.v1: 0 lost, 0 doubled',
      '',
    ]);
    expect(code).to.equal(0);
    const unknown = await runCli(instance, tenant, ['audit', '--set', 'c']);
    expect([unknown.code, unknown.stderr]).to.deep.equal([2, 'There is no set "c"; there is a, b.\n']);
  });
});
