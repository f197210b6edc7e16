import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import type { Env } from './client.ts';
import { renderLine } from './lines.ts';
import { printable, spaced, styled, type Piece, type Sink } from './output.ts';
import { FLAGS_HELP, searchCommand, type Searched } from './query.ts';
import { lengthText } from './trace.ts';
import { UTC, type Zone } from './zone.ts';

/** Fields that have a place of their own in a line, or are too long for one. */
const PLACED = new Set([
  ...['_time', '_msg', '_stream', 'name', 'service', 'kind', 'status', 'status_message', 'duration', 'trace_id', 'span_id'],
  ...['parent_span_id', 'scope.name', 'scope.version', 'trace_state', 'events', 'links'],
]);
/** Kinds that are shown: the others say nothing. */
const KINDS = new Set(['server', 'client', 'producer', 'consumer']);

/** A span as a line: when it begins, how long it takes, its service and name, kind and error, its attributes, the id of its trace. Rows of pipes as those of entries. */
function spanLineOf(entry: LogEntry, zone: Zone = UTC): readonly Piece[] {
  const text = (name: string): string => textOf(entry.get(name));
  if (!/^\d+$/.test(text('duration')) || text('_time') === '' || !entry.has('name')) return renderLine(entry, zone);
  const [message, trace, kind] = [text('status_message'), text('trace_id'), text('kind')];
  return spaced([
    styled('gray', printable(zone.show(text('_time')))),
    lengthText(BigInt(text('duration'))).padStart(7),
    styled('cyan', printable(text('service') || '-')),
    printable(text('name')),
    ...(KINDS.has(kind) ? [styled('gray', kind)] : []),
    ...(text('status') === 'error' ? [styled('red', message === '' ? 'ERROR' : `ERROR ${printable(message)}`)] : []),
    ...[...entry].flatMap(([name, value]) =>
      PLACED.has(name) || name.startsWith('resource.')
        ? []
        : [[styled('gray', `${printable(name)}=`), printable(quoted(textOf(value)))] as readonly Piece[]],
    ),
    ...(trace === '' ? [] : [styled('gray', printable(trace))]),
  ]);
}

const quoted = (text: string): string => (/[\s"=]/.test(text) ? JSON.stringify(text) : text);

const SPANS: Searched = {
  help: `Usage: logweir spans '<LogsQL>' [flags]\nPrints the spans that the query finds, oldest first: lines on a terminal, without what their resources have; NDJSON with all fields in a pipe.\nlogweir spans 'service:=cart status:error duration:>300ms'\n${FLAGS_HELP}`,
  ...{ operation: 'POST /api/v1/tenants/{tenant_id}/spans/search', member: 'spans' },
  line: spanLineOf,
};

/** `logweir spans`: a search of spans, page by page. */
export const spansCommand = (argv: readonly string[], env: Env, to: Sink): Promise<number> => searchCommand(SPANS, argv, env, to);
