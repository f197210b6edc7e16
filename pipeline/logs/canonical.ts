import { ByteMap } from '../core/byte-map.ts';
import { MessageRules } from './message.ts';
import { ABSENT, LITERAL, STRING, type Draft } from './draft.ts';
import type { Name, Names } from './names.ts';
import { pinoLevel, severityOf, SYSLOG_LEVELS, type Severity } from '../core/severity.ts';
import { readIsoToken, readTimeText, readUnixDigits } from './time-token.ts';
import type { SplitTime } from '../rows/halves.ts';

/** Names whose value is taken, in this order, where an entry has no `_time`: after the usual ones those of Serilog, .NET, nginx, loguru, Traefik, audit logs. */
const TIME_NAMES = [
  ...['@timestamp', 'timestamp', 'time', 'date', 'ts'],
  ...['@t', 'Timestamp', 'time_iso8601', 'record.time.timestamp', 'timeMillis', 'StartUTC', 'requestReceivedTimestamp', 'eventTime', 'dt'],
];
/** The same for a level: after the usual ones those of .NET, Monolog, Python's JSON formatters and OpenTelemetry's names in other cases. */
const LEVEL_NAMES = [
  ...['severity', 'severity_text', 'loglevel', 'log.level', 'Level', '@l', 'lvl', 'record.level.name', 'PRIORITY', 'priority'],
  ...['LogLevel', 'level_name', 'levelname', 'log_level', 'Severity', 'SeverityText', 'severityText'],
];
/** Has the service where the entry does not say `service`: OpenTelemetry's and ECS' name. */
const SERVICE_NAME = 'service.name';

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

const NO_NAMES: readonly string[] = [];

/** Of a level and of a service, whose parts have one dictionary for all tenants (docs/adr/0013-what-the-table-costs.md). */
const MAX_WORD_BYTES = 16_384;
/** Longer texts of other fields name no level. */
const MAX_NAMED_LEVEL = 64;

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
  readonly messages: MessageRules;
  readonly #levelNames: readonly Name[];
  readonly #serviceName: Name;
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
    const own = [column('_stream'), column('_stream_id'), this.time, this.level, this.service].map(({ text }) => text);
    this.#timeNames = TIME_NAMES.map((text) => names.pin(text));
    this.#levelNames = LEVEL_NAMES.map((text) => names.pin(text));
    this.#serviceName = names.pin(SERVICE_NAME);
    this.messages = new MessageRules(names, this.message, [...own, ...TIME_NAMES, ...LEVEL_NAMES, SERVICE_NAME]);
  }

  /**
   * Reads the entry's time and takes it out of the fields. 'none': it has none, so it gets the time of arrival. `chosen`: the fields that the
   * request names, which go before all.
   */
  readTime(draft: Draft, time: SplitTime, chosen: readonly string[] = NO_NAMES): 'time' | 'none' | 'unreadable' {
    for (const text of chosen) if (this.#takeTime(draft, draft.names.of(text), time)) return 'time';
    const own = draft.find(this.time);
    if (own >= 0) {
      const found = this.#readTimeField(draft, own, time);
      if (found !== 'none') return found;
    }
    for (const name of this.#timeNames) if (this.#takeTime(draft, name, time)) return 'time';
    return 'none';
  }

  /** Moves a field that is readable as a time. */
  #takeTime(draft: Draft, name: Name, time: SplitTime): boolean {
    const index = draft.find(name);
    if (index < 0 || this.#readTimeField(draft, index, time) !== 'time') return false;
    draft.kinds[index] = ABSENT;
    return true;
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

  /** Makes sure that `level` and `service` are strings, and gives the severity. */
  readLevel(draft: Draft): Severity {
    const service = draft.find(this.service);
    if (service < 0) {
      const named = draft.find(this.#serviceName);
      if (named >= 0) draft.putString(this.service, draft.text(named));
    } else if (draft.kinds[service] === LITERAL) draft.replace(service, STRING, JSON.stringify(draft.text(service)));
    const index = draft.find(this.level);
    const number = index >= 0 && draft.kinds[index] === LITERAL ? draft.text(index) : null;
    if (index >= 0 && number === null) return this.#severityOf(draft, index);
    // a number is a level where it is pino's or bunyan's; Monolog has a name beside it
    const level = (number === null ? null : pinoLevel(Number(number))) ?? this.#levelFromOthers(draft) ?? number;
    return level === null ? 0 : this.takeLevel(draft, level);
  }

  /** Why the entry cannot be taken for its level or its service; empty where it can. */
  longWord(draft: Draft): string {
    for (const name of [this.level, this.service]) {
      const index = draft.find(name);
      if (index >= 0 && (draft.ends[index] as number) - (draft.starts[index] as number) > MAX_WORD_BYTES + 2)
        return `a ${name.text} of more than ${String(MAX_WORD_BYTES)} bytes`;
    }
    return '';
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
  if (text.length > MAX_NAMED_LEVEL) return null;
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
