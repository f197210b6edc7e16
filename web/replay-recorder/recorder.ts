import { record } from '@rrweb/record';
import { BatchStore } from './batch-store.ts';
import { watchErrors, type SeenError } from './errors.ts';
import { gzip } from './gzip.ts';
import { maskedJson, maskText } from './masks.ts';
import { watchRequests, type SeenRequest } from './requests.ts';
import { Rum } from './rum.ts';
import { Sender } from './sender.ts';
import { isOver, keep, nextSession, openSession, type Session } from './session.ts';
import { watchVitals } from './vitals.ts';

/** What `start` takes. */
export type RecorderOptions = {
  /** The service: `https://logs.example.com`. */
  readonly url: string;
  /** A key with the scope `ingest` alone: everyone who opens the page can read it. */
  readonly key: string;
  readonly service?: string;
  readonly version?: string;
  readonly user?: string;
  /** False records nothing: views, errors and vitals are sent all the same. */
  readonly replay?: boolean;
  /** The share of sessions that is recorded: 1 for all. */
  readonly share?: number;
  /** What else is masked in texts; with the flag g. */
  readonly masks?: readonly RegExp[];
  /** Origins whose requests get a `traceparent`: by default the page's own. */
  readonly traced?: readonly string[];
  /** How often a batch is sent, milliseconds, and how long its events may be before. */
  readonly batchMs?: number;
  readonly batchBytes?: number;
};

/** A recording. */
export type Recorder = {
  /** The id of the session now. */
  readonly sessionId: string;
  setUser(user: string): void;
  /** Adds an event of your own, shown in the session's place. */
  addEvent(tag: string, payload: unknown): void;
  /** Sends what there is. */
  flush(): Promise<void>;
  stop(): Promise<void>;
};

const BATCH_MS = 5000;
/** About 64 kB of gzip. */
const BATCH_BYTES = 400_000;
/** What a browser takes of a page that leaves. */
const BEACON_BYTES = 50_000;
const SNAPSHOT_MS = 120_000;
const SAMPLING = { mousemove: 50, scroll: 150, media: 800 };
const MOST_TRACES = 200;
/** What may wait in the browser. */
const MOST_WAITING_BYTES = 30_000_000;

/** Records a page: DOM and input as events of rrweb, and what goes wrong. */
class PageRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #store = new BatchStore('logweir-replay', MOST_WAITING_BYTES);
  readonly #sender: Sender;
  readonly #rum: Rum;
  readonly #ends: (() => void)[] = [];
  readonly #traces = new Set<string>();
  /** Bodies that are being compressed, by session and number. */
  readonly #pending = new Map<string, { readonly session: string; readonly seq: number; readonly text: string }>();
  #session: Session;
  #user: string;
  #events: string[] = [];
  #bytes = 0;
  #stopRecord: (() => void) | undefined;

  constructor(options: RecorderOptions, session: Session) {
    this.#options = options;
    this.#session = session;
    this.#user = options.user ?? '';
    const { url, key, masks = [] } = options;
    this.#sender = new Sender({
      ...{ url, key, path: '/v1/rum/replay', contentType: 'application/json', store: this.#store },
      onStop: () => {
        this.#endRecord();
      },
      onSessionFull: (full) => {
        if (full === this.#session.id) this.#begin(nextSession(this.#share));
      },
    });
    this.#rum = new Rum({
      url,
      key,
      masks,
      labels: () => ({ ...this.#labels(), session_id: this.#session.id, url: maskText(location.href, masks) }),
    });
  }

  get sessionId(): string {
    return this.#session.id;
  }

  /** `takeEarly` ends the watch of what goes wrong while it is being opened, and gives that. */
  async open(takeEarly: () => readonly SeenError[]): Promise<void> {
    await Promise.all([this.#store.open(), this.#rum.open()]);
    const early = takeEarly();
    this.#watch();
    if (this.#isWanted) this.#record();
    for (const error of early) this.#onError(error);
    // what earlier pages could not send
    this.#sender.wake();
  }

  setUser(user: string): void {
    this.#user = user;
  }

  addEvent(tag: string, payload: unknown): void {
    if (this.#stopRecord !== undefined) record.addCustomEvent(tag, payload);
  }

  async flush(): Promise<void> {
    await Promise.all([this.#cut(), this.#rum.flush()]);
    this.#sender.wake();
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    await this.flush();
    this.#endRecord();
  }

  get #share(): number {
    return this.#options.share ?? 1;
  }

  get #isWanted(): boolean {
    return this.#options.replay !== false && this.#session.isRecorded;
  }

  #labels(): Readonly<Record<string, string>> {
    const { service, version } = this.#options;
    return {
      ...(service === undefined ? {} : { service }),
      ...(version === undefined ? {} : { version }),
      ...(this.#user === '' ? {} : { user: this.#user }),
    };
  }

  #record(): void {
    const stop = record({
      emit: (event) => {
        this.#take(event);
      },
      maskAllInputs: true,
      blockClass: 'rr-block',
      blockSelector: '[data-private]',
      sampling: SAMPLING,
      checkoutEveryNms: SNAPSHOT_MS,
      recordCanvas: false,
      collectFonts: false,
      inlineImages: false,
    });
    this.#stopRecord = stop;
  }

  #endRecord(): void {
    this.#stopRecord?.();
    this.#stopRecord = undefined;
    [this.#events, this.#bytes] = [[], 0];
    this.#pending.clear();
  }

  #begin(session: Session): void {
    void this.#cut();
    this.#session = session;
    if (this.#stopRecord !== undefined) record.takeFullSnapshot();
  }

  #take(event: unknown): void {
    const text = maskedJson(event, this.#options.masks);
    this.#events.push(text);
    this.#bytes += text.length;
    if (this.#bytes >= (this.#options.batchBytes ?? BATCH_BYTES)) void this.flush();
  }

  /** The events so far as the text of a batch, with its number; null without any. */
  #nextBatch(events: readonly string[]): { readonly session: string; readonly seq: number; readonly text: string } | null {
    if (events.length === 0) return null;
    const session = this.#session;
    const seq = session.seq++;
    const head = JSON.stringify({
      ...{ session_id: session.id, seq, url: maskText(location.href, this.#options.masks), trace_ids: [...this.#traces] },
      ...this.#labels(),
    });
    this.#traces.clear();
    const text = `${head.slice(0, -1)},"events":[${events.join(',')}]}`;
    session.bytes += text.length;
    keep(session);
    return { session: session.id, seq, text };
  }

  /** Makes a batch of the events so far, and keeps it until it is acknowledged. */
  async #cut(): Promise<void> {
    const batch = this.#nextBatch(this.#events);
    [this.#events, this.#bytes] = [[], 0];
    if (batch === null) return;
    const { session, seq, text } = batch;
    const key = `${session}/${String(seq)}`;
    this.#pending.set(key, batch);
    const { body, isGzip } = await gzip(text);
    await this.#store.put({ session, seq, body, isGzip, at: Date.now() });
    this.#pending.delete(key);
    this.#sender.wake();
    if (isOver(this.#session)) this.#begin(nextSession(this.#share));
  }

  /** The page may never come back: what is not sent is handed to the browser, and kept, since that may fail. Sent twice it is there once. */
  #leave(): void {
    // before what is large: a browser takes 64 kB of a page that leaves
    this.#rum.leave();
    const batches = [...this.#pending.values()];
    let [part, bytes]: [string[], number] = [[], 0];
    const end = (): void => {
      const batch = this.#nextBatch(part);
      if (batch !== null) batches.push(batch);
      [part, bytes] = [[], 0];
    };
    for (const event of this.#events) {
      if (bytes + event.length > BEACON_BYTES) end();
      part.push(event);
      bytes += event.length;
    }
    end();
    [this.#events, this.#bytes] = [[], 0];
    for (const { session, seq, text } of batches) {
      void this.#store.put({ session, seq, body: new TextEncoder().encode(text), isGzip: false, at: Date.now() });
      this.#sender.beacon(text);
    }
  }

  /** A page that is hidden may be ended without another word. */
  async #hide(): Promise<void> {
    this.#rum.leave();
    await this.flush();
  }

  #watch(): void {
    const { batchMs = BATCH_MS, traced = [location.origin], url } = this.#options;
    const timer = setInterval(() => void this.flush(), batchMs);
    const ends = new AbortController();
    const { signal } = ends;
    const vitals = watchVitals();
    this.#ends.push(
      () => {
        clearInterval(timer);
        ends.abort();
      },
      watchErrors((error) => {
        this.#onError(error);
      }),
      watchRequests({ traced, own: url, onRequest: (request) => this.#onRequest(request) }), // prettier-ignore
      watchPages(() => {
        this.#onPage();
      }),
    );
    addEventListener(
      'pagehide',
      () => {
        this.#rum.add({ level: 'info', message: 'vitals', rum: 'vitals', ...vitals() });
        this.#leave();
      },
      { signal },
    );
    addEventListener(
      'online',
      () => {
        this.#sender.retry();
        this.#rum.retry();
      },
      { signal },
    );
    addEventListener('visibilitychange', () => void (document.visibilityState === 'hidden' && this.#hide()), { signal });
    this.#rum.add({ level: 'info', message: `view ${location.pathname}`, rum: 'view', referrer: document.referrer });
  }

  #onError({ kind, name, message, stack }: SeenError): void {
    this.addEvent(kind, kind === 'console' ? { level: 'error', name, message, stack } : { name, message, stack });
    this.#rum.add({ level: 'error', message: message.startsWith(name) ? message : `${name}: ${message}`, rum: 'error', kind, stack });
  }

  #onRequest(request: SeenRequest): void {
    if (request.trace_id !== '' && this.#traces.size < MOST_TRACES) this.#traces.add(request.trace_id);
    this.addEvent('request', request);
    if (!request.failed) return;
    const { method, url, status, duration_ms, trace_id } = request;
    const path = new URL(url).pathname;
    const message = status === 0 ? `${method} ${path} failed` : `${method} ${path} answered ${String(status)}`;
    this.#rum.add({ level: 'error', message, rum: 'request', request_url: url, status, duration_ms, trace_id });
  }

  #onPage(): void {
    this.addEvent('page', { href: location.href });
    this.#rum.add({ level: 'info', message: `view ${location.pathname}`, rum: 'view', referrer: document.referrer });
  }
}

/** Calls back when the page's address changes without a load; what it returns ends that. */
function watchPages(onPage: () => void): () => void {
  let last = location.href;
  const look = (): void => {
    if (location.href === last) return;
    last = location.href;
    onPage();
  };
  const { pushState, replaceState } = history;
  history.pushState = (...given) => {
    pushState.apply(history, given);
    look();
  };
  history.replaceState = (...given) => {
    replaceState.apply(history, given);
    look();
  };
  const ends = new AbortController();
  for (const name of ['popstate', 'hashchange']) addEventListener(name, look, { signal: ends.signal });
  return () => {
    ends.abort();
    Object.assign(history, { pushState, replaceState });
  };
}

/** Begins to record this page. */
export async function start(options: RecorderOptions): Promise<Recorder> {
  const own = { ...options, url: options.url.replace(/\/+$/, '') };
  const early: SeenError[] = [];
  const end = watchErrors((error) => void early.push(error));
  const recorder = new PageRecorder(own, await openSession(options.share ?? 1));
  await recorder.open(() => {
    end();
    return early;
  });
  return recorder;
}
