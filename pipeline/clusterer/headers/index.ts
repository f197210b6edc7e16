import { FIELDS, LAYOUTS, LEVEL_FIELD, LOGGERS, TIME_FIRST, type Layout } from './layouts.ts';
import { zonedTime } from './pieces.ts';

/** The header of a line, before its content, `bytes[contentAt, contentEnd)`. The level is as it stands there; a time names its zone. */
export type Header = {
  /** The layout's name, `time_first` for what any logging library writes, empty without a header. */
  readonly layout: string;
  readonly contentAt: number;
  readonly contentEnd: number;
  readonly level: string | null;
  /** Nanoseconds since the Unix epoch. */
  readonly time: bigint | null;
};

/** Bytes of a line in which a header may stand. */
const HEAD = 512;
/** Headers in one another: Docker's or Kubernetes' around syslog's around a program's own. */
const MAX_DEPTH = 3;
/** Bytes of a line that decide its headers; of Docker's lines the end does too. */
export const HEADER_BYTES: number = MAX_DEPTH * HEAD;
const MAX_FIELDS = 8;
const KLOG_LEVELS: Readonly<Record<string, string>> = { V: 'trace', D: 'debug', I: 'info', W: 'warn', E: 'error', F: 'fatal', S: 'fatal' };
const DOCKER_END = Buffer.from('","stream":"');
const DOCKER_TIME = /"time":"([^"]{10,40})"\}\s*$/;

type Found = { readonly layout: string; readonly end: number; readonly level: string | null; readonly time: string | null };

/** The header of the line `bytes[from, to)`: a pure function of its bytes, in time bounded by its first 512. */
export function headerOf(bytes: Uint8Array, from: number, to: number): Header {
  let [contentAt, contentEnd] = [from, to];
  let layout = '';
  let level: string | null = null;
  let time: bigint | null = null;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset + contentAt, Math.min(HEAD, contentEnd - contentAt)).toString('latin1');
    const found = matched(head);
    if (found === undefined) break;
    if (found.layout === 'docker_json') {
      const end = Buffer.from(bytes.buffer, bytes.byteOffset + contentAt, contentEnd - contentAt).lastIndexOf(DOCKER_END);
      if (end < found.end) break;
      const tail = Buffer.from(bytes.buffer, bytes.byteOffset + contentAt + end, Math.min(HEAD, contentEnd - contentAt - end)).toString(
        'latin1',
      );
      time ??= zonedTime(DOCKER_TIME.exec(tail)?.[1] ?? '');
      contentEnd = contentAt + end;
      if (contentEnd - 2 >= contentAt + found.end && bytes[contentEnd - 2] === 0x5c && bytes[contentEnd - 1] === 0x6e) contentEnd -= 2;
    }
    layout = layout === '' ? found.layout : layout;
    level ??= found.level === null ? null : (KLOG_LEVELS[found.level] ?? found.level.toLowerCase());
    if (found.time !== null) time ??= zonedTime(found.time);
    contentAt += found.end;
    if (!ENVELOPES.has(found.layout)) break;
  }
  return { layout, contentAt, contentEnd, level, time };
}

const ENVELOPES = new Set(LAYOUTS.filter((one) => one.isEnvelope === true).map((one) => one.name));

function matched(head: string): Found | undefined {
  for (const layout of candidates(head)) {
    const match = matchAt(layout.pattern, head, 0);
    if (match !== null)
      return {
        layout: layout.name,
        end: layout.pattern.lastIndex,
        level: match.groups?.['level'] ?? null,
        time: match.groups?.['time'] ?? null,
      };
  }
  return timeFirst(head);
}

function matchAt(pattern: RegExp, head: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(head);
}

/** The kind of a line's first byte: a digit, a letter, or the sign itself. */
function kindOf(head: string): string {
  const first = head.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39) return '0';
  return (first | 0x20) >= 0x61 && (first | 0x20) <= 0x7a ? 'a' : head.charAt(0);
}

/** The layouts by the kind of byte that a line of theirs begins with. */
const byKind = new Map<string, Layout[]>();
for (const layout of LAYOUTS)
  for (const kind of new Set([kindOf(layout.example), ...(layout.alsoBegins ?? [])]))
    byKind.set(kind, [...(byKind.get(kind) ?? []), layout]);

const candidates = (head: string): readonly Layout[] => byKind.get(kindOf(head)) ?? [];

/** A line that begins with a time, as any logging library writes it: fields in any order, then perhaps the logger's name. */
function timeFirst(head: string): Found | undefined {
  const match = matchAt(TIME_FIRST, head, 0);
  if (match === null) return undefined;
  let end = TIME_FIRST.lastIndex;
  let level: string | null = null;
  for (let count = 0; count < MAX_FIELDS; count += 1) {
    const field: RegExpExecArray | null = level === null ? matchAt(LEVEL_FIELD, head, end) : null;
    const pattern = field === null ? FIELDS.find((one) => matchAt(one, head, end) !== null) : LEVEL_FIELD;
    if (pattern === undefined) break;
    level ??= field?.groups?.['level'] ?? null;
    end = pattern.lastIndex;
  }
  const logger = level === null ? undefined : LOGGERS.find((pattern) => matchAt(pattern, head, end) !== null);
  if (logger !== undefined) end = logger.lastIndex;
  return { layout: 'time_first', end, level, time: match.groups?.['time'] ?? null };
}
