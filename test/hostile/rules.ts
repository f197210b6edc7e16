import type { Answers } from './attacker.ts';
import type { ProcessRecord } from './processes.ts';
import { DEEDS, type Deed, type QuietRecord } from './quiet-tenant.ts';

/** All that was seen of one attack. */
export type AttackRecord = {
  readonly name: string;
  readonly quiet: QuietRecord;
  readonly answers: Answers;
  readonly processes: ProcessRecord;
  readonly seconds: number;
};

export const CLICKHOUSE = 'clickhouse';
/** By how much a process may grow. What queries take in ClickHouse is bounded by its own settings (`compose/embedded/users.xml`). */
const MAX_GROWTH_MB = 300;
const MAX_CLICKHOUSE_MB = 3600;
/** What a request of the quiet tenant may take beside an attack: so long in any case, at p99; and at most. An entry is found when its insert is done. Milliseconds. */
const P99_MS: Readonly<Record<Deed, number>> = { search: 250, write: 250, health: 250, found: 1500, tail: 500, door: 1000 };

const MOST_MS = 2000;
const MOST_FOUND_MS = 3000;
const P99_FACTOR = 2;
/** Query workers that may be ended in a minute. */
const LOST_A_MINUTE = 1;

/** The value below which so much of sorted values lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** What an attack must not do, whatever machine it is: sentences. */
export function brokenRules({ quiet, answers, processes }: AttackRecord): string[] {
  const broken: string[] = [];
  for (const deed of DEEDS) {
    const { failures, ms } = quiet[deed];
    if (failures.length > 0) broken.push(`${String(failures.length)} of ${String(ms.length)} failed, first ${failures[0] ?? ''}`);
  }
  for (const role of processes.restarted) broken.push(`${role} was started again`);
  for (const name of processes.halted) broken.push(`a processor has halted: ${name}`);
  for (const [name, mb] of Object.entries(processes.growthMb))
    if (mb > (name === CLICKHOUSE ? MAX_CLICKHOUSE_MB : MAX_GROWTH_MB)) broken.push(`${name} grew by ${String(mb)} MB`);
  for (const [status, times] of Object.entries(answers))
    if (/^5(?!03|04)/.test(status)) broken.push(`the attacker was answered ${status} ${String(times)} times`);
  return broken;
}

/** The same, and what times and query workers say, which depends on the machine. `alone`: the quiet tenant without an attack. */
export function judged(record: AttackRecord, alone: QuietRecord): string[] {
  const slow = DEEDS.flatMap((deed: Deed) => {
    const [p99, before, most] = [
      percentile(record.quiet[deed].ms, 0.99),
      percentile(alone[deed].ms, 0.99),
      percentile(record.quiet[deed].ms, 1),
    ];
    const bound = Math.max(P99_MS[deed], P99_FACTOR * before);
    return [
      ...(p99 > bound ? [`p99 of ${deed} is ${p99.toFixed(0)} ms, allowed are ${bound.toFixed(0)}`] : []),
      ...(most > (deed === 'found' ? MOST_FOUND_MS : MOST_MS) ? [`a ${deed} took ${most.toFixed(0)} ms`] : []),
    ];
  });
  const { workersLost } = record.processes;
  const allowed = Math.max(1, (LOST_A_MINUTE * record.seconds) / 60);
  const lost = workersLost > allowed ? [`${String(workersLost)} query workers were ended`] : [];
  return [...brokenRules(record), ...slow, ...lost];
}
