import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { backUp } from '../../../api/backups/backup.ts';
import { readManifest, renderManifest, type Manifest } from '../../../api/backups/manifest.ts';
import { readPlace } from '../../../api/backups/place.ts';
import { resumeFrom } from '../../../api/backups/positions.ts';
import { restore } from '../../../api/backups/restore.ts';
import { backupRoutes } from '../../../api/backups/routes.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { BackupWorld, FILLED } from '../../fakes/backup-world.ts';

const NO_KEYS = { accessKey: '', secretKey: '', disk: null };
const place = readPlace('b', NO_KEYS);
const noReport = (): void => undefined;
const failure = (step: Promise<unknown>): Promise<string> =>
  step.then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
const position = (sink: string, partition: number, offset: number, more: { low?: number; end?: number; metadata?: string } = {}) =>
  ({ sink, topic: `${sink}.v1`, partition, offset, metadata: 'm', low: 0, end: 100, ...more }); // prettier-ignore
const manifest: Manifest = {
  ...{ format: 1, program: '0.1.0', schema: 24, database: 'logweir', madeAt: '2026-11-28T10:00:00.000Z', cluster: 'c' },
  tables: [{ name: 'logs', rows: 5, bytes: 7, parts: 1 }],
  positions: [position('logs', 0, 40)],
};

/** A world that has this backup. */
function withBackup(made: Manifest = manifest): BackupWorld {
  const world = new BackupWorld();
  const { text, digest } = renderManifest(made);
  world.manifest = [text, digest];
  world.states = [['RESTORED', '']];
  world.rows.set('logweir_restoring', { logs: 5 });
  world.logs = { cluster: 'c', bounds: new Map([['logs.v1', new Map([[0, { low: 0, end: 90 }]])]]) };
  return world;
}

describe('where a backup lies', () => {
  for (const [text, sql] of [
    ['nightly', "File('nightly/tables')"],
    ['2026/11/28_a.b-c', "File('2026/11/28_a.b-c/tables')"],
    ['disk:cold/nightly', "Disk('cold', 'nightly/tables')"],
    ['https://s3.example.com/bucket/logs/', "S3('https://s3.example.com/bucket/logs/tables')"],
  ] as const)
    it(`is ${text}`, () => {
      expect(readPlace(text, NO_KEYS).of('tables')).to.equal(sql);
    });

  it('is a disk for names, where names are on one', () => {
    const places = { ...NO_KEYS, disk: 'backups' };
    expect(readPlace('2026/nightly', places).of('manifest')).to.equal("Disk('backups', '2026/nightly/manifest')");
    expect(readPlace('disk:cold/nightly', places).of('tables')).to.equal("Disk('cold', 'nightly/tables')");
  });

  it('has the engine give S3 up that is silent', async () => {
    const world = withBackup();
    await restore(world.sources, readPlace('https://s3/bucket/a', NO_KEYS), noReport);
    expect(world.done.find((step) => step.startsWith('RESTORE'))).to.match(
      /FROM S3\('https:\/\/s3\/bucket\/a\/tables'\) SETTINGS s3_connect_timeout_ms = 2000, .*, allow_suspicious_low_cardinality_types = 1 ASYNC$/,
    );
    expect(world.settings).to.deep.include({ backup_restore_s3_retry_attempts: '3' });
  });

  it('has the keys of S3, quoted', () => {
    const keyed = readPlace('http://127.0.0.1:7070/bucket/a', { ...NO_KEYS, accessKey: "a'b", secretKey: 'c\\d' });
    expect(keyed.of('manifest')).to.equal(String.raw`S3('http://127.0.0.1:7070/bucket/a/manifest', 'a\'b', 'c\\d')`);
  });

  for (const text of [
    '',
    '.',
    '..',
    '../a',
    'a/../b',
    '/etc',
    'a//b',
    'a/',
    "a'",
    'a b',
    'a\n',
    '-a',
    'disk:',
    'disk:a',
    'disk:a/../b',
    's3://a/b',
    'ftp://a/b',
    'https://u:p@h/b',
    "https://h/b'",
    'https://h/../b',
    'a\u0000',
    'x'.repeat(501),
  ])
    // prettier-ignore
    it(`is refused: ${JSON.stringify(text.slice(0, 20))}`, () => {
      expect(() => readPlace(text, NO_KEYS)).to.throw(HttpError, '"at" is where a backup lies');
    });
});

describe('the manifest of a backup', () => {
  const { text, digest } = renderManifest(manifest);
  const changed = (more: object): [string, string] => {
    const other = renderManifest({ ...manifest, ...more });
    return [other.text, other.digest];
  };

  it('is read as it was written, and with members of later versions', () => {
    expect(readManifest(text, digest, 24)).to.deep.equal(manifest);
    expect(readManifest(...changed({ more: 1 }), 24)).to.deep.include({ schema: 24 });
    expect(readManifest(text, digest, 30)).to.deep.equal(manifest);
  });

  for (const [what, why, ...args] of [
    ['damaged', 'damaged', text.replace('40', '41'), digest],
    ['torn', 'damaged', text.slice(0, -1), digest],
    ['of another format', 'has the format 2', ...changed({ format: 2 })],
    ['of newer tables', 'tables are newer (25)', ...changed({ schema: 25 })],
    ['of a table with such a name', 'not one of Logweir', ...changed({ tables: [{ name: 'a`; DROP', rows: 1, bytes: 1, parts: 1 }] })],
    ['without tables', 'not one of Logweir', ...changed({ tables: [] })],
    ['of a position that is none', 'not one of Logweir', ...changed({ positions: [position('logs', 0, -2)] })],
  ] as const)
    it(`is refused where it is ${what}`, () => {
      expect(() => readManifest(args[0], args[1], 24)).to.throw(why);
    });
});

describe('where sinks go on after a restore', () => {
  const bounds = (of: Record<number, [low: number, end: number]>) =>
    new Map([['logs.v1', new Map(Object.entries(of).map(([partition, [low, end]]) => [Number(partition), { low, end }]))]]); // prettier-ignore
  const resumed = (positions: Manifest['positions'], of: Record<number, [number, number]>, cluster = 'c') =>
    resumeFrom(FILLED, { cluster: 'c', positions }, { cluster, bounds: bounds(of) });
  const logsOf = ({ groups }: ReturnType<typeof resumed>): unknown => [...(groups[0]?.positions ?? [])];

  it('is what was noted, with the intent', () => {
    const found = resumed([position('logs', 0, 40), position('logs', 1, 0, { metadata: '' })], { 0: [10, 90], 1: [0, 5] });
    expect(logsOf(found)).to.deep.equal([[0, { offset: 40, metadata: 'm' }], [1, { offset: 0, metadata: '' }]]); // prettier-ignore
    expect(found).to.deep.include({ again: 55, expired: [], otherLogs: [] });
  });

  it('is the beginning of a partition that came later, or of which nothing was committed', () => {
    const found = resumed([position('logs', 0, -1)], { 0: [3, 9], 1: [0, 5] });
    expect(logsOf(found)).to.deep.equal([[0, { offset: 3, metadata: '' }], [1, { offset: 0, metadata: '' }]]); // prettier-ignore
    expect(found).to.deep.include({ again: 11, expired: [], otherLogs: [] });
  });

  it('is what was noted where Kafka has deleted what follows, and that is told', () => {
    const found = resumed([position('logs', 0, 40)], { 0: [60, 90] });
    expect(logsOf(found)).to.deep.equal([[0, { offset: 40, metadata: 'm' }]]);
    expect(found).to.deep.include({ again: 30, expired: [{ topic: 'logs.v1', table: 'logs', partition: 0, from: 40, to: 60 }] });
  });

  for (const [what, of, cluster] of [
    ['another cluster', { 0: [0, 90] }, 'd'],
    ['a log that ends before', { 0: [0, 30] }, 'c'],
  ] as const)
    it(`is the beginning of the log of ${what}`, () => {
      const found = resumed([position('logs', 0, 40)], of as never, cluster);
      expect(logsOf(found)).to.deep.equal([[0, { offset: 0, metadata: '' }]]);
      expect(found).to.deep.include({ expired: [], otherLogs: ['logs.v1'] });
    });
});

describe('a backup', () => {
  it('notes positions, copies, opens the copy, and writes the manifest last', async () => {
    const world = new BackupWorld();
    world.noted = { cluster: 'c', positions: manifest.positions };
    world.rows.set('logweir_backup', { logs: 5 });
    const made = await backUp(world.sources, place, noReport);
    const [text = '', digest = ''] = world.manifest ?? [];
    expect(readManifest(text, digest, 24)).to.deep.equal(made);
    expect(made.tables).to.deep.equal([{ name: 'logs', rows: 5, bytes: 7, parts: 1 }, { name: 'migrations', rows: 0, bytes: 0, parts: 0 }]); // prettier-ignore
    const steps = world.done.filter((step) => /^(note|BACKUP|CREATE DATABASE)/.test(step)).map((step) => step.slice(0, 31));
    expect(steps).to.deep.equal(['note', 'BACKUP TABLE `logweir`.`logs` AS', 'CREATE DATABASE `logweir_backup`', 'CREATE DATABASE `logweir_backup`', 'BACKUP TABLE `logweir_backup`.`'].map((step) => step.slice(0, 31))); // prettier-ignore
  });

  it('has no manifest where the copy fails, or the server begins anew', async () => {
    for (const [state, why] of [
      [['BACKUP_FAILED', 'Code: 598. DB::Exception: Backup File(b) already exists. (BACKUP_ALREADY_EXISTS), Stack trace: 0. ?'], 'already exists. (BACKUP_ALREADY_EXISTS)'],
      [[], 'ClickHouse was started again meanwhile.'],
      [['BACKUP_FAILED', 'Code: 49. DB::Exception: The BackupsIOThreadPool is not initialized. (LOGICAL_ERROR)'], 'The embedded ClickHouse has backups on S3 under names alone'],
    ] as const) {
      const world = new BackupWorld();
      world.states = [['CREATING_BACKUP', ''], state];
      const sentence = await failure(backUp(world.sources, place, noReport));
      expect(sentence).to.include(why);
      expect(sentence).to.not.include('Stack');
      expect(world.manifest).to.equal(null);
    }
  }); // prettier-ignore

  it('is refused of tables that servers share', async () => {
    const world = new BackupWorld();
    world.engines.set('logs', 'ReplicatedMergeTree');
    expect(await failure(backUp(world.sources, place, noReport))).to.include('logs is ReplicatedMergeTree, which servers share');
  });
});

describe('a restore', () => {
  it('replaces the database last, and puts the sinks back before it is there', async () => {
    const world = withBackup();
    const { rows, again, lost, notes } = await restore(world.sources, place, noReport);
    expect({ rows, again, lost, notes }).to.deep.equal({ rows: 5, again: 50, lost: 0, notes: [] });
    expect(world.done.slice(-7)).to.deep.equal([
      'CREATE DATABASE `logweir_restoring`',
      "RESTORE TABLE `logweir`.`logs` AS `logweir_restoring`.`logs` FROM File('b/tables') SETTINGS allow_suspicious_low_cardinality_types = 1 ASYNC",
      'prepare logweir_restoring',
      'identify logweir_restoring',
      'DROP DATABASE IF EXISTS `logweir` SYNC',
      'put',
      'RENAME DATABASE `logweir_restoring` TO `logweir`',
    ]);
    expect([...(world.put.get('g-logs') ?? [])]).to.deep.equal([[0, { offset: 40, metadata: 'm' }]]);
  });

  for (const failsAt of ['RESTORE', 'prepare', 'identify', 'DROP DATABASE IF EXISTS `logweir` SYNC', 'put', 'RENAME'])
    it(`can be repeated where it has failed at ${failsAt}`, async () => {
      const world = withBackup();
      world.failsAt = failsAt;
      expect(await failure(restore(world.sources, place, noReport))).to.equal(`${failsAt} failed`);
      // the positions are never put while the database is there without what lies before them
      expect(world.done.includes('put') && !world.done.includes('DROP DATABASE IF EXISTS `logweir` SYNC')).to.equal(false);
      world.failsAt = '';
      expect((await restore(world.sources, place, noReport)).rows).to.equal(5);
    });

  it('is refused, with nothing changed, while sinks run or where there are rows', async () => {
    const busy = withBackup();
    busy.running = ['logs', 'volume'];
    expect(await failure(restore(busy.sources, place, noReport))).to.include('Sinks run (logs, volume)');
    const full = withBackup();
    full.rows.set('logweir', { migrations: 20, insert_fences: 2, spans: 3 });
    expect(await failure(restore(full.sources, place, noReport))).to.include('logweir is not empty: spans has 3 rows');
    for (const { done } of [busy, full]) expect(done.some((step) => /RESTORE|put|`logweir` SYNC/.test(step))).to.equal(false);
  });

  it('is refused without a manifest, and with a newer one', async () => {
    const without = withBackup();
    without.manifest = null;
    expect(await failure(restore(without.sources, place, noReport))).to.include('damaged');
    const unread = withBackup();
    unread.failsAt = 'CREATE DATABASE `logweir_backup`';
    expect(await failure(restore(unread.sources, place, noReport))).to.include('There is no whole backup of Logweir');
    expect(await failure(restore(withBackup({ ...manifest, schema: 99 }).sources, place, noReport))).to.include('newer (99)');
  });

  it('tells what Kafka has no more, and that a log is another one', async () => {
    const expired = withBackup();
    expired.logs = { cluster: 'c', bounds: new Map([['logs.v1', new Map([[0, { low: 50, end: 90 }]])]]) };
    const { lost, notes } = await restore(expired.sources, place, noReport);
    expect(lost).to.equal(7);
    expect(notes).to.deep.equal(['Kafka has no more the records 40 to 49 of logs.v1, partition 0: 3 of 10 are in the backup.']);
    const other = withBackup();
    other.logs = { ...other.logs, cluster: 'd' };
    expect((await restore(other.sources, place, noReport)).notes[0]).to.include('The log of logs.v1 is not that of the backup');
    expect([...(other.put.get('g-logs') ?? [])]).to.deep.equal([[0, { offset: 0, metadata: '' }]]);
    // counts of segments that begin at 0 again are set apart
    expect(other.done.some((step) => step.startsWith('TRUNCATE TABLE `logweir_restoring`.`volume`'))).to.equal(true);
    expect(expired.done.some((step) => step.startsWith('TRUNCATE'))).to.equal(false);
  });
});

describe('the turn of a node', () => {
  for (const [what, work] of [
    ['backup', (world: BackupWorld) => backUp(world.sources, place, noReport)],
    ['restore', (world: BackupWorld) => restore(world.sources, place, noReport)],
  ] as const) {
    it(`is ended after a ${what}, also after one that has failed`, async () => {
      for (const failsAt of ['', what.toUpperCase()]) {
        const world = withBackup();
        world.states = [['BACKUP_CREATED', '']];
        world.failsAt = failsAt;
        expect(await failure(work(world))).to.equal(failsAt === '' ? '' : `${failsAt} failed`);
        expect(world.turns).to.equal(0);
      }
    });

    it(`is looked at before each step of a ${what} that another node may not see`, async () => {
      const whole = withBackup();
      await work(whole);
      for (const confirmations of [0, 1]) {
        const world = withBackup();
        world.confirmations = confirmations;
        expect(await failure(work(world))).to.equal('another has it');
        expect(world.turns).to.equal(0);
        expect(world.done.some((step) => /^(identify|put|RENAME|BACKUP TABLE `logweir_backup`)/.test(step))).to.equal(false);
        expect(whole.done.some((step) => /^(RENAME|BACKUP TABLE `logweir_backup`)/.test(step))).to.equal(true);
      }
    });
  }
});

describe('admin routes of backups', () => {
  type Shown = { readonly id: string; readonly state: string; readonly detail: string | null };
  const ask = (world: BackupWorld) => {
    const routes = backupRoutes(() => Promise.resolve(world.sources), NO_KEYS);
    const call = async (route: number, body: unknown, params = {}): Promise<Shown> =>
      ({ ...((await routes[route]?.handle({ params, query: new URLSearchParams(), requestId: 'r', body: () => Promise.resolve(body) }))?.body as Shown) }); // prettier-ignore
    const look = (id: string): Promise<Shown> => call(2, undefined, { backup: id });
    const over = async (id: string): Promise<Shown> => {
      for (;;) {
        const job = await look(id);
        if (job.state !== 'running') return job;
        await turn();
      }
    };
    return { backup: (body: unknown) => call(0, body), restore: (body: unknown) => call(1, body), look, over };
  };

  it('begin one at a time, and tell how far it is', async () => {
    const routes = ask(new BackupWorld());
    const { id, state } = await routes.backup({ at: 'b' });
    expect(state).to.equal('running');
    expect(await failure(routes.restore({ at: 'b' }))).to.match(/^A backup \(b\) runs since /);
    expect(await routes.over(id)).to.deep.include({ state: 'done' });
    expect(await failure(routes.look('other'))).to.include('No such backup or restore is known here');
  });

  it('tell why one has failed, and begin the next', async () => {
    const routes = ask(new BackupWorld());
    const { id } = await routes.restore({ at: 'b' });
    expect((await routes.over(id)).detail).to.include('While reading the manifest: ');
    expect((await routes.backup({ at: 'b' })).state).to.equal('running');
  });

  for (const body of [undefined, {}, { at: 1 }, { at: '' }, { at: '../x' }, { at: 'a', more: 1 }, [], 'x', null])
    it(`refuse ${JSON.stringify(body)}`, async () => {
      const { backup, restore: restoring } = ask(new BackupWorld());
      for (const begin of [backup, restoring]) {
        const error = await begin(body).then(() => null, (thrown: unknown) => thrown); // prettier-ignore
        expect(error).to.be.instanceOf(HttpError);
        expect((error as HttpError).status).to.equal(400);
      }
    });
});
