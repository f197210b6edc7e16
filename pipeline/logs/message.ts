import { ABSENT, LITERAL, STRING, type Draft } from './draft.ts';
import type { Name, Names } from './names.ts';

/** Names whose value is the message, in this order, where an entry has no `_msg`. */
export const MESSAGE_NAMES = ['message', 'msg', 'log', 'body', 'MESSAGE', 'short_message', 'event.original'];
/** The same after those: of .NET, Serilog, Google Cloud, tracing, loguru and others. `event` may be an object as well, so it must be a string. */
const LATER_NAMES = [
  ...['event', 'Message', 'RenderedMessage', '@m', '@mt', 'textPayload', 'jsonPayload.message'],
  ...['fields.message', 'record.message', 'text'],
];
const MESSAGE_PARTS = new Set(['_msg', ...MESSAGE_NAMES]);
/** Fields whose text stands for a message that is missing. */
const DESCRIPTIVE_NAMES = ['exception.message', 'event.name'];
/** Where access logs have method, path and status: nginx and others, Traefik, Kubernetes' audit, ECS and OpenTelemetry, Caddy. */
const METHODS = ['method', 'request_method', 'RequestMethod', 'verb', 'http.request.method', 'http.method', 'request.method'];
const PATHS = ['path', 'request_uri', 'uri', 'RequestPath', 'requestURI', 'url.path', 'url', 'http.target', 'request.uri', 'http.url'];
const STATUSES = [
  ...['status', 'DownstreamStatus', 'responseStatus.code', 'http.response.status_code', 'http.status_code'],
  ...['status_code', 'response_code', 'code'],
];
/** A request's first line, as nginx' `$request` has it. */
const REQUEST_LINE = 'request';
const OPEN_BRACE = 0x7b;
const METHOD = /^[A-Za-z]{3,20}$/;

export type MessageOptions = {
  /** Of a protocol that keeps every entry: its message where it has none; where it is empty too, what tells most. */
  readonly fallback: string | undefined;
  /** An entry without one takes it from a field such as `applog.message`. */
  readonly takesNested: boolean;
  /** The JSON text of the entry as it came; null where it was none. */
  readonly source: () => string | null;
  /** The stream's labels, which do not tell what has happened. */
  readonly labels: ReadonlySet<string>;
};

/** Which field is the message of an entry, and what stands for one that is missing. Works on a draft, in place. */
export class MessageRules {
  readonly #message: Name;
  readonly #names: readonly Name[];
  readonly #event: Name;
  readonly #descriptive: readonly Name[];
  readonly #requests: readonly (readonly Name[])[];
  readonly #requestLine: Name;
  /** Times, levels and services: what alone is no entry. */
  readonly #silent: ReadonlySet<Name>;

  constructor(names: Names, message: Name, silent: readonly string[]) {
    const pinned = (texts: readonly string[]): Name[] => texts.map((text) => names.pin(text));
    this.#message = message;
    this.#names = pinned([...MESSAGE_NAMES, ...LATER_NAMES]);
    this.#event = names.pin('event');
    this.#descriptive = pinned(DESCRIPTIVE_NAMES);
    this.#requests = [METHODS, PATHS, STATUSES].map(pinned);
    this.#requestLine = names.pin(REQUEST_LINE);
    this.#silent = new Set([message, ...pinned(silent)]);
  }

  /** The index of the message, made a string; -1 where the entry has none. `chosen`: the fields that the request names, which go before all. */
  find(draft: Draft, chosen: readonly string[]): number {
    let index = -1;
    for (let i = 0; index < 0 && i < chosen.length; i++) index = draft.find(draft.names.of(chosen[i] as string));
    if (index < 0) index = draft.find(this.#message);
    for (let i = 0; index < 0 && i < this.#names.length; i++) {
      const name = this.#names[i] as Name;
      index = draft.find(name);
      if (index >= 0 && name === this.#event && draft.kinds[index] !== STRING) index = -1;
    }
    if (index >= 0 && draft.kinds[index] === LITERAL) draft.replace(index, STRING, JSON.stringify(draft.text(index)));
    return index;
  }

  /** Gives an entry that has no message one; its index, or -1 where there is nothing that could be one. */
  make(draft: Draft, { fallback, takesNested, source, labels }: MessageOptions): number {
    const nested = takesNested ? nestedMessage(draft) : null;
    const text = nested ?? (fallback || this.#telling(draft));
    if (text !== '') return this.#put(draft, text);
    if (fallback === undefined && !this.#hasContent(draft, labels)) return -1;
    return this.#put(draft, source() ?? draft.json());
  }

  /** The index of the message inside a message that is a line of JSON, whose members are fields; -1 where it is something else. */
  inner(draft: Draft, message: number): number {
    const source = draft.inArena[message] === 1 ? draft.arena : draft.body;
    if (draft.kinds[message] !== STRING || source[(draft.starts[message] as number) + 1] !== OPEN_BRACE) return -1;
    for (let i = 0; i < MESSAGE_NAMES.length; i++) {
      const index = draft.find(this.#names[i] as Name);
      if (index >= 0 && index !== message && draft.kinds[index] === STRING) return index;
    }
    return -1;
  }

  #put(draft: Draft, text: string): number {
    draft.putString(this.#message, text);
    return draft.find(this.#message);
  }

  /** What tells most: of an error, an event, or a request. Empty where there is none of them. */
  #telling(draft: Draft): string {
    for (const name of this.#descriptive) {
      const index = draft.find(name);
      if (index >= 0) return draft.text(index);
    }
    const [method = '', path = '', status = ''] = this.#requests.map((names) => firstOf(draft, names));
    if (METHOD.test(method) && path !== '') return `${method} ${path}${status === '' ? '' : ` ${status}`}`;
    const line = draft.find(this.#requestLine);
    const request = line < 0 ? null : /^([A-Za-z]{3,20}) (\S+) HTTP\/[\d.]+$/.exec(draft.text(line));
    return request === null ? '' : `${request[1] ?? ''} ${request[2] ?? ''}${status === '' ? '' : ` ${status}`}`;
  }

  /** True where there is more than a time, a level, a service and labels. */
  #hasContent(draft: Draft, labels: ReadonlySet<string>): boolean {
    for (let i = 0; i < draft.count; i++) {
      const name = draft.fieldNames[i] as Name;
      if (draft.kinds[i] !== ABSENT && !this.#silent.has(name) && !labels.has(name.text)) return true;
    }
    return false;
  }
}

/** A field that is the message by the last part of its name; null where there is none. */
function nestedMessage(draft: Draft): string | null {
  for (let i = 0; i < draft.count; i++) {
    if (draft.kinds[i] === ABSENT) continue;
    const { text } = draft.fieldNames[i] as Name;
    if (MESSAGE_PARTS.has(text.slice(text.lastIndexOf('.') + 1))) return draft.text(i);
  }
  return null;
}

function firstOf(draft: Draft, names: readonly Name[]): string {
  for (const name of names) {
    const index = draft.find(name);
    if (index >= 0) return draft.text(index);
  }
  return '';
}
