import type { AuditReport } from '../pipeline/core/audit-report.ts';
import type { Env } from './client.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { EXIT, outputOf, processSink, type Sink } from './output.ts';
import { renderTable } from './table.ts';
import { spanOf, TIMEZONE_HELP, zoneOf } from './zone.ts';

const HELP = `Usage: logweir audit [flags]
Compares what is on Kafka with what is stored, entry by entry, and prints what is lost or doubled. Of span_counts.v1 it also
counts the stored spans again, and prints the minutes that differ. Needs the service's own
environment, or the LOGWEIR_DATA_DIR of an instance of this machine; the service goes on meanwhile.

  --topic TOPIC   what is compared (default logs.v1)
  --set NAME      the set whose tables are compared (default: the first)
  --all-sets      every set, one after the other; with --json a line for each
  --from TIME     from which append time on: -1h, 2026-11-20T10:00:00Z (default: all that Kafka still has)
  --to TIME       until when (default: all that is stored)
${TIMEZONE_HELP}  --json          everything that was found and counted, as JSON

Exit codes: 0 nothing is wrong, 1 something is lost, doubled or stray, or an engine does not answer, 2 wrong command line.
`;

/** Ranges of offsets that the table shows of a finding. */
const SHOWN = 5;
const COLUMNS = ['kind', 'partition', 'hour', 'entries', 'records', 'offsets'];

/** The same of minutes that differ from a recount. */
const SHOWN_MINUTES = 20;
const RECOUNTED = ['kind', 'tenant', 'partition', 'minute', 'service', 'other', 'counted', 'stored', 'counted_errors', 'stored_errors'];

/** What an audit reports of a topic. */
export type Audited = AuditReport & { readonly topic: string; readonly set?: string };

type Flags = { readonly topic?: string; readonly set?: string; readonly allSets?: boolean; readonly from?: string; readonly to?: string };
/** Audits the instance that the environment means. An error of the name `UsageError` means that the flags are wrong. */
export type RunAudit = (request: Flags & { readonly onProgress: (records: number) => void }, env: Env) => Promise<readonly Audited[]>;

/** `logweir audit`. `argv` is what follows; resolves with the exit code. */
export async function auditCommand(
  argv: readonly string[],
  run: RunAudit,
  env: Env = process.env,
  to: Sink = processSink,
): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  try {
    const { values, switches } = readFlags(
      argv,
      { values: ['topic', 'set', 'from', 'to', 'timezone'], switches: ['json', 'all-sets'] },
      HELP,
    );
    const { timezone, ...span } = values;
    let records = 0;
    const onProgress = (more: number): void => {
      records += more;
      output.progress(`${String(records)} records compared …`);
    };
    const allSets = switches.has('all-sets') ? { allSets: true } : {};
    const reports = await run({ ...spanOf(span, zoneOf(timezone)), ...allSets, onProgress }, env);
    for (const report of reports)
      if (switches.has('json')) output.data(`${JSON.stringify(report)}\n`);
      else output.out(`${reports.length > 1 ? `set ${report.set ?? ''}: ` : ''}${render(report)}`);
    const isClean = reports.every(({ findings, recounted = [] }) => findings.length === 0 && recounted.length === 0);
    return isClean ? EXIT.ok : EXIT.failed;
  } catch (error) {
    output.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return (error as Error | null)?.name === 'UsageError' ? EXIT.usage : EXIT.failed;
  }
}

function render(report: Audited): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  const sum = (of: (partition: Audited['partitions'][number]) => number): number =>
    report.partitions.reduce((total, partition) => total + of(partition), 0);
  const rows = report.findings.map(({ offsets, ...rest }) => ({
    ...rest,
    offsets: offsets.slice(0, SHOWN).join(' ') + (offsets.length > SHOWN ? ' …' : ''),
  }));
  const [pending, removed] = [sum((partition) => partition.pending_records), sum((partition) => partition.removed_records)];
  const rest = [
    ...(report.stray > 0 ? [`${count(report.stray)} rows of no entry`] : []),
    ...(report.dead_lettered > 0 ? [`${count(report.dead_lettered)} in the dead letters`] : []),
    ...(report.aged_out > 0 ? [`${count(report.aged_out)} too old to be kept`] : []),
    ...(pending > 0 ? [`${count(pending)} records not stored yet`] : []),
    ...(removed > 0 ? [`${count(removed)} records that Kafka has no more`] : []),
  ];
  const head = `${report.topic}: ${count(report.lost)} lost, ${count(report.doubled)} doubled of ${count(report.entries)} entries in ${count(report.records)} records`;
  const recounted = report.recounted ?? [];
  const recount = recounted.length > 0 ? `${renderTable(recounted.slice(0, SHOWN_MINUTES), RECOUNTED)}\n${count(recounted.length)} minutes differ from a recount of the spans\n` : ''; // prettier-ignore
  return `${recount}${rows.length > 0 ? `${renderTable(rows, COLUMNS)}\n` : ''}${[head, ...rest].join('; ')}\n`;
}
