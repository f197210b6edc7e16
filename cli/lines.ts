import { styleText } from 'node:util';
import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { severityOf, type Severity } from '../pipeline/core/severity.ts';
import { printable } from './output.ts';

type Style = Parameters<typeof styleText>[0];

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
export function renderLine(entry: LogEntry): string {
  const time = textOf(entry.get('_time'));
  const level = textOf(entry.get('level'));
  const parts: string[] = [];
  if (time !== '') parts.push(styleText('gray', printable(time)));
  if (level !== '') parts.push(styleText(STYLES[severityOf(level)], printable(level).toUpperCase().padEnd(5)));
  if (entry.has('service')) parts.push(styleText('cyan', printable(textOf(entry.get('service')))));
  if (entry.has('_msg')) parts.push(printable(textOf(entry.get('_msg'))));
  for (const [name, value] of entry) {
    if (!PLACED.has(name)) parts.push(styleText('gray', `${printable(name)}=`) + quoted(printable(textOf(value))));
  }
  return parts.join(' ');
}

const quoted = (text: string): string => (/[\s"=]/.test(text) ? JSON.stringify(text) : text);
