import { bytesOf, findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from './client.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { EXIT, outputOf, type Sink } from './output.ts';
import { renderTable } from './table.ts';
import { zoneOf } from './zone.ts';

const HELP = `Usage: logweir usage [--day 2026-11-21] [flags]
What the tenant uses: the volume of three days, by signal and what it costs; of a day keys, services and refusals; limits. See docs/accounts.md.

  --day D         of keys, services and refusals: today, or one of the two days before (UTC)
  --json          the answer of the service
  --timezone Z    of the times that are shown
${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached, 2 wrong command line, 3 key refused.
`;

/** The tables that are printed: the member of the answer, and its columns. */
const TABLES: readonly (readonly [member: string, columns: readonly string[]])[] = [
  ['days', ['day', 'bytes', 'pending_bytes', 'included_bytes', 'ceiling_bytes', 'over_bytes', 'cost', 'signals']],
  ['keys', ['key_id', 'name', 'signal', 'bytes', 'entries', 'requests']],
  ['services', ['service', 'entries']],
  ['refused', ['signal', 'status', 'error', 'requests', 'entries', 'last_at', 'reason']],
  ['limits', ['name', 'used', 'limit', 'unit', 'clears_at', 'clears']],
];

/** `logweir usage`: what the tenant uses, as tables. */
export async function usageCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { values, switches } = readFlags(argv, { values: [...TARGET_FLAGS, 'day', 'timezone'], switches: ['json'] }, HELP);
  const zone = zoneOf(values['timezone']);
  const target = findTarget(values, env);
  const { day } = values;
  const body = await bytesOf(target, 'GET /api/v1/tenants/{tenant_id}/usage', { query: day === undefined ? {} : { day } });
  if (switches.has('json')) {
    output.data(`${body.toString()}\n`);
    return EXIT.ok;
  }
  const answer = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
  const tables = TABLES.flatMap(([member, columns]) => {
    const rows = answer[member];
    return Array.isArray(rows) && rows.length > 0 ? [renderTable(rows, columns, zone)] : [];
  });
  output.out(tables.join('\n'));
  return EXIT.ok;
}
