import { ByteMap } from './byte-map.ts';
import { ABSENT, LITERAL, STRING, type Draft } from './draft.ts';
import type { Name, Names } from './names.ts';
import { pinoLevel, severityOf, SYSLOG_LEVELS, type Severity } from '../core/severity.ts';
import { readIsoToken, readTimeText, readUnixDigits, type SplitTime } from './time-token.ts';

/** Names whose value is taken, in this order, where an entry has no `_time`, no `_msg`, no `level`. */
const TIME_NAMES = ['@timestamp', 'timestamp', 'time', 'date', 'ts'];
export const MESSAGE_NAMES = ['message', 'msg', 'log', 'body', 'MESSAGE', 'short_message', 'event.original'];
const MESSAGE_PARTS = new Set(['_msg', ...MESSAGE_NAMES]);
/** Fields whose text stands for a message that is missing. */
const DESCRIPTIVE_NAMES = ['exception.message', 'event.name'];
const LEVEL_NAMES = ['severity', 'severity_text', 'loglevel', 'log.level', 'PRIORITY', 'priority'];

/** The labels of a stream where the request names no others. */
export const DEFAULT_LABELS = [
  'service',
  'app',
  'host',
  'hostname',
  'env',
  'environment',
  'namespace',
  'pod',
  'container',
  'job',
  'source',
  'facility',
  'tag',
  'index',
];

type KnownLevel = { readonly token: Uint8Array; readonly severity: Severity };
const MAX_KNOWN_LEVELS = 1000;
/** Of a level as it is written; longer ones are looked at each time. */
const MAX_KNOWN_BYTES = 256;

/** The rules that make an entry canonical: which field is its time, its message, its level. They work on a draft, in place. */
export class Canon {
  readonly time: Name;
  readonly message: Name;
  readonly level: Name;
  readonly service: Name;
  readonly traceId: Name;
  readonly spanId: Name;
  readonly #timeNames: readonly Name[];
  readonly #messageNames: readonly Name[];
  readonly #levelNames: readonly Name[];
  readonly #descriptiveNames: readonly Name[];
  #levels = new ByteMap<KnownLevel>(64);

  constructor(names: Names) {
    const column = (text: string): Name => {
      const name = names.pin(text);
      name.column = true;
      return name;
    };
    this.time = column('_time');
    this.message = column('_msg');
    this.level = column('level');
    this.service = column('service');
    this.traceId = column('trace_id');
    this.spanId = column('span_id');
    // a producer's own stream is ignored: the canonical one is made of its labels
    column('_stream');
    column('_stream_id');
    this.#timeNames = TIME_NAMES.map((text) => names.pin(text));
    this.#messageNames = MESSAGE_NAMES.map((text) => names.pin(text));
    this.#levelNames = LEVEL_NAMES.map((text) => names.pin(text));
    this.#descriptiveNames = DESCRIPTIVE_NAMES.map((text) => names.pin(text));
  }

  /** Reads the entry's time and takes it out of the fields. 'none': it has none, so it gets the time of arrival. */
  readTime(draft: Draft, time: SplitTime): 'time' | 'none' | 'unreadable' {
    const own = draft.find(this.time);
    if (own >= 0) {
      const found = this.#readTimeField(draft, own, time);
      if (found !== 'none') return found;
    }
    for (const name of this.#timeNames) {
      const index = draft.find(name);
      if (index >= 0 && this.#readTimeField(draft, index, time) === 'time') {
        draft.kinds[index] = ABSENT;
        return 'time';
      }
    }
    return 'none';
  }

  #readTimeField(draft: Draft, index: number, time: SplitTime): 'time' | 'none' | 'unreadable' {
    const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
    const start = draft.starts[index] as number;
    const end = draft.ends[index] as number;
    const quote = draft.kinds[index] === STRING ? 1 : 0;
    if (quote === 1 && readIsoToken(source, start, end, time)) return 'time';
    if (readUnixDigits(source, start + quote, end - quote, time)) return 'time';
    return readTimeText(draft.text(index), time);
  }

  /** The index of the message, made a string; -1 where the entry has none. */
  readMessage(draft: Draft): number {
    let index = draft.find(this.message);
    for (let i = 0; index < 0 && i < this.#messageNames.length; i++) index = draft.find(this.#messageNames[i] as Name);
    if (index < 0) return -1;
    if (draft.kinds[index] === LITERAL) draft.replace(index, STRING, JSON.stringify(draft.text(index)));
    return index;
  }

  /** The same, but an entry without a message gets a copy of the first field whose last dotted part is the name of one; -1 where it has none. */
  messageOrNested(draft: Draft): number {
    const index = this.readMessage(draft);
    for (let i = 0; index < 0 && i < draft.count; i++) {
      if (draft.kinds[i] === ABSENT) continue;
      const { text } = draft.fieldNames[i] as Name;
      if (!MESSAGE_PARTS.has(text.slice(text.lastIndexOf('.') + 1))) continue;
      draft.putString(this.message, draft.text(i));
      return draft.find(this.message);
    }
    return index;
  }

  /** The same, but an entry without a message gets one: `fallback`, or where that is empty the most informative of its fields. */
  messageOrFallback(draft: Draft, fallback: string): number {
    const index = this.readMessage(draft);
    if (index >= 0) return index;
    let text = fallback;
    for (let i = 0; text === '' && i < this.#descriptiveNames.length; i++) {
      const field = draft.find(this.#descriptiveNames[i] as Name);
      if (field >= 0) text = draft.text(field);
    }
    draft.putString(this.message, text === '' ? draft.json() : text);
    return draft.find(this.message);
  }

  /** Makes sure that `level` and `service` are strings, and gives the severity. */
  readLevel(draft: Draft): Severity {
    const service = draft.find(this.service);
    if (service >= 0 && draft.kinds[service] === LITERAL) draft.replace(service, STRING, JSON.stringify(draft.text(service)));
    const index = draft.find(this.level);
    if (index < 0) {
      const level = this.#levelFromOthers(draft);
      if (level === null) return 0;
      return this.takeLevel(draft, level);
    } else if (draft.kinds[index] === LITERAL) {
      const text = draft.text(index);
      draft.replace(index, STRING, JSON.stringify(pinoLevel(Number(text)) ?? text));
    }
    return this.#severityOf(draft, index);
  }

  /** Gives an entry that has none a level, and gives its severity. */
  takeLevel(draft: Draft, level: string): Severity {
    draft.set(this.level, STRING, JSON.stringify(level));
    // where the entry has as many fields as may be it stays without one
    return draft.find(this.level) < 0 ? severityOf(level) : this.#severityOf(draft, this.level.index);
  }

  #severityOf(draft: Draft, index: number): Severity {
    const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
    const start = draft.starts[index] as number;
    const end = draft.ends[index] as number;
    const known = this.#levels.find(source, start, end);
    if (known !== undefined) return known.severity;
    const severity = severityOf(draft.text(index));
    if (end - start > MAX_KNOWN_BYTES) return severity;
    if (this.#levels.size >= MAX_KNOWN_LEVELS) this.#levels = new ByteMap<KnownLevel>(64);
    this.#levels.add({ token: Uint8Array.prototype.slice.call(source, start, end), severity });
    return severity;
  }

  #levelFromOthers(draft: Draft): string | null {
    for (const name of this.#levelNames) {
      const index = draft.find(name);
      const level = index < 0 ? null : levelWord(draft.text(index), name.text.toLowerCase() === 'priority');
      if (level !== null) return level;
    }
    return null;
  }
}

/** The level that another field's value names: a word, a syslog severity (0 to 7) or an OpenTelemetry severity number (8 to 24). */
function levelWord(text: string, mustBeKnown: boolean): string | null {
  if (/^\d{1,2}$/.test(text)) {
    const number = Number(text);
    return SYSLOG_LEVELS[number] ?? otelLevel(number);
  }
  const word = text.toLowerCase();
  return mustBeKnown && severityOf(word) === 0 ? null : word;
}

/** OpenTelemetry logs data model, SeverityNumber: 1 to 4 trace, 5 to 8 debug, … 21 to 24 fatal. */
function otelLevel(number: number): string | null {
  return (['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)[Math.floor((number - 1) / 4)] ?? null;
}
