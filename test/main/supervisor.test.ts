import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';
import { Instance, isRunning, until } from './instance.ts';

describe('supervisor', () => {
  const instances: Instance[] = [];
  const create = async (env: Readonly<Record<string, string>> = {}): Promise<Instance> => {
    const instance = await Instance.create({ FAKE_ENGINES: '1', ...env });
    instances.push(instance);
    return instance;
  };
  const start = async (env: Readonly<Record<string, string>> = {}, ...args: string[]): Promise<Instance> => {
    const instance = (await create(env)).spawn(...args);
    await instance.ready();
    return instance;
  };
  afterEach(async () => {
    await Promise.all(instances.splice(0).map((instance) => instance.dispose()));
  });

  describe('start', () => {
    it('says when all is ready, in exactly one line', async () => {
      const [app, ingest] = (await freePorts(2)).map(String) as [string, string];
      const instance = await start({ LOGWEIR_BOOTSTRAP_KEY: 'test_key-1-of-the-test', LOGWEIR_APP_PORT: app, LOGWEIR_INGEST_PORT: ingest });
      expect(instance.stdout).to.equal(
        `Logweir is ready: app http://127.0.0.1:${app} ingest http://127.0.0.1:${ingest} tenant 1 key test_key-1-of-the-test\n`,
      );
    });

    it('passes on what the setup warns of', async () => {
      const instance = await start({ FAKE_SETUP: 'warns' });
      expect(instance.stderr).to.include('logweir: WARNING: A topic is odd.\n');
    });

    it('tells the roles where the engines are', async () => {
      const instance = await start();
      for (const role of ['ingest', 'app', 'sink', 'processors']) {
        const [event] = instance.events('start', role);
        expect(event).to.include({
          LOGWEIR_KAFKA_BROKERS: '127.0.0.1:4001',
          LOGWEIR_CLICKHOUSE_URL: 'http://127.0.0.1:4003',
          LOGWEIR_EMBEDDED: '1',
        });
      }
    });

    it('has the roles stand by until topics and tables are there, also one that is killed meanwhile', async () => {
      const instance = (await create({ FAKE_SETUP: 'waits' })).spawn();
      const standing = (): number => instance.events('stands by').length;
      await until(() => instance.stderr.includes('preparing topics') && standing() === 4, 'all stand by');
      process.kill(instance.process('app').pid, 'SIGKILL');
      await until(() => standing() === 5, 'app stands by again');
      expect(instance.events('start').filter(({ role }) => !['kafka', 'clickhouse'].includes(role))).to.deep.equal([]);
      writeFileSync(path.join(instance.dataDir, 'go'), '');
      await instance.ready();
      expect(instance.process('app').restarts).to.equal(1);
      const [app] = instance.events('start', 'app');
      expect(app).to.include({ LOGWEIR_KAFKA_BROKERS: '127.0.0.1:4001', LOGWEIR_CLICKHOUSE_URL: 'http://127.0.0.1:4003' });
      // and one that is started again later works at once
      process.kill(instance.process('sink').pid, 'SIGKILL');
      await until(() => instance.events('start', 'sink').length === 2, 'started again');
    });

    it('keeps its secrets, for its owner alone, from one start to the next', async () => {
      const instance = await start();
      const read = (): string[] =>
        ['key.pepper', 'admin.token', 'bootstrap.key'].map((name) => readFileSync(path.join(instance.dataDir, name), 'utf8'));
      const before = read();
      expect(statSync(path.join(instance.dataDir, 'admin.token')).mode & 0o777).to.equal(0o600);
      expect(before[0]).to.match(/^[0-9a-f]{64}\n$/);
      expect(instance.events('start', 'app')[0]).to.include({
        LOGWEIR_KEY_PEPPER: before[0]?.trim(),
        LOGWEIR_ADMIN_TOKEN: before[1]?.trim(),
      });
      expect(instance.stdout).to.match(/ key lw_[\w-]{32}\n$/);
      const { stdout } = instance;
      instance.signal('SIGTERM');
      await instance.exited();
      instance.spawn();
      await instance.ready();
      expect(read()).to.deep.equal(before);
      expect(instance.stdout).to.equal(stdout);
    });

    it('starts the chosen roles only, each as its own process', async () => {
      const instance = await start({}, '--role', 'app,sink');
      expect(instance.processes().map(({ role }) => role)).to.deep.equal(['supervisor', 'kafka', 'clickhouse', 'app', 'sink']);
    });

    it('starts what an older command line names, without a role that there is no more', async () => {
      const instance = await start({}, '--role=ingest,guard');
      expect(instance.processes().map(({ role }) => role)).to.deep.equal(['supervisor', 'kafka', 'clickhouse', 'ingest']);
      expect(instance.stderr).to.include('logweir: WARNING: There is no role guard any more: ingest (or app, where no ingest runs)');
    });

    it('embeds no engine that the environment names', async () => {
      const instance = await start({ LOGWEIR_KAFKA_BROKERS: 'broker:9092', LOGWEIR_CLICKHOUSE_URL: 'http://store:8123' });
      expect(instance.processes().map(({ role }) => role)).to.deep.equal(['supervisor', 'ingest', 'app', 'sink', 'processors']);
      const [event] = instance.events('start', 'app');
      expect(event).to.include({ LOGWEIR_KAFKA_BROKERS: 'broker:9092', LOGWEIR_CLICKHOUSE_URL: 'http://store:8123' });
      expect(event).not.to.have.property('LOGWEIR_EMBEDDED');
      expect(existsSync(path.join(instance.dataDir, 'bootstrap.key'))).to.equal(false);
      expect(instance.stderr).to.contain('WARNING: LOGWEIR_CLICKHOUSE_READER_USER is not set');
    });

    it('says nothing of a reader where there is one', async () => {
      const instance = await start({ LOGWEIR_CLICKHOUSE_URL: 'http://store:8123', LOGWEIR_CLICKHOUSE_READER_USER: 'reader' });
      expect(instance.stderr).not.to.contain('WARNING');
    });

    it('tells Kafka whether packages of the system may be installed for it', async () => {
      expect((await start()).events('start', 'kafka')[0]).to.include({ mayInstall: true });
      expect((await start({ LOGWEIR_INSTALL: '0' })).events('start', 'kafka')[0]).to.include({ mayInstall: false });
    });

    it('tells every role about every other, and again when one has died', async () => {
      const instance = await start();
      const pidsOf = (role: string): number[] => {
        const last = instance.events('message', role).at(-1);
        return ((last?.['peers'] ?? []) as { pid: number }[]).map(({ pid }) => pid);
      };
      const all = (): number[] =>
        instance
          .processes()
          .slice(3)
          .map(({ pid }) => pid);
      await until(() => pidsOf('sink').join() === all().join(), 'all peers known');
      // from the first message on, so that none is ready before the others have started
      const names = instance.processes().slice(3).map(({ role }) => role); // prettier-ignore
      for (const message of instance.events('message')) expect(message['names'], message.role).to.deep.equal(names);
      const killed = instance.process('ingest').pid;
      process.kill(killed, 'SIGKILL');
      await until(() => !pidsOf('sink').includes(killed) && pidsOf('sink').join() === all().join(), 'new peer known');
    });
  });

  describe('faults at start', () => {
    const bad = async (env: Readonly<Record<string, string>>, sentence: RegExp, ...args: string[]): Promise<Instance> => {
      const instance = (await create(env)).spawn(...args);
      expect(await instance.exited(), instance.stderr).to.equal(1);
      expect(instance.stderr.trimEnd().split('\n').at(-1)).to.match(sentence);
      expect(instance.stdout).to.equal('');
      expect(instance.processes()).to.deep.equal([]);
      return instance;
    };
    const pidsStarted = (instance: Instance): number[] =>
      instance.events('start').flatMap(({ pid }) => (typeof pid === 'number' ? [pid] : []));

    it('names a port that is taken, before anything is started', async () => {
      const server = net.createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as net.AddressInfo;
      for (const name of ['LOGWEIR_APP_PORT', 'LOGWEIR_INGEST_PORT', 'LOGWEIR_ADMIN_PORT']) {
        const instance = await bad(
          { [name]: String(port) },
          new RegExp(`^logweir: Port ${port} on 127.0.0.1 is already in use; choose another one with ${name}\\.$`),
        );
        expect(instance.stderr.split('\n')).to.have.length(2);
        expect(instance.events('start')).to.deep.equal([]);
      }
      server.close();
    });

    it('refuses one port for two listeners', () =>
      bad({ LOGWEIR_APP_PORT: '20080', LOGWEIR_INGEST_PORT: '20080' }, /LOGWEIR_INGEST_PORT and LOGWEIR_APP_PORT are both 20080/));
    it('refuses an address that is not here', () => bad({ LOGWEIR_HOST: '192.0.2.1' }, /Cannot listen on 192\.0\.2\.1.*LOGWEIR_HOST/));
    it('refuses a port that is none', () =>
      bad({ LOGWEIR_APP_PORT: 'http' }, /The configuration is wrong: "LOGWEIR_APP_PORT" must be a number\./));
    it('refuses an unknown role', () =>
      bad({}, /There is no role "brain"; roles are ingest, doors, app, sink, processors\./, '--role=app,brain'));
    it('refuses an unknown option', () => bad({}, /The option --fast is unknown/, '--fast'));
    for (const key of ['ä b and others of 16', 'fifteen_charact'])
      it(`refuses the key ${key}, and keeps it nowhere`, async () => {
        const instance = await bad({ LOGWEIR_BOOTSTRAP_KEY: key }, /"LOGWEIR_BOOTSTRAP_KEY" must have 16 characters or more of/);
        expect(existsSync(path.join(instance.dataDir, 'bootstrap.key'))).to.equal(false);
      });
    it('refuses a data directory that is a file', async () => {
      const file = path.join((await create()).dataDir, 'file');
      writeFileSync(file, '');
      await bad({ LOGWEIR_DATA_DIR: file }, /The data directory \S+ cannot be used \(EEXIST\)/);
    });
    it('says why an engine does not start, and stops the other one', () =>
      bad({ FAKE_CLICKHOUSE: 'fails' }, /./).then((instance) => {
        expect(instance.stderr).to.include('clickhouse has no luck');
        expect(instance.events('stop', 'kafka')).to.have.length(1);
      }));
    it('shows the last line of a setup that fails', () =>
      bad({ FAKE_SETUP: 'fails' }, /^logweir: Setup failed \(1\): The configuration is wrong: "LOGWEIR_X" is not allowed\.$/));

    it('shows the last line of a role that fails, and stops the others', async () => {
      const instance = await bad(
        { FAKE_SINK: 'fails' },
        /^logweir: The role sink did not start \(exit code 1\): The process did not start: no luck\.$/,
      );
      expect(instance.stderr).not.to.include('starting it again');
      expect(pidsStarted(instance).filter(isRunning)).to.deep.equal([]);
      expect(instance.events('stop', 'kafka')).to.have.length(1);
    });

    it('refuses a data directory in use', async () => {
      const first = await start();
      const second = (await create({ LOGWEIR_DATA_DIR: first.dataDir })).spawn();
      expect(await second.exited()).to.equal(1);
      expect(second.stderr).to.match(
        new RegExp(`^logweir: The data directory \\S+ is used by another instance, process ${first.pid}; choose`),
      );
      expect(first.processes()).to.have.length(7);
    });

    it('takes over the data directory of a killed supervisor, and a lock whose process number is another process now', async () => {
      const instance = await start();
      const { pid } = instance.process('app');
      instance.signal('SIGKILL');
      await instance.exited();
      await until(() => !isRunning(pid), 'roles end when their supervisor is gone');
      writeFileSync(path.join(instance.dataDir, 'supervisor.lock'), JSON.stringify({ pid: process.pid, startTime: '1' }));
      instance.spawn();
      await instance.ready();
      expect(instance.process('supervisor').pid).to.equal(instance.pid);
    });
  });

  describe('while it runs', () => {
    for (const role of ['kafka', 'clickhouse', 'ingest', 'app', 'sink', 'processors']) {
      it(`starts ${role} again, and counts it`, async () => {
        const instance = await start();
        const before = instance.process(role);
        process.kill(before.pid, 'SIGKILL');
        await until(() => instance.events('start', role).length === 2, 'started again');
        await until(() => instance.process(role).restarts === 1, 'counted');
        expect(instance.process(role).pid).not.to.equal(before.pid);
        expect(instance.events('start', role).map(({ port }) => port)).to.satisfy((ports: unknown[]) => ports[0] === ports[1]);
        expect(instance.stderr).to.include(`logweir: ${role} ended (`);
      });
    }

    it('kills a role whose event loop hangs, and starts it again', async () => {
      const instance = await start({ FAKE_SINK: 'loops', FAKE_LOOK_MS: '10' });
      await until(() => instance.events('start', 'sink').length === 2, 'started again');
      await until(() => instance.process('sink').restarts === 1, 'counted');
      expect(instance.stderr).to.include('logweir: the event loop of sink has hung for 15 s: it is killed\n');
      expect(instance.stderr).to.include('logweir: sink ended (signal SIGKILL), starting it again');
      // those that have never said anything are not watched
      expect(instance.process('app').restarts).to.equal(0);
    });

    it('waits longer each time when a process keeps dying', async () => {
      const instance = await start();
      const waits: number[] = [];
      for (let death = 1; death <= 3; death++) {
        process.kill(instance.process('sink').pid, 'SIGKILL');
        const killedAt = Date.now();
        await until(() => instance.events('start', 'sink').length === death + 1, 'started again');
        waits.push(Date.now() - killedAt);
      }
      expect(waits[1]).to.be.at.least(500);
      expect(waits[2]).to.be.at.least(1000);
      expect(instance.process('sink').restarts).to.equal(3);
    });

    it('lists its processes', async () => {
      const instance = await start();
      const json = await instance.ps('--json');
      expect(JSON.parse(json.stdout)).to.deep.equal(instance.processes());
      expect(instance.processes().map(({ role }) => role)).to.deep.equal([
        'supervisor',
        'kafka',
        'clickhouse',
        'ingest',
        'app',
        'sink',
        'processors',
      ]);
      expect(instance.processes().every(({ pid, restarts }) => isRunning(pid) && restarts === 0)).to.equal(true);
      const table = await instance.ps();
      expect(table.stdout).to.match(/^ROLE +PID +RESTARTS\nsupervisor +\d+ +0\n/);
      instance.signal('SIGKILL');
      await instance.exited();
      const none = await instance.ps('--json');
      expect(none).to.deep.equal({ code: 1, stdout: '', stderr: `logweir: no instance runs on ${instance.dataDir}\n` });
    });
  });

  describe('stop', () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`stops in order on ${signal}: what listens, what reads, engines`, async () => {
        const instance = await start();
        const pids = instance.processes().map(({ pid }) => pid);
        instance.signal(signal);
        expect(await instance.exited()).to.equal(0);
        const order = instance.events('stop').map(({ role }) => role);
        expect(order.slice(0, 2)).to.have.members(['ingest', 'app']);
        expect(order.slice(2, 4)).to.have.members(['sink', 'processors']);
        expect(order.slice(4)).to.have.members(['kafka', 'clickhouse']);
        expect(pids.filter(isRunning)).to.deep.equal([]);
        expect(instance.events('interrupt')).to.deep.equal([]);
        expect(existsSync(path.join(instance.dataDir, 'supervisor.lock'))).to.equal(false);
      });
    }

    it('ends all at once on a second signal', async () => {
      const instance = await start({ FAKE_APP: 'hangs' });
      const pids = instance.processes().map(({ pid }) => pid);
      instance.signal('SIGTERM');
      await until(() => instance.events('stop', 'app').length === 1, 'app is asked to stop');
      await sleep(600); // two signals at once count as one
      expect(isRunning(instance.pid)).to.equal(true);
      instance.signal('SIGTERM');
      expect(await instance.exited()).to.equal(0);
      // a stop in order would have come to it when the app was gone
      expect(instance.events('stop', 'sink')).to.deep.equal([]);
      expect(pids.filter(isRunning)).to.deep.equal([]);
    });

    it('takes two signals at once for one, as a Ctrl-C under npm sends them', async () => {
      const instance = await start();
      // two of a kind may come as one
      instance.signal('SIGINT');
      instance.signal('SIGTERM');
      expect(await instance.exited()).to.equal(0);
      expect(instance.events('stop').map(({ role }) => role)).to.include.members([
        'ingest',
        'app',
        'sink',
        'processors',
        'kafka',
        'clickhouse',
      ]);
    });

    it('stops in order when npm, which has started it, is killed', async () => {
      const instance = (await create({ npm_lifecycle_event: 'start' })).spawnUnderShell();
      await instance.ready();
      const pids = instance.processes().map(({ pid }) => pid);
      instance.signal('SIGKILL');
      await until(() => !pids.some(isRunning), 'all are gone');
      expect(instance.events('stop')).to.have.length(6);
    });

    it('kills a role that does not stop within 8 s', async () => {
      const instance = await start({ FAKE_SINK: 'hangs' });
      const at = Date.now();
      instance.signal('SIGTERM');
      expect(await instance.exited()).to.equal(0);
      expect(Date.now() - at).to.be.at.least(7900);
      expect(instance.events('stop', 'sink')).to.have.length(1);
    });

    it('interrupts a start', async () => {
      const instance = (await create()).spawn();
      await until(() => instance.events('start').length > 0, 'an engine is up');
      instance.signal('SIGTERM');
      expect(await instance.exited()).to.equal(0);
      expect(instance.stderr).not.to.match(/Error|failed/);
      expect(instance.processes()).to.deep.equal([]);
    });
  });
});
