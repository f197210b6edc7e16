import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startInstance, until, type Instance } from '../e2e/instance.ts';

export type KillPlan = { readonly entries: number; readonly kills: readonly string[]; readonly log: (line: string) => void };

/** What was acknowledged, and what an independent look at the table finds. */
export type Verdict = {
  readonly acknowledged: number;
  readonly hits: number;
  readonly rows: number;
  readonly positions: number;
  readonly uids: number;
  readonly kills: number;
};

const PER_BODY = 1000;
const WORKERS = 4;
/** What a worker waits between two requests, so that the load lasts long enough to be killed in. */
const WAIT_MS = 300;

/**
 * Loads a fresh instance and kills processes of these roles with SIGKILL, one after the other, evenly over the load. Every request is
 * repeated until it is acknowledged; each entry has an id of its own. At the end the table must hold each acknowledged id once:
 * an unacknowledged request may have been stored too, so ids are counted, not requests.
 */
export async function killUnderLoad(plan: KillPlan): Promise<Verdict> {
  const instance = await startInstance();
  try {
    const acknowledged = await loadAndKill(instance, plan);
    await until(
      'every acknowledged entry',
      () => instance.count('*'),
      (count) => count >= plan.entries,
      90_000,
    );
    await settled(instance);
    const [rows, positions, uids] = await countInTable(instance);
    return { acknowledged, hits: await instance.count('*'), rows, positions, uids, kills: plan.kills.length };
  } finally {
    await instance.stop();
  }
}

async function loadAndKill(instance: Instance, { entries, kills, log }: KillPlan): Promise<number> {
  const bodies = Math.ceil(entries / PER_BODY);
  const now = Date.now();
  let next = 0;
  let acknowledged = 0;
  let killed = 0;
  let killing = Promise.resolve();
  const killNext = async (): Promise<void> => {
    // each kill at its share of the load, once the one before is up again
    while (killed < kills.length && acknowledged >= ((killed + 0.5) * entries) / kills.length) {
      const role = kills[killed++] ?? '';
      const victim = instance.processes().get(role);
      if (victim === undefined) throw new Error(`No process has the role ${role}.`);
      process.kill(victim.pid, 'SIGKILL');
      log(`kill ${killed} of ${kills.length}: ${role} (${victim.pid}) after ${acknowledged} entries`);
      await until(
        `${role} again`,
        () => Promise.resolve(instance.processes().get(role)?.pid),
        (pid) => pid !== undefined && pid !== victim.pid,
      );
    }
  };
  const worker = async (): Promise<void> => {
    while (next < bodies) {
      const body = next++;
      const lines = Array.from({ length: Math.min(PER_BODY, entries - body * PER_BODY) }, (_, i) => {
        const uid = body * PER_BODY + i;
        return JSON.stringify({
          _time: new Date(now - uid).toISOString(),
          _msg: `entry ${uid} of the load`,
          uid: `u${uid}`,
          app: `app-${uid % 17}`,
          n: uid,
        });
      });
      await until(
        'an acknowledgement',
        () => instance.call('POST', `${instance.ingest}/api/v1/ingest`, lines.join('\n'), { 'Content-Type': 'application/x-ndjson' }),
        ({ status }) => status === 200,
        60_000,
      );
      acknowledged += lines.length;
      killing = killing.then(killNext);
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await killing;
  return acknowledged;
}

/** Waits until the count stands still: a repeated insert may still be on its way. */
async function settled(instance: Instance): Promise<void> {
  let last = -1;
  await until(
    'a settled count',
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const count = await instance.count('*');
      const same = count === last;
      last = count;
      return same;
    },
    (same) => same,
    60_000,
  );
}

/** Rows, distinct positions (partition, offset, index) and distinct ids, asked of ClickHouse itself. */
async function countInTable(instance: Instance): Promise<[number, number, number]> {
  const { url, user, password } = engineOf(instance.dataDir);
  const query = "SELECT count(), uniqExact(kafka_part, kafka_off, kafka_idx), uniqExact(fields['uid']) FROM logweir.logs FORMAT TSV";
  const response = await fetch(url, { method: 'POST', body: query, headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password } });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text.trim().split('\t').map(Number) as [number, number, number];
}

function engineOf(dataDir: string): { url: string; user: string; password: string } {
  const read = (name: string): string => readFileSync(path.join(dataDir, 'clickhouse', name), 'utf8');
  const { password } = JSON.parse(read('secrets.json')) as { password: string };
  return { url: read('url').trim(), user: 'logweir', password };
}
