/** The live tail: entries as they come, the newest first. What is not shown is counted, always. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { session, socketProtocols } from '../base/session.ts';
import { LiveBuffer } from './live-buffer.ts';
import type { Entry } from './entry.ts';

export type LiveState = {
  readonly rows: readonly Entry[];
  readonly status: 'connecting' | 'live' | 'lost' | 'refused';
  /** Entries of the last second. */
  readonly rate: number;
  /** Since it was opened. */
  readonly seen: number;
  /** Those that came while it was paused, and wait. */
  readonly waiting: number;
  /** Those that the service did not send, and those that this page could not keep. */
  readonly dropped: number;
  /** Why the connection was lost, where the service told it. */
  readonly detail: string;
  /** Why it ended: it does not open again by itself. */
  readonly error: Error | null;
};

type Control = {
  readonly type: string;
  readonly status?: number;
  readonly detail?: string;
  readonly retry_after?: number | null;
  readonly count?: number;
  readonly position?: string;
  readonly reason?: string;
  readonly since?: string;
  readonly until?: string;
  readonly cut?: boolean;
};

const START: LiveState = { rows: [], status: 'connecting', rate: 0, seen: 0, waiting: 0, dropped: 0, detail: '', error: null };
const BACKFILL = '-5m';
const WAITS_MS = [500, 1000, 2000, 4000, 8000];
/** The close code of a key that is not valid any more, and of too much that was sent. */
const POLICY = 1008;

/** A socket that opens again by itself, from where it was. */
class Tail {
  readonly #query: string;
  readonly #onEntry: (entry: Entry) => void;
  readonly #onControl: (control: Control) => void;
  readonly #onStatus: (status: LiveState['status'], detail: string) => void;
  readonly #onRefused: (error: Error) => void;
  #socket: WebSocket | null = null;
  #position: string | null = null;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  constructor(
    query: string,
    on: {
      entry: (entry: Entry) => void;
      control: (control: Control) => void;
      status: (status: LiveState['status'], detail: string) => void;
      refused: (error: Error) => void;
    },
  ) {
    this.#query = query;
    this.#onEntry = on.entry;
    this.#onControl = on.control;
    this.#onStatus = on.status;
    this.#onRefused = on.refused;
    this.#open();
  }

  #open(): void {
    const { key, known } = session.peek() ?? {};
    if (key === undefined || known === undefined || this.#isEnded) return;
    const url = `${location.origin.replace(/^http/, 'ws')}/ws/livetail/${String(known.tenant_id)}`;
    const socket = new WebSocket(url, socketProtocols(key));
    this.#socket = socket;
    socket.onopen = () =>
      socket.send(
        JSON.stringify({
          query: this.#query,
          control: true,
          ...(this.#position === null ? { since: BACKFILL } : { resume: this.#position }),
        }),
      );
    socket.onmessage = ({ data }: MessageEvent<string>) => this.#read(JSON.parse(data) as Entry);
    socket.onclose = ({ code, reason }) => (code === POLICY ? this.#refuse(new ApiError(403, reason, '', null)) : this.#again(reason));
  }

  #read(frame: Entry): void {
    const control = frame['_control'] as Control | undefined;
    if (control === undefined || Object.keys(frame).length > 1) {
      this.#onEntry(frame);
      return;
    }
    if (control.position !== undefined) this.#position = control.position;
    if (control.type === 'ready') {
      this.#tries = 0;
      this.#onStatus('live', '');
    }
    if (control.type === 'error') {
      const { status = 400, detail = 'The query cannot be followed.', retry_after: retryAfter = null } = control;
      this.#refuse(new ApiError(status, detail, '', retryAfter));
    }
    this.#onControl(control);
  }

  #refuse(error: Error): void {
    if (this.#isEnded) return;
    this.end();
    this.#onRefused(error);
  }

  #again(reason: string): void {
    if (this.#isEnded) return;
    const wait = WAITS_MS[Math.min(this.#tries, WAITS_MS.length - 1)] ?? 8000;
    this.#tries += 1;
    this.#onStatus('lost', reason);
    this.#timer = setTimeout(() => this.#open(), wait);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}

/** Follows a query as long as it is on; drawn once a frame, however much comes. */
export function useLive(query: string, isOn: boolean, isPaused: boolean): LiveState & { readonly again: () => void } {
  const [state, setState] = useState(START);
  const [tries, setTries] = useState(0);
  const buffer = useRef(new LiveBuffer());
  buffer.current.isPaused = isPaused;
  useEffect(() => {
    if (!isOn) return;
    const own = new LiveBuffer();
    own.isPaused = buffer.current.isPaused;
    buffer.current = own;
    let [status, detail, before]: [LiveState['status'], string, number] = ['connecting', '', 0];
    let error: Error | null = null;
    // what is stored comes first, and is no rate
    let isStored = true;
    let rate = 0;
    const tail = new Tail(query, {
      entry: (entry) => own.take(entry),
      control: ({ type, count = 0, position, reason = 'the page did not read them fast enough', since = '', until = '', cut = false }) => {
        if (position !== undefined) own.mark();
        if (type === 'dropped') own.miss({ count, why: reason, since, until });
        if (type === 'backfill') [isStored, before] = [false, own.seen];
        if (type === 'backfill' && cut) own.miss({ count: 0, why: 'more were stored than a tail begins with', since: '', until: '' });
      },
      status: (next, why) => {
        if (next === 'lost' && status !== 'lost') own.resume();
        [status, detail] = [next, why];
      },
      refused: (why) => {
        [status, detail, error] = ['refused', '', why];
      },
    });
    const draw = (): void => {
      own.flush();
      const { rows, seen, waiting, dropped } = own;
      setState(
        (now) =>
        now.rows === rows && now.seen === seen && now.status === status && now.rate === rate && now.waiting === waiting ? now : { rows, seen, waiting, dropped, status, detail, rate, error }, // prettier-ignore
      );
      frame = requestAnimationFrame(draw);
    };
    let frame = requestAnimationFrame(draw);
    const second = setInterval(() => {
      rate = isStored ? 0 : own.seen - before;
      before = own.seen;
    }, 1000);
    setState(START);
    return () => {
      tail.end();
      cancelAnimationFrame(frame);
      clearInterval(second);
    };
  }, [query, isOn, tries]);
  return { ...state, again: () => setTries((count) => count + 1) };
}
