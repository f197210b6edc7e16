import { FixedName } from '../../logs/names.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { invalidBody } from '../../core/errors.ts';
import type { IngestRequest } from '../normalizer.ts';
import { afterByteOrderMark, startsWith } from '../shared/bytes.ts';
import { nextFrame, type Frame } from './frames.ts';
import { priorityAt, priorityLength, putLevel, putPriority } from './priority.ts';
import { isRfc5424, readRfc5424 } from './rfc5424.ts';
import { readRfc3164 } from './rfc3164.ts';
import type { Clock } from './timestamp.ts';
import { UTC, zoneOf } from './zone.ts';

const MESSAGE = new FixedName('_msg');
/** The cookie before the JSON of Lumberjack and CEE (https://cee.mitre.org/language/1.0-beta1/clt.html). */
const CEE = Buffer.from('@cee:');

/** How the frames of a request are read. */
export type FrameRules = {
  readonly clock: Clock;
  /** Frames of RFC 5424 have STRUCTURED-DATA; Logplex's have none. */
  readonly structured: boolean;
  /** A field that all frames have in common. */
  readonly shared?: { readonly name: FixedName; readonly value: string };
};

/** The clock of a request: its time of arrival, and the zone of `?tz=`, which is UTC where it names none. Throws HttpError 400. */
export function clockOf(request: IngestRequest): Clock {
  const text = request.query.get('tz') ?? '';
  const zone = text === '' ? UTC : zoneOf(text);
  if (zone === null)
    throw invalidBody(
      `The parameter tz, ${JSON.stringify(text.slice(0, 80))}, is neither an offset such as +02:00 nor a time zone's name.`,
    );
  const now = Number(request.receivedAt / 1_000_000_000n);
  return { zone, now, year: new Date(now * 1000).getUTCFullYear() };
}

/** Takes each frame of a body as an entry. */
export function takeFrames(body: Buffer, out: EntryWriter, rules: FrameRules): void {
  const frame: Frame = { start: 0, end: 0 };
  for (let at = nextFrame(body, afterByteOrderMark(body, 0), frame); at >= 0; at = nextFrame(body, at, frame)) {
    takeFrame(body, frame.start, frame.end, out, rules);
  }
}

function takeFrame(body: Buffer, start: number, end: number, out: EntryWriter, rules: FrameRules): void {
  const draft = out.begin(body, start, end);
  const { clock, structured, shared } = rules;
  const priority = priorityAt(body, start, end);
  let at = start;
  if (priority >= 0) {
    putPriority(draft, priority, start);
    at += priorityLength(priority);
  }
  if (shared !== undefined) draft.putString(shared.name.in(draft.names), shared.value);
  const message =
    priority >= 0 && isRfc5424(body, at, end)
      ? readRfc5424(out, draft, start, at, end, clock, structured)
      : readRfc3164(out, draft, start, at, end, clock);
  draft.putText(MESSAGE.in(draft.names), body, message, end);
  draft.readLine(body, startsWith(body, message, CEE) ? message + CEE.length : message, end);
  if (priority >= 0) putLevel(draft, priority);
  out.end();
}
