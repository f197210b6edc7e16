import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ModelAccess } from '../../pipeline/core/config.ts';
import { clientClosed, HttpError } from '../../pipeline/core/errors.ts';

/** A message to the model (https://platform.openai.com/docs/api-reference/chat). No tool is ever offered. */
export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

/** Most characters that are taken of an answer of the model; what follows is cut, and the answer says so. */
const MAX_MODEL_CHARACTERS = 20_000;
/** Most tokens that the model is asked for. */
const MAX_MODEL_TOKENS = 2000;
/** How long the model may take for its first word, and for all of them. Milliseconds. */
const MAX_FIRST_WAIT_MS = 30_000;
const MAX_MODEL_MS = 120_000;
/** Bytes of a line of its stream, or of an answer that is none. */
const MAX_EVENT_BYTES = 1_048_576;

/** Why the model ended: it was done, or its answer was cut. */
export type Ending = 'complete' | 'cut';
export type ModelClientOptions = { readonly access: ModelAccess; readonly firstWaitMs?: number; readonly wholeMs?: number };

/** What the service could not get of the model, as its own clients see it. The sentence repeats nothing of what the model's side wrote. */
const failed = (status: 502 | 504, detail: string, cause?: unknown): HttpError => new HttpError(status, 'model_failed', detail, { cause });

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The model refused the request.',
  401: 'The model refused the key of this deployment.',
  403: 'The model refused the key of this deployment.',
  404: 'The address or the name of the model is wrong in this deployment.',
  413: 'The evidence is too long for the model.',
  429: 'The model takes no more requests right now; retry later.',
};

/** A client of one model over the protocol of chat completions. */
export class ModelClient {
  readonly #options: Required<ModelClientOptions>;

  constructor(options: ModelClientOptions) {
    this.#options = { firstWaitMs: MAX_FIRST_WAIT_MS, wholeMs: MAX_MODEL_MS, ...options };
  }

  get model(): string {
    return this.#options.access.model;
  }

  /**
   * Asks the model, and resolves once it has begun to answer; the pieces of its answer follow, and then how it ended. Rejects, or throws among
   * the pieces, with HttpError 502 or 504.
   */
  async ask(messages: readonly Message[], client: AbortSignal): Promise<AsyncGenerator<string, Ending>> {
    const { firstWaitMs, wholeMs } = this.#options;
    const limits = new Limits(client, wholeMs);
    const timer = setTimeout(() => {
      limits.expire();
    }, firstWaitMs);
    try {
      const response = await this.#post(messages, limits);
      const pieces = this.#pieces(response, limits);
      const first = await pieces.next();
      return continued(first, pieces);
    } catch (error) {
      limits.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #post(messages: readonly Message[], limits: Limits): Promise<Response> {
    const { url, key, model } = this.#options.access;
    let response: Response;
    try {
      response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        // the key goes to no other host
        redirect: 'error',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'text/event-stream',
          ...(key === '' ? {} : { Authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, messages, stream: true, temperature: 0, max_tokens: MAX_MODEL_TOKENS }),
        signal: limits.signal,
      });
    } catch (error) {
      throw limits.reason() ?? failed(502, 'The model cannot be reached.', error);
    }
    if (response.ok && response.body !== null) return response;
    await response.body?.cancel().catch(() => undefined);
    if (response.status === 408 || response.status === 504) throw timedOut();
    throw failed(502, REFUSALS[response.status] ?? `The model failed (its status was ${String(response.status)}).`);
  }

  async *#pieces(response: Response, limits: Limits): AsyncGenerator<string, Ending> {
    let characters = 0;
    try {
      for await (const { text, isCut } of contentOf(response)) {
        const left = MAX_MODEL_CHARACTERS - characters;
        characters += text.length;
        if (text !== '') yield text.slice(0, left);
        if (isCut || characters > MAX_MODEL_CHARACTERS) return 'cut';
      }
      if (characters === 0) throw failed(502, 'The model answered nothing.');
      return 'complete';
    } catch (error) {
      throw limits.reason() ?? (error instanceof HttpError ? error : failed(502, 'The answer of the model broke off.', error));
    } finally {
      limits.end();
    }
  }
}

const timedOut = (): HttpError => failed(504, 'The model took too long to answer.');

/** Ends a request to the model: with its client, or when the time is up. */
class Limits {
  readonly #client: AbortSignal;
  readonly #own = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #isExpired = false;
  readonly signal: AbortSignal;

  constructor(client: AbortSignal, wholeMs: number) {
    this.#client = client;
    this.signal = AbortSignal.any([client, this.#own.signal]);
    this.#timer = setTimeout(() => {
      this.expire();
    }, wholeMs);
  }

  expire(): void {
    this.#isExpired = true;
    this.#own.abort();
  }

  /** Why it ended early; null where it did not. */
  reason(): HttpError | null {
    if (this.#client.aborted) return clientClosed();
    return this.#isExpired ? timedOut() : null;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#own.abort();
  }
}

type Piece = { readonly text: string; readonly isCut: boolean };

/** The words of an answer: of a stream, or whole from a server that does not stream. */
async function* contentOf(response: Response): AsyncGenerator<Piece> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const decoder = new TextDecoder();
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  let whole = '';
  let unparsed = 0;
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(bytes, { stream: true });
    unparsed += text.length;
    if (unparsed > MAX_EVENT_BYTES) throw failed(502, 'The answer of the model is too large.');
    if (!isStream) {
      whole += text;
      continue;
    }
    parser.feed(text);
    if (events.length > 0) unparsed = 0;
    for (const { data } of events.splice(0)) {
      if (data === '[DONE]') return;
      yield pieceOf(data, 'delta');
    }
  }
  if (isStream) throw failed(502, 'The answer of the model broke off.');
  yield pieceOf(whole, 'message');
}

type Choice = { readonly delta?: unknown; readonly message?: unknown; readonly finish_reason?: unknown };
type Completion = {
  readonly choices?: unknown;
  readonly error?: unknown;
};

function pieceOf(data: string, member: 'delta' | 'message'): Piece {
  let completion: Completion | null = null;
  try {
    completion = JSON.parse(data) as Completion | null;
  } catch {
    // told below
  }
  if (typeof completion !== 'object' || completion === null || completion.error !== undefined)
    throw failed(502, 'The model failed while it answered.');
  const [choice] = Array.isArray(completion.choices) ? (completion.choices as (Choice | null | undefined)[]) : [];
  const part = choice?.[member] as { readonly content?: unknown } | null | undefined;
  const content = part?.content;
  return { text: typeof content === 'string' ? content : '', isCut: choice?.finish_reason === 'length' };
}

/** Pieces of which the first was read. */
async function* continued(first: IteratorResult<string, Ending>, rest: AsyncGenerator<string, Ending>): AsyncGenerator<string, Ending> {
  try {
    if (first.done === true) return first.value;
    yield first.value;
    return yield* rest;
  } finally {
    await rest.return('cut');
  }
}
