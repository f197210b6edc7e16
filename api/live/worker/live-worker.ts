/** The program of a live worker: it follows the log for the app process that has started it, over the pipe that is its file 3. */
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { LogTail } from '../../../pipeline/bus/reading/log-tail.ts';
import { storeUnavailable } from '../../../pipeline/core/errors.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { toQueryError } from '../../query/run.ts';
import * as frames from '../../workers/frames.ts';
import { sentError } from '../../workers/sent-error.ts';
import { LogPlace, type LogVector } from '../place/log-place.ts';
import { openWorkerPipe, sendFrames } from '../../workers/worker-pipe.ts';
import { WriteGroup } from '../../workers/write-group.ts';
import { LiveFeed } from './live-feed.ts';
import * as messages from './messages.ts';

/** The shortest time between two reports of how far it has read. Milliseconds. */
const READ_EVERY_MS = 200;

const pipe = openWorkerPipe(take);
const group = new WriteGroup(pipe);
const send = (type: number, tail: number, value: unknown): void => {
  sendFrames(pipe, frames.jsonFrame(type, tail, value));
};

let tail: LogTail | null = null;
let readAt = 0;
let timer: NodeJS.Timeout | null = null;

const feed = new LiveFeed({
  onFound: (found) => {
    const bytes = messages.encodeMatched(found);
    group.add(bytes.length);
    sendFrames(pipe, frames.frameOf(messages.ENTRY, 0, bytes));
  },
  onMissed: (missed) => send(messages.MISSED, 0, missed),
  onSampled: (id, factor) => send(messages.SAMPLED, id, factor),
  onFailed: (id, error) => send(messages.FAILED, id, sentError(toQueryError(error))),
  onWork: (id) => {
    sendFrames(pipe, frames.frameOf(messages.NOTE, id));
  },
});

/** By partition; those that are not known begin with their first record. */
function vector(next: ReadonlyMap<number, number>): LogVector {
  const count = Math.max(-1, ...next.keys()) + 1;
  return Array.from({ length: count }, (_none, partition) => [next.get(partition) ?? 0, 0]);
}

function noKafka(): never {
  throw storeUnavailable();
}

/** By partition. */
const ordered = (offsets: ReadonlyMap<number, number>): number[] => vector(offsets).map(([offset]) => offset);

/** Reports how far it has read: all that it has found before is sent by then. */
function reportRead(): void {
  if (timer !== null || tail === null) return;
  timer = setTimeout(
    () => {
      timer = null;
      readAt = performance.now();
      send(messages.READ, 0, vector(tail?.next ?? new Map()));
    },
    Math.max(0, readAt + READ_EVERY_MS - performance.now()),
  );
}

function begin({ kafka }: messages.LiveSettings): void {
  const log = pino({ level: 'info', base: { role: 'live' } });
  tail = new LogTail({
    ...{ kafka: createKafka({ ...kafka, clientId: 'logweir-live', log }), log, topic: LOGS_TOPIC },
    wants: (tenantId) => feed.wants(tenantId),
    take: (partition, records) => {
      feed.take(partition, records);
    },
    onTaken: reportRead,
    onGap: (_partition, from, to) => {
      if (to < from) feed.logTruncated();
      else feed.gap(to - from);
    },
  });
  send(messages.READY, 0, null);
}

async function open(id: number, opened: messages.OpenTail): Promise<void> {
  try {
    if (tail === null) throw new Error('BUG: A tail came before the settings.');
    tail.rewind(new Map((opened.from ?? []).map(([offset], partition) => [partition, offset])));
    await tail.start();
    const place = new LogPlace(opened.after ?? []);
    const ends = place.isWithin(ordered(tail.next)) ? null : ordered(await tail.ends().catch(noKafka));
    // an answer that is under way was looked at for other tenants
    if (!feed.wants(opened.tenantId)) tail.fetchAgain();
    const read = vector(tail.next);
    // a truncated log does not have the place any more
    const begin = opened.from ?? (ends === null ? read : place.within(ends).orLater(read).vector);
    const isHeavy = feed.open(id, opened, begin);
    send(messages.OPENED, id, { begin, read, isHeavy } satisfies messages.OpenedTail);
  } catch (error) {
    send(messages.FAILED, id, sentError(toQueryError(error)));
  }
}

function take(frame: frames.Frame): void {
  switch (frame.type) {
    case messages.SETTINGS:
      begin(frames.jsonOf(frame) as messages.LiveSettings);
      break;
    case messages.OPEN:
      void open(frame.job, frames.jsonOf(frame) as messages.OpenTail);
      break;
    case messages.CLOSE:
      feed.close(frame.job);
      break;
  }
}
