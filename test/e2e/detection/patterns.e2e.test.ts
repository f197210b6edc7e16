import { expect } from 'chai';
import type { Instance } from '../instance.ts';
import { until } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';

type Pattern = { readonly normalized_message: string; readonly fingerprint: string; readonly count: number; readonly level: string };
type Answer = { readonly patterns: readonly Pattern[] };
const ROUNDS = 3;
const ENTRIES = 200;

describe('patterns', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  const authorization = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  async function send(round: number): Promise<void> {
    const entries = Array.from({ length: ENTRIES }, (_none, index) =>
      index % 10 === 0
        ? { _msg: `failed to connect to 10.0.0.${String(index)}:5432: timeout`, level: 'error', service: `s${String(index % 4)}` }
        : { _msg: `request ${String(round)}-${String(index)} took ${String(index)} ms`, level: 'info', service: `s${String(index % 4)}` },
    );
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, authorization());
    expect(status).to.equal(200);
  }

  const patterns = async (): Promise<readonly Pattern[]> => {
    const { status, body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(tenant.id)}/patterns?since=-1h`, undefined, authorization()); // prettier-ignore
    expect(status).to.equal(200);
    return (body as Answer).patterns;
  };
  const total = (found: readonly Pattern[]): number => found.reduce((sum, { count }) => sum + count, 0);

  it('are counted whatever is killed, lead to their entries, and enrich errors', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await send(round);
      const name = ['processors', 'sink', 'processors'][round] ?? '';
      const before = instance.processes().get(name);
      if (before === undefined) throw new Error(`There is no process ${name}.`);
      process.kill(before.pid, 'SIGKILL');
      await until(`${name} is started again`, () => Promise.resolve(instance.processes().get(name)), (now) => (now?.restarts ?? 0) > before.restarts); // prettier-ignore
    }
    const found = await until('all entries are counted', patterns, (list) => total(list) >= ROUNDS * ENTRIES);
    expect(found.map(({ normalized_message: template, count, level }) => [template, count, level])).to.deep.equal([
      ['request <ID> took <N>', ROUNDS * ENTRIES * 0.9, 'info'],
      ['failed to connect to <IP>: timeout', ROUNDS * ENTRIES * 0.1, 'error'],
    ]);
    const [, failed] = found;
    const search = async (query: string): Promise<readonly Record<string, unknown>[]> => {
      const { body } = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(tenant.id)}/search`, { query, limit: 1000 }, authorization()); // prettier-ignore
      return (body as { logs: Record<string, unknown>[] }).logs;
    };
    // on a busy machine an answer may come before what enriches it
    const entries = await until('enriched errors', () => search(`_fingerprint:${failed?.fingerprint ?? ''}`), (all) => all.some((entry) => '_fingerprint' in entry)); // prettier-ignore
    expect(entries).to.have.length(failed?.count ?? -1);
    for (const entry of entries) expect(entry).to.include({ _fingerprint: failed?.fingerprint, level: 'error' });
  });

  it('are stored once each', async () => {
    for (const topic of ['pattern_counts.v1', 'patterns.v1']) {
      const { code, stdout, stderr } = await runCli(instance, tenant, ['audit', '--topic', topic]);
      expect(code, `${topic}\n${stdout}\n${stderr}`).to.equal(0);
    }
  });

  it('are printed by the command line', async () => {
    const { stdout, code } = await runCli(instance, tenant, ['patterns', '--since', '-1h', '--format', 'lines']);
    expect(code).to.equal(0);
    expect(stdout.split('\n')[0]).to.include('request <ID> took <N>');
    expect((await runCli(instance, tenant, ['patterns', '--diff'])).stdout).to.include('"kind":"new"');
  });
});
