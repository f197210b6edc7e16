import { clickOf, EVENTS, FULL_SNAPSHOT, META, type ReplayChunk } from './chunk.ts';

/** What a row has of events, unless one event alone has more: a player reads from a row's beginning. Bytes. */
const ROW_BYTES = 512 * 1024;
/** Pages of a row that are listed. */
const MAX_URLS = 100;
const [NEWLINE, RETURN, SPACE] = [0x0a, 0x0d, 0x20];

/** An event where it lies in a body, and what is counted of it. */
export type FoundEvent = {
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly type: number;
  readonly click?: readonly [x: number, y: number];
  /** The page that was opened with it. */
  readonly url?: string;
  readonly isError?: boolean;
  readonly isFailedRequest?: boolean;
};

/** What a batch says of all of its events. */
export type BatchLabels = Pick<ReplayChunk, 'session' | 'seq' | 'user' | 'service' | 'version' | 'traceIds'> & {
  /** The page, where no event says it. */
  readonly url: string;
};

const lengthOf = ({ start, end }: FoundEvent): number => end - start;
const sumOf = (events: readonly FoundEvent[], of: (event: FoundEvent) => number): number =>
  events.reduce((sum, event) => sum + of(event), 0);

/** The rows of a batch: its events in the order of their times, cut between events. */
export function chunksOf(events: readonly FoundEvent[], labels: BatchLabels): ReplayChunk[] {
  const ordered = isOrdered(events) ? events : [...events].sort((a, b) => a.time - b.time);
  const rows: FoundEvent[][] = [];
  let left = 0;
  for (const event of ordered) {
    if (lengthOf(event) > left) {
      rows.push([]);
      left = ROW_BYTES;
    }
    left -= lengthOf(event);
    rows.at(-1)?.push(event);
  }
  return rows.map((own, part) => chunkOf(own, labels, part));
}

function isOrdered(events: readonly FoundEvent[]): boolean {
  for (let index = 1; index < events.length; index++)
    if ((events[index] as FoundEvent).time < (events[index - 1] as FoundEvent).time) return false;
  return true;
}

function chunkOf(events: readonly FoundEvent[], { url, ...labels }: BatchLabels, part: number): ReplayChunk {
  const first = events[0]?.time ?? 0;
  const opened = [...new Set(events.flatMap((event) => event.url ?? []))].slice(0, MAX_URLS);
  const timeOf = (type: number): number => events.find((event) => event.type === type)?.time ?? 0;
  return {
    ...{ kind: EVENTS, ...labels, part, first, last: events.at(-1)?.time ?? first, events: events.length, bytes: sumOf(events, lengthOf) },
    clicks: events.flatMap(({ time, click }) => (click === undefined ? [] : clickOf(time - first, ...click))),
    errors: sumOf(events, ({ isError }) => (isError === true ? 1 : 0)),
    failedRequests: sumOf(events, ({ isFailedRequest }) => (isFailedRequest === true ? 1 : 0)),
    ...{ snapshot: timeOf(FULL_SNAPSHOT), meta: timeOf(META) },
    urls: opened.length === 0 && url !== '' ? [url] : opened,
    body: bodyOf(events, first),
  };
}

/** A line for each event. In JSON line ends are white space, since strings have them as escapes. */
function bodyOf(events: readonly FoundEvent[], first: number): Buffer {
  const body = Buffer.allocUnsafe(sumOf(events, (event) => lengthOf(event) + HEAD_BYTES));
  const isCut = haveLineEnds(events);
  let at = 0;
  for (const { source, start, end, time, type } of events) {
    at = putNumber(body, putNumber(body, at, time - first), type);
    const begin = at;
    at += source.copy(body, at, start, end);
    if (isCut) for (let i = begin; i < at; i++) if (body[i] === NEWLINE || body[i] === RETURN) body[i] = SPACE;
    body[at] = NEWLINE;
    at += 1;
  }
  return body.subarray(0, at);
}

/** What stands before an event and behind it takes no more: two numbers, of milliseconds and of a type. */
const HEAD_BYTES = 24;

/** Writes a whole number and a space; gives the offset after it. */
function putNumber(to: Buffer, at: number, number: number): number {
  const text = String(number);
  for (let index = 0; index < text.length; index++) to[at + index] = text.charCodeAt(index);
  to[at + text.length] = SPACE;
  return at + text.length + 1;
}

/** Whether there may be line ends in events: looked for at once where they lie in one body, since a look at each costs more than its copy. */
function haveLineEnds(events: readonly FoundEvent[]): boolean {
  const { source } = events[0] as FoundEvent;
  if (events.some((event) => event.source !== source)) return true;
  const all = source.subarray(Math.min(...events.map(({ start }) => start)), Math.max(...events.map(({ end }) => end)));
  return all.includes(NEWLINE) || all.includes(RETURN);
}
