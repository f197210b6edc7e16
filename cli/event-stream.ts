import { EXIT, RefusedError, UsageError } from './output.ts';
import { detailOf } from './client.ts';

/** An event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export type StreamEvent = { readonly type: string; readonly id: string; readonly data: string };

/** The events of a string that comes in pieces. */
export class EventReader {
  #rest = '';

  *take(text: string): Generator<StreamEvent> {
    const events = (this.#rest + text).split('\n\n');
    this.#rest = events.pop() ?? '';
    for (const event of events) {
      const fields = { event: 'message', id: '', data: '' };
      for (const line of event.split('\n')) {
        // `.` would end at the separators U+2028 and U+2029, which text may have
        const [, name, value = ''] = /^(event|id|data): ?([^]*)$/.exec(line) ?? [];
        if (name === 'event' || name === 'id' || name === 'data') fields[name] = value;
      }
      yield { type: fields.event, id: fields.id, data: fields.data };
    }
  }
}

/** Pauses before a connection is made again; the last one is kept. Milliseconds. */
const PAUSES_MS = [250, 500, 1000, 2000, 5000];

export type FollowOptions = {
  readonly url: URL;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: StreamEvent) => void;
  /** Called with the reason when the connection is lost; a new one is made. */
  readonly onLost: (why: string) => void;
};

/** Follows a stream until the signal; reconnects from behind the last event. Throws where the service refuses the key or the query. */
export async function followEvents({ url, key, signal, onEvent, onLost }: FollowOptions): Promise<number> {
  let lastId = '';
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const headers = {
        Authorization: `Bearer ${key}`,
        Accept: 'text/event-stream',
        ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }),
      };
      const response = await fetch(url, { headers, signal });
      if (!response.ok) throw await refusalOf(response);
      const reader = new EventReader();
      for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
        for (const event of reader.take(text)) {
          failures = 0;
          if (event.id !== '') lastId = event.id;
          onEvent(event);
        }
      onLost('The service has closed the connection.');
    } catch (error) {
      if (isAborted(signal)) break;
      if (error instanceof UsageError || error instanceof RefusedError) throw error;
      onLost(error instanceof Error ? error.message : String(error));
    }
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0, signal);
  }
  return EXIT.ok;
}

const isAborted = (signal: AbortSignal): boolean => signal.aborted;

async function refusalOf(response: Response): Promise<Error> {
  const detail = detailOf(Buffer.from(await response.arrayBuffer()));
  if (response.status === 400) return new UsageError(detail);
  if (response.status === 401 || response.status === 403) return new RefusedError(detail);
  return new Error(`${detail} (HTTP ${String(response.status)})`);
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
