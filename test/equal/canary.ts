/** Queries of one tenant next to another's canaries: nothing of the other may show, and a tenant without entries must see none. Likewise for projects. */
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { runQuery } from '../../api/query/run.ts';
import { StreamDirectory } from '../../api/query/streams.ts';
import { parseFilter } from '../../logsql/parser/parser.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { LogsqlLimitError } from '../../logsql/base/errors.ts';
import { formatStreamId } from '../../logsql/values/stream-id.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import type { Query } from '../../logsql/base/query.ts';
import { Literal, renderEntry, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { parseStream, renderStream } from '../../pipeline/core/labels.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { LogsqlStore } from '../e2e/logsql-store.ts';
import { Random } from '../fuzz/random.ts';
import { ALWAYS, comparable, parsed } from './compare.ts';
import { randomEntries } from './entries.ts';
import type { Source } from './filters.ts';
import { hostileQuery, type Target } from './hostile.ts';

export type CanaryOptions = {
  readonly queries: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
  /** Three projects of one tenant stand where three tenants do. */
  readonly ofProjects?: boolean;
};
/** How many queries were made, how many were valid, how many of these gave rows of their own tenant, and those that saw what is not theirs. */
export type CanaryReport = {
  readonly queries: number;
  readonly valid: number;
  readonly answered: number;
  readonly leaks: readonly string[];
};

/** In every value, name and label of the other tenant, and in no query. */
const SECRET = 'Qx7Zw9';

/** Who asks: a tenant, or a project of the first tenant. */
type Asker = { readonly tenantId: number; readonly project: string | null };
type Askers = Readonly<Record<'own' | 'other' | 'empty', Asker>>;
const TENANTS: Askers = {
  own: { tenantId: 1, project: null },
  other: { tenantId: 2, project: null },
  empty: { tenantId: 3, project: null },
};
const PROJECTS: Askers = {
  own: { tenantId: 1, project: 'own' },
  other: { tenantId: 1, project: 'other' },
  empty: { tenantId: 1, project: 'empty' },
};
const LIMITS = { maxRows: 200_000, maxBytes: 200_000_000 };
/** Queries at once: the first of them behind the row filter, every second one also as a tenant without entries. */
const PARALLEL = 4;

/** Runs the queries as a tenant beside one with canaries, and as one without entries, with and without ClickHouse's own row filter. */
export async function checkCanaries({ queries, seed, progress, ofProjects = false }: CanaryOptions): Promise<CanaryReport> {
  const own = await LogsqlStore.start();
  const unfiltered = own.withoutRowFilter();
  try {
    const random = new Random(seed);
    const plain = randomEntries(random, 120);
    const askers = ofProjects ? PROJECTS : TENANTS;
    const mine = randomEntries(random, 60);
    await own.insert(askers.other.tenantId, plain.map(withSecret).map(inProject(askers.other)));
    // of one tenant, only the other's are there by now
    const target = await targetOf(unfiltered, askers.other);
    await own.insert(askers.own.tenantId, mine.map(inProject(askers.own)));
    const source: Source = { random, entries: plain, isWhole: true };
    const leaks: string[] = [];
    let [made, valid, answered, shown] = [0, 0, 0, 0];
    while (made < queries && leaks.length < 10) {
      const texts = Array.from({ length: PARALLEL }, () => hostileQuery(source, target));
      made += texts.length;
      const results = await Promise.all(
        texts.map((text, index) =>
          attempt(text, { target, askers, store: index === 0 ? own.store : unfiltered, alsoEmpty: index % 2 === 1 }),
        ),
      );
      for (const [index, result] of results.entries()) {
        valid += result.isValid ? 1 : 0;
        answered += result.rows > 0 ? 1 : 0;
        if (result.leak === null) continue;
        leaks.push(`${texts[index] ?? ''}\n    ${result.leak.slice(0, 1000)}`);
        progress(leaks.at(-1) ?? '');
      }
      if (made - shown >= 5000) progress(`${String((shown = made))} of ${String(queries)} queries`);
    }
    return { queries: made, valid, answered, leaks };
  } finally {
    await unfiltered.close();
    await own.stop();
  }
}

/** An entry that shows its secret whichever of its fields is seen. */
function withSecret(row: LogEntry): LogEntry {
  const stream = renderStream([...parseStream(textOf(row.get('_stream')))].map(([label, text]) => [label, text + SECRET] as const));
  const secret = new Map(
    [...row].map(([name, value]) => [name, value instanceof Literal ? new Literal('918273645') : `${value} ${SECRET}`]),
  );
  return secret
    .set('_time', row.get('_time') ?? '')
    .set('_stream', stream)
    .set(`name ${SECRET}`, 'x');
}

/** An entry with the label of the project, as ingest adds it; one of a tenant as it is. */
const inProject =
  ({ project }: Asker) =>
  (row: LogEntry): LogEntry => {
    if (project === null) return row;
    const labels = [...parseStream(textOf(row.get('_stream')))].filter(([label]) => label !== 'project');
    return new Map(row).set('project', project).set('_stream', renderStream([...labels, ['project', project]]));
  };

/** What an attacker may have got to know: ids of streams, and a label without its secret. */
async function targetOf(unfiltered: Store, { tenantId }: Asker): Promise<Target> {
  const rows = await unfiltered.ownerRows('SELECT DISTINCT stream_id FROM logs WHERE tenant_id = {tenant:UInt32}', { tenant: tenantId });
  const streamIds = rows.map(([id]) => formatStreamId(tenantId, String(id)));
  if (streamIds.length === 0) throw new Error('BUG: there are no canaries.');
  return { tenantId, streamIds, label: 'web' };
}

type Attempt = { readonly isValid: boolean; readonly rows: number; readonly leak: string | null };

type Setting = { readonly target: Target; readonly askers: Askers; readonly store: Store; readonly alsoEmpty: boolean };

async function attempt(text: string, { target, askers, store, alsoEmpty }: Setting): Promise<Attempt> {
  const query = parsed(text);
  if (query === null) return { isValid: false, rows: 0, leak: null };
  const rows = await answer(query, askers.own, store);
  if (typeof rows === 'string') return { isValid: true, rows: 0, leak: rows };
  const shown = rows.map(renderEntry).join('\n').toLowerCase();
  const secrets = [SECRET, '918273645', ...target.streamIds.filter((id) => !text.includes(id))];
  const secret = secrets.find((part) => shown.includes(part.toLowerCase()));
  if (secret !== undefined) return { isValid: true, rows: rows.length, leak: `shows ${secret}: ${shown.slice(0, 500)}` };
  return { isValid: true, rows: rows.length, leak: alsoEmpty ? await seenByNobody(query, askers.empty, store) : null };
}

/** What a tenant without entries sees that it would not see if it were alone; null when there is nothing. */
async function seenByNobody(query: Query, empty: Asker, store: Store): Promise<string | null> {
  const rows = await answer(query, empty, store);
  if (typeof rows === 'string') return rows;
  const alone = await evaluate(query, [], { ...ALWAYS, memory: new QueryMemory(LIMITS) });
  const [seen, expected] = [rows, alone].map((list) => list.map(comparable).sort().join('\n'));
  return seen === expected ? null : `a tenant without entries sees ${seen ?? ''}, not ${expected ?? ''}`;
}

/** The rows; none where the query asks for too much; the message of an error that should not be. */
async function answer(query: Query, { tenantId, project }: Asker, store: Store): Promise<readonly LogEntry[] | string> {
  const runner = { store, streams: new StreamDirectory(store), options: { tenantId, timeoutMs: 60_000 } };
  const extra = project === null ? {} : { extra: parseFilter(`{"project"="${project}"}`, { now: 0n }) };
  try {
    return await runQuery(
      query,
      { table: LOGS, tenantId, ...ALWAYS, widest: ALWAYS, memory: new QueryMemory(LIMITS), ...extra },
      runner,
      10_000,
    );
  } catch (error) {
    if (error instanceof LogsqlLimitError || (error instanceof HttpError && error.status < 500)) return [];
    return `error: ${error instanceof Error ? error.message : String(error)}`;
  }
}
