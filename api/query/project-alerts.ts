import type { Filter } from '../../logsql/base/types.ts';
import { parseFilter } from '../../logsql/parser/parser.ts';
import { oneOf } from '../../logsql/sql/statement-budget.ts';
import { parseStream } from '../../pipeline/core/labels.ts';
import { forbidden } from '../../pipeline/core/errors.ts';
import { ofTenant, sql, text, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
import type { Project } from '../tenants/principal.ts';
import type { Deps, Request } from './deps.ts';
import { tenantRows } from './tenant-rows.ts';

/** Detectors whose alerts are about the entries of one stream. Those of rules, metrics and custom detectors look at whatever they want. */
const OF_STREAMS: readonly string[] = ['log_rate', 'error_rate', 'silence', 'pattern_rate', 'new_pattern'];
/** The label of an alert about requests, in its evidence and its stream. */
const OPERATION = 'operation';
const SERVICE_LABELS: ReadonlySet<string> = new Set(['service', 'service.name']);
/** Streams with alerts that are looked at. */
const MOST_STREAMS = 20_000;

/** What is looked at of an alert. */
type AlertPlace = { readonly detector: string; readonly stream: string; readonly evidence: Readonly<Record<string, unknown>> };

/** Throws HttpError 403 where the filter of a project looks at more than the labels of streams: of their entries alerts have nothing else. */
function requireLabels(filter: Filter): void {
  if (!filter.fields.every((field) => field === '_stream'))
    throw forbidden(
      'The filter of this project looks at fields of entries; alerts have labels of streams alone, so it cannot narrow them.',
    );
}

/**
 * Whether an alert is about entries of a project alone, whose filter looks at labels of streams: one of a stream that the filter finds. Alerts of a
 * whole service, or of its requests, count what is of other projects too.
 */
const isOfProject = (filter: Filter, { detector, stream, evidence }: AlertPlace): boolean =>
  OF_STREAMS.includes(detector) && !Object.hasOwn(evidence, OPERATION) && isFound(filter, stream);

function isFound(filter: Filter, stream: string): boolean {
  let labels: ReadonlyMap<string, string>;
  try {
    labels = parseStream(stream);
  } catch {
    return false;
  }
  const isStream = [...labels.keys()].some((label) => !SERVICE_LABELS.has(label));
  return isStream && filter.matches(new Map([['_stream', stream]]));
}

/** What of a tenant's alerts, as they come, a key of a project is shown. Throws HttpError 403. */
export function projectAlerts(project: Project): (alert: AlertPlace) => boolean {
  const filter = parseFilter(project.filter, { now: 0n });
  requireLabels(filter);
  return (alert) => isOfProject(filter, alert);
}

/** The conditions of alerts that `isOfProject` finds. Throws HttpError 403. */
export async function ofProject(filter: Filter, request: Request, deps: Deps): Promise<Sql[]> {
  requireLabels(filter);
  const own = sql`detector IN ${texts(OF_STREAMS)} AND NOT JSONHas(evidence, ${text(OPERATION)})`;
  const rows = await tenantRows(
    sql`SELECT DISTINCT stream FROM alerts WHERE ${ofTenant(request.tenantId)} AND part = 0 AND ${own} LIMIT ${uint32(MOST_STREAMS)}`,
    request,
    deps,
  );
  return [own, oneOf(sql`stream`, rows.map(([stream]) => String(stream)).filter((stream) => isFound(filter, stream)))]; // prettier-ignore
}
