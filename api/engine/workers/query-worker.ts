/** A process that runs queries for the app process: over the pipe that is its fourth file, until that ends. */
import type { Sql } from '../../../pipeline/core/sql.ts';
import { Store, type QueryOptions, type Row } from '../../../pipeline/store/client.ts';
import type { QueryJob } from '../../query/engine.ts';
import { LocalEngine } from '../local-engine.ts';
import { Garbage } from './garbage.ts';
import * as frames from '../../workers/frames.ts';
import { type AnswerHead, sentPipes, type SentJob, type WorkerSettings } from './messages.ts';
import { sentError } from '../../workers/sent-error.ts';
import { openWorkerPipe, sendFrames } from '../../workers/worker-pipe.ts';

/** How many bytes of a stream are sent before more is requested; and the most in one frame. */
const AHEAD_BYTES = 256 * 1024;
const FRAME_BYTES = 64 * 1024;

type Running = {
  readonly abort: AbortController;
  /** What was sent of its answer, and not taken yet. */
  ahead: number;
  wake: () => void;
  /** Settle when statements that were given up have ended in ClickHouse. */
  readonly kills: Promise<void>[];
};

const pipe = openWorkerPipe(take);
const running = new Map<number, Running>();
let engine: LocalEngine | null = null;
let store: Store | null = null;
/** By the names of sets, where there are several. */
let stores: ReadonlyMap<string, Store> = new Map();
/** The job that this process has reported to work on. */
let noted = 0;
const garbage = new Garbage();

const send = (...all: (readonly Uint8Array[])[]): void => {
  sendFrames(pipe, ...all);
};

/** Reports whose work comes next: where this process then hangs, it is known whose fault it was. */
function note(job: number): void {
  if (noted === job) return;
  noted = job;
  send(frames.frameOf(frames.NOTE, job));
}

/** The store as one job sees it: whenever it has waited for ClickHouse, its work goes on. */
function storeOf(job: number, inner: Store, kills: Promise<void>[]): Store {
  const onKill = (ended: Promise<void>): void => void kills.push(ended);
  async function* noting<T>(rows: AsyncGenerator<T>): AsyncGenerator<T> {
    for await (const chunk of rows) {
      garbage.look();
      note(job);
      yield chunk;
      if (Buffer.isBuffer(chunk)) garbage.used(chunk.length);
    }
    note(job);
  }
  return Object.assign(Object.create(inner) as Store, {
    query: (statement: Sql, options: QueryOptions) => noting(inner.query(statement, { ...options, onKill })),
    texts: (statement: Sql, options: QueryOptions) => {
      const texts = inner.texts(statement, { ...options, onKill });
      return texts === null ? null : noting(texts);
    },
    bytes: (statement: Sql, options: QueryOptions) => noting(inner.bytes(statement, { ...options, onKill })),
    rows: async (statement: Sql, options: QueryOptions): Promise<Row[]> => {
      const rows = await inner.rows(statement, { ...options, onKill });
      note(job);
      return rows;
    },
  });
}

async function run(job: number, sent: SentJob): Promise<void> {
  const one: Running = { abort: new AbortController(), kills: [], ahead: 0, wake: () => undefined };
  running.set(job, one);
  garbage.working(true);
  const { elapsedMs, ...rest } = sent;
  const whole = { ...rest, startedAt: performance.now() - elapsedMs, signal: one.abort.signal } as unknown as QueryJob;
  try {
    const own = whole.set === undefined ? store : stores.get(whole.set);
    if (engine === null || own == null) throw new Error('BUG: A query came before the settings, or names a set that is not among them.');
    note(job);
    const { headers, body, stream } = await engine.run(whole, {
      store: storeOf(job, own, one.kills),
      onPipes: (pipes) => {
        note(job);
        send(frames.jsonFrame(frames.PIPES, job, sentPipes(pipes)));
      },
    });
    const head: AnswerHead = { ...(headers === undefined ? {} : { headers }), isStream: stream !== undefined };
    const [begin, end] = [frames.jsonFrame(frames.HEAD, job, head), frames.frameOf(frames.END, job)];
    if (stream === undefined) send(begin, frames.frameOf(frames.DATA, job, bytesOf(body)), end);
    else {
      send(begin);
      for await (const text of stream) if (!(await sendText(job, one, bytesOf(text)))) break;
      send(end);
    }
  } catch (error) {
    send(frames.jsonFrame(frames.ERROR, job, sentError(error)));
  } finally {
    running.delete(job);
    garbage.working(running.size > 0);
    noted = 0;
    void Promise.all(one.kills).then(() => {
      send(frames.frameOf(frames.STOPPED, job));
    });
  }
}

const bytesOf = (body: string | Uint8Array | object | undefined): Buffer =>
  body === undefined
    ? Buffer.alloc(0)
    : typeof body === 'string'
      ? Buffer.from(body)
      : body instanceof Uint8Array
        ? Buffer.from(body.buffer, body.byteOffset, body.length)
        : Buffer.from(JSON.stringify(body));

/** Sends bytes of an answer as far as they are taken; false where no one wants more. */
async function sendText(job: number, one: Running, bytes: Buffer): Promise<boolean> {
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
    while (one.ahead >= AHEAD_BYTES && !one.abort.signal.aborted) await new Promise<void>((resolve) => (one.wake = resolve));
    if (one.abort.signal.aborted) return false;
    const part = bytes.subarray(at, at + FRAME_BYTES);
    one.ahead += part.length;
    send(frames.frameOf(frames.DATA, job, part));
    garbage.used(part.length);
    garbage.look();
  }
  return !one.abort.signal.aborted;
}

function take(frame: frames.Frame): void {
  const one = running.get(frame.job);
  switch (frame.type) {
    case frames.SETTINGS: {
      const { clickhouse, sets, limits, memory, mark } = frames.jsonOf(frame) as WorkerSettings;
      stores = new Map(sets.map((set) => [set.name, new Store(set.clickhouse, mark)]));
      store = new Store(clickhouse, mark);
      engine = new LocalEngine({ store, now: () => BigInt(Date.now()) * 1_000_000n, limits, memory });
      garbage.look();
      send(frames.frameOf(frames.READY));
      break;
    }
    case frames.RUN:
      void run(frame.job, frames.jsonOf(frame) as SentJob);
      break;
    case frames.ABORT:
      one?.abort.abort();
      one?.wake();
      break;
    case frames.MORE:
      if (one !== undefined) one.ahead -= frame.bytes.readUInt32BE(0);
      one?.wake();
      break;
  }
}
