import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { severityOf, type Severity } from '../pipeline/core/severity.ts';
import { printable, spaced, styled, type Piece, type Style } from './output.ts';
import { UTC, type Zone } from './zone.ts';

const STYLES: Readonly<Record<Severity, Style>> = {
  0: 'reset',
  1: 'gray',
  2: 'gray',
  3: 'green',
  4: 'yellow',
  5: 'red',
  6: ['red', 'bold'],
};
/** Fields that have a place of their own in a line, or repeat others. */
const PLACED = new Set(['_time', '_msg', '_stream', '_stream_id', 'level', 'service']);

/** One entry, or one row of a pipe, as a line for people: time, level, service, message, then the other fields. */
export function renderLine(entry: LogEntry, zone: Zone = UTC): readonly Piece[] {
  const time = textOf(entry.get('_time'));
  const level = textOf(entry.get('level'));
  const parts: (Piece | readonly Piece[])[] = [];
  if (time !== '') parts.push(styled('gray', printable(zone.show(time))));
  if (level !== '') parts.push(styled(STYLES[severityOf(level)], printable(level.toUpperCase()).padEnd(5)));
  if (entry.has('service')) parts.push(styled('cyan', printable(textOf(entry.get('service')))));
  if (entry.has('_msg')) parts.push(printable(textOf(entry.get('_msg'))));
  for (const [name, value] of entry)
    if (!PLACED.has(name)) parts.push([styled('gray', `${printable(name)}=`), printable(quoted(textOf(value)))]);
  return spaced(parts);
}

const quoted = (text: string): string => (/[\s"=]/.test(text) ? JSON.stringify(text) : text);
