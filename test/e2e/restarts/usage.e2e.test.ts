import { expect } from 'chai';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { adminCommand } from '../../../cli/admin.ts';
import { isWhole } from '../../extent.ts';
import { startInstance, until, type Instance } from '../instance.ts';

type Usage = { readonly tenant_id: number; readonly day: string; readonly bytes: number; readonly pending_bytes: number };

/** What the command line says of tenant 1, summed over its days: the test may run over midnight. */
async function usageOf(instance: Instance): Promise<{ bytes: number; pending: number }> {
  let text = '';
  const code = await adminCommand(['usage', '--tenant', '1', '--json'], instance.env, {
    out: (part) => (text += part),
    err: (part) => (text += part),
  });
  if (code !== 0) throw new Error(text);
  const days = JSON.parse(text) as Usage[];
  expect(days).to.have.length(3);
  return { bytes: days.reduce((sum, { bytes }) => sum + bytes, 0), pending: days.reduce((sum, day) => sum + day.pending_bytes, 0) };
}

/** The warnings of `/ready` on ingest, one a line. */
async function warningsOf(instance: Instance): Promise<string> {
  const { warnings } = (await instance.call('GET', `${instance.admin}/ready`)).body as { readonly warnings: readonly string[] };
  return warnings.filter((warning) => warning.includes('Ingest')).join('\n');
}

/** Waits until all that was acknowledged is counted, and read by the processor. */
const settled = (instance: Instance, bytes: number): Promise<unknown> =>
  until(
    `a usage of ${bytes} bytes`,
    () => usageOf(instance),
    (usage) => usage.bytes === bytes && usage.pending === 0,
    240_000,
  );

/** The nth body of a client, of known size: sometimes compressed, sometimes without an entry that can be taken. */
function requestOf(client: string, n: number): { path: string; headers: Record<string, string>; body: Uint8Array; size: number } {
  const refused = n % 5 === 4;
  const lines = Array.from({ length: 1 + (n % 7) * 20 }, (_, i) =>
    refused
      ? `{"create":{}}\n{"no":"message ${i}"}`
      : `{"create":{}}\n${JSON.stringify({ _msg: `${client} ${n} entry ${i} é`, app: `app-${i % 9}`, pad: 'x'.repeat(n % 50) })}`,
  );
  const plain = Buffer.from(`${lines.join('\n')}\n`);
  const gzip = n % 3 === 0;
  return {
    path: '/insert/elasticsearch/_bulk',
    headers: { 'Content-Type': 'application/x-ndjson', ...(gzip ? { 'Content-Encoding': 'gzip' } : {}) },
    body: gzip ? gzipSync(plain) : plain,
    size: plain.length,
  };
}

/** Sends requests one after the other until it is told to stop; a pause lets its host be killed without a request in doubt. */
class Client {
  acknowledged = 0;
  accepted = 0;
  #paused: Promise<void> | null = null;
  #sending: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #name: string;
  readonly #running: Promise<void>;

  constructor(name: string, instance: Instance, url: string) {
    this.#name = name;
    this.#running = this.#run(instance, url);
  }

  async pauseWhile(act: () => Promise<void>): Promise<void> {
    let go: () => void = () => undefined;
    this.#paused = new Promise((resolve) => (go = resolve));
    await this.#sending;
    await act();
    this.#paused = null;
    go();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(instance: Instance, url: string): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      while (this.#paused !== null) await this.#paused;
      this.#sending = this.#send(instance, url, n);
      await this.#sending;
    }
  }

  async #send(instance: Instance, url: string, n: number): Promise<void> {
    const { path, headers, body, size } = requestOf(this.#name, n);
    const { status } = await instance.call('POST', `${url}${path}`, body, headers);
    if (status !== 200) throw new Error(`${this.#name} was answered ${status}.`);
    this.acknowledged += size;
    this.accepted += 1;
  }
}

async function kill(instance: Instance, role: string): Promise<void> {
  const victim = instance.processes().get(role);
  if (victim === undefined) throw new Error(`No process has the role ${role}.`);
  process.kill(victim.pid, 'SIGKILL');
  await until(
    `${role} again`,
    () => Promise.resolve(instance.processes().get(role)?.pid),
    (pid) => pid !== undefined && pid !== victim.pid,
  );
}

const ready = (instance: Instance): Promise<unknown> =>
  until(
    'readiness',
    () => instance.call('GET', `${instance.admin}/ready`),
    ({ status }) => status === 200,
    240_000,
  );

describe('daily volume', function () {
  this.timeout(600_000);
  let instance: Instance;

  before(async () => {
    instance = await startInstance();
  });
  after(async () => {
    await instance.stop();
  });

  it('is shown for a tenant that exists, with the bounds of its plan', async () => {
    const run = async (...argv: string[]): Promise<{ code: number; text: string }> => {
      let text = '';
      const code = await adminCommand(argv, instance.env, { out: (part) => (text += part), err: (part) => (text += part) });
      return { code, text };
    };
    const created = JSON.parse((await run('tenant', 'create', '--name', 'n', '--plan', 'team', '--json')).text) as { tenant_id: number };
    const shown = JSON.parse((await run('usage', '--tenant', String(created.tenant_id), '--json')).text) as object[];
    expect(shown[0]).to.deep.include({ tenant_id: created.tenant_id, bytes: 0, included: 34e9, ceiling: 340e9 });
    expect((await run('usage', '--tenant', '999')).code).to.equal(1);
  });

  it('is the decompressed size of all acknowledged bodies, to the byte, through kills and restarts', async () => {
    const [ingest, app] = [new Client('ingest', instance, instance.ingest), new Client('app', instance, instance.app)];
    const sent = (): number => ingest.acknowledged + app.acknowledged;
    const after = (more: number): Promise<unknown> => {
      const [first, second] = [ingest.accepted + more, app.accepted + more];
      return until(
        'more requests',
        () => Promise.resolve(),
        () => ingest.accepted >= first && app.accepted >= second,
        240_000,
      );
    };
    await after(20);
    // the usage processor, under load
    await kill(instance, 'sink');
    await after(20);
    await ingest.pauseWhile(() =>
      kill(instance, 'ingest')
        .then(() => ready(instance))
        .then(() => undefined),
    );
    await after(20);
    await app.pauseWhile(() =>
      kill(instance, 'app')
        .then(() => ready(instance))
        .then(() => undefined),
    );
    await after(20);
    // what was acknowledged is counted at once where it was acknowledged
    await ingest.stop();
    const known = app.acknowledged;
    expect((await usageOf(instance)).bytes).to.be.at.least(known);
    await app.stop();
    // reads are no volume
    for (const name of ['hits', 'facets', 'streams', 'alerts', 'patterns'])
      expect((await instance.call('GET', `${instance.app}/api/v1/tenants/1/${name}`)).status, name).to.equal(200);
    await settled(instance, sent());

    if (isWhole) {
      await instance.stop({ keep: true });
      instance = await startInstance({ dataDir: instance.dataDir });
      expect(await usageOf(instance)).to.deep.equal({ bytes: sent(), pending: 0 });
    }

    const more = requestOf('last', 6);
    expect((await instance.call('POST', `${instance.ingest}${more.path}`, more.body, more.headers)).status).to.equal(200);
    // all at once: nothing of it was in a snapshot, perhaps
    const ended = once(instance.supervisor, 'exit');
    for (const { pid } of instance.processes().values()) process.kill(pid, 'SIGKILL');
    await ended;
    // nothing more is to come from here on
    instance = await startInstance({ dataDir: instance.dataDir, env: { LOGWEIR_MIN_FREE_DISK_PERCENT: '100' } });
    await settled(instance, sent() + more.size);
  });

  it('stops growing with 429 `wal_full` while the disk of the log is too full', async () => {
    const { path, body, headers } = requestOf('refused', 1);
    const refused = await until(
      'wal_full',
      () => instance.call('POST', `${instance.ingest}${path}`, body, headers),
      ({ status }) => status === 429,
    );
    expect(refused.body).to.include({ error: 'wal_full', retry_after: 10 });
    expect((refused.body as { detail: string }).detail).to.match(/disk/i);
    // the app host looks too, until it knows of the other
    const warning = /^ingest: Ingest is paused\. The disk of Kafka's log has .*$/;
    await until('the warning of ingest alone', () => warningsOf(instance), (warnings) => warning.test(warnings)); // prettier-ignore
  });

  it('stops growing so where app alone takes entries, started as older versions were', async () => {
    await instance.stop({ keep: true });
    const env = { LOGWEIR_MIN_FREE_DISK_PERCENT: '100' };
    instance = await startInstance({ dataDir: instance.dataDir, env, args: ['--role', 'app,guard'] });
    expect([...instance.processes().keys()])
      .to.include('app')
      .and.not.include.members(['ingest']);
    const { path, body, headers } = requestOf('refused', 1);
    await until(
      'wal_full',
      () => instance.call('POST', `${instance.app}${path}`, body, headers),
      ({ status }) => status === 429,
    );
    await until('the warning', () => warningsOf(instance), (warnings) => warnings !== ''); // prettier-ignore
    expect(await warningsOf(instance)).to.match(/^app: Ingest is paused\. The disk of Kafka's log has /);
  });
});
