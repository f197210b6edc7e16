import { CUSTOM, INCREMENT, META, PLUGIN } from '../../replay/chunk.ts';
import type { FoundEvent } from '../../replay/event-batch.ts';
import { CLOSE_OBJECT, COMMA } from '../../wire/bytes.ts';

/** Longer data of an event is not looked into: a click has some 60 bytes, a page's address and a custom event few thousand. Bytes. */
const MOST_BYTES: Readonly<Record<number, number>> = { [INCREMENT]: 512, [META]: 16_384, [CUSTOM]: 65_536, [PLUGIN]: 65_536 };
/** A longer address is cut. Characters. */
export const MAX_URL = 2048;
/** Sources and types of increments, as rrweb numbers them. */
const [MOUSE_INTERACTION, CLICK] = [2, 2];

type Facts = Pick<FoundEvent, 'click' | 'url' | 'isError' | 'isFailedRequest'>;
type Members = Readonly<Record<string, unknown>>;
const NOTHING: Facts = {};

/** What is counted of an event, by its type and its data, which lies at `source[start..end)` and is JSON. */
export function factsOf(type: number, source: Buffer, start: number, end: number): Facts {
  const most = MOST_BYTES[type];
  if (most === undefined || end - start > most) return NOTHING;
  if (type === INCREMENT && !mayBeMouseInteraction(source, start)) return NOTHING;
  const data: unknown = JSON.parse(source.toString('utf8', start, end));
  if (!isObject(data)) return NOTHING;
  if (type === INCREMENT) return clickFacts(data);
  if (type === META) return urlFacts(data['href']);
  const payload = isObject(data['payload']) ? data['payload'] : {};
  return type === CUSTOM ? customFacts(data['tag'], payload) : pluginFacts(data['plugin'], payload);
}

const SOURCE = Buffer.from('{"source":');

/** Whether an increment must be read to know it: the recorder writes the source first, and all but some are of another one. */
function mayBeMouseInteraction(bytes: Buffer, start: number): boolean {
  for (let at = 0; at < SOURCE.length; at++) if (bytes[start + at] !== SOURCE[at]) return true;
  const after = bytes[start + SOURCE.length + 1];
  return bytes[start + SOURCE.length] === 0x30 + MOUSE_INTERACTION || !(after === COMMA || after === CLOSE_OBJECT);
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

function clickFacts({ source, type, x, y }: Members): Facts {
  if (source !== MOUSE_INTERACTION || type !== CLICK) return NOTHING;
  return { click: [Number.isFinite(x) ? (x as number) : 0, Number.isFinite(y) ? (y as number) : 0] };
}

const urlFacts = (href: unknown): Facts =>
  typeof href === 'string' && href !== '' ? { url: href.slice(0, MAX_URL).toWellFormed() } : NOTHING;

/** The tags of the recorder (web/replay-recorder). */
function customFacts(tag: unknown, payload: Members): Facts {
  if (tag === 'error' || (tag === 'console' && payload['level'] === 'error')) return { isError: true };
  if (tag === 'request' && payload['failed'] === true) return { isFailedRequest: true };
  return tag === 'page' ? urlFacts(payload['href']) : NOTHING;
}

/** rrweb's own plugin for the console. */
const pluginFacts = (plugin: unknown, payload: Members): Facts =>
  typeof plugin === 'string' && plugin.startsWith('rrweb/console') && payload['level'] === 'error' ? { isError: true } : NOTHING;
