import { expect } from 'chai';
import { rmSync } from 'node:fs';
import { adminCommand } from '../../../cli/admin.ts';
import { isWhole } from '../../extent.ts';
import { askClickHouse } from '../engine.ts';
import { startInstance, until, type Instance } from '../instance.ts';
import { pace } from '../pace.ts';
import { runCli } from '../shared.ts';
import { earlierVersion } from './earlier-version.ts';

const PER_BODY = 25;
/** A version that users have: before signals were named in `usage.v1`, and before alerting had a room. */
const RELEASED = '074f3c8f1c4542c97f5e4d5f9f9c1abb3650d78c';

/** Sends bodies to whichever instance runs, one after the other, until it is stopped. What is not acknowledged may be stored or not. */
class Load {
  url = '';
  readonly acknowledged = new Set<string>();
  /** Bytes that are billed for certain, and those that may be. */
  bytes = 0;
  doubtful = 0;
  #sent = 0;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(instance: Instance) {
    this.url = instance.ingest;
    this.#running = this.#run(instance);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run({ key }: Instance): Promise<void> {
    while (!this.#isOver) {
      const names = Array.from({ length: PER_BODY }, () => `upgrade ${String(this.#sent++)}`);
      const body = names.map((name, at) => JSON.stringify({ _msg: name, app: `app-${String(at % 5)}`, level: 'info' })).join('\n');
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-ndjson' };
      const status = await fetch(`${this.url}/api/v1/ingest`, { method: 'POST', body, headers }).then(
        (answer) => answer.status,
        () => 0,
      );
      await pace();
      if (status !== 200) {
        this.doubtful += Buffer.byteLength(body);
        continue;
      }
      this.bytes += Buffer.byteLength(body);
      for (const name of names) this.acknowledged.add(name);
    }
  }
}

describe('a data directory of an earlier version, opened under load', function () {
  this.timeout(900_000);

  /** `usage --tenant 1`, over its days. */
  async function usageOf(instance: Instance): Promise<{ readonly bytes: number; readonly pending: number }> {
    let text = '';
    const write = (part: string): void => void (text += part);
    await adminCommand(['usage', '--tenant', '1', '--json'], instance.env, { out: write, err: write });
    const days = JSON.parse(text) as { readonly bytes: number; readonly pending_bytes: number }[];
    return { bytes: days.reduce((sum, day) => sum + day.bytes, 0), pending: days.reduce((sum, day) => sum + day.pending_bytes, 0) };
  }

  async function hasMore(load: Load, entries: number): Promise<void> {
    const wanted = load.acknowledged.size + entries;
    await until('more that is acknowledged', () => Promise.resolve(load.acknowledged.size), (size) => size >= wanted); // prettier-ignore
  }

  async function check(instance: Instance, load: Load): Promise<void> {
    const times = "SELECT _msg, count() FROM logs WHERE tenant_id = 1 AND startsWith(_msg, 'upgrade ') GROUP BY _msg";
    const stored = await until(
      'all that was acknowledged',
      async () => new Map((await askClickHouse(instance, times)).map(([name = '', count]) => [name, Number(count)])),
      (found) => [...load.acknowledged].every((name) => found.has(name)),
    );
    expect([...stored].filter(([, count]) => count !== 1)).to.deep.equal([]);
    const usage = await until('the usage', () => usageOf(instance), ({ pending }) => pending === 0); // prettier-ignore
    expect(usage.bytes).to.be.within(load.bytes, load.bytes + load.doubtful);
    const hits = await until('the volume', () => instance.count('_msg:upgrade'), (count) => count === stored.size); // prettier-ignore
    expect(hits).to.equal(stored.size);
    const { stdout, code } = await runCli(instance, { id: 1, key: instance.key }, ['audit', '--json']);
    expect(code, stdout).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ lost: 0, doubled: 0 });
  }

  for (const [title, name] of [
    ['of the last release', RELEASED],
    ['of the commit before', 'HEAD~1'],
  ] as const)
    // the commit before is most often the same but for a line
    (name === RELEASED || isWhole ? it : it.skip)(`${title}: all of it is there once, and counted to the byte`, async function () {
      const clone = earlierVersion(name);
      if (clone === null) return this.skip();
      const before = await startInstance({ root: clone });
      const load = new Load(before);
      await hasMore(load, 40 * PER_BODY);
      // what they have not saved is read again, by their successors
      for (const role of ['sink', 'processors']) process.kill(before.processes().get(role)?.pid ?? 0, 'SIGKILL');
      await hasMore(load, 5 * PER_BODY);
      await before.stop({ keep: true });
      const after = await startInstance({ dataDir: before.dataDir });
      try {
        load.url = after.ingest;
        await hasMore(load, 40 * PER_BODY);
        process.kill(after.processes().get('processors')?.pid ?? 0, 'SIGKILL');
        await hasMore(load, 5 * PER_BODY);
        await load.stop();
        await check(after, load);
      } finally {
        await after.stop();
        rmSync(clone, { recursive: true, force: true });
      }
    });
});
