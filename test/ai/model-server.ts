import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The name that the stand-in has where a model's name is expected. */
export const STAND_IN = 'test-stand-in-no-model';

type Message = { readonly role: string; readonly content: string };
/** A request as it came. */
export type Asked = {
  readonly path: string;
  readonly authorization: string;
  readonly body: { readonly model: string; readonly messages: readonly Message[]; readonly stream?: boolean; readonly tools?: unknown };
};
/** What it does with a request. `words` are sent one by one; `hold` is awaited behind the first. */
export type Behaviour =
  | {
      readonly words: readonly string[];
      readonly isWhole?: true;
      readonly finish?: string;
      readonly hold?: Promise<unknown>;
      readonly isCutOff?: true;
    }
  | { readonly status: number; readonly location?: string; readonly text?: string }
  | { readonly raw: string; readonly type?: string }
  | { readonly silent: true };

/**
 * Speaks the protocol of chat completions in place of a model, which it is not: its answers begin with these words, and its name has them. What it
 * answers is decided by the test.
 */
export class ModelServer {
  readonly asked: Asked[] = [];
  behave: (asked: Asked) => Behaviour = () => ({ words: ['This is a stand-in for tests, no model.'] });
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Asked['body'];
    const asked = { path: request.url ?? '', authorization: request.headers.authorization ?? '', body };
    this.asked.push(asked);
    const behaviour = this.behave(asked);
    if ('silent' in behaviour) return;
    if ('status' in behaviour) {
      response.writeHead(behaviour.status, behaviour.location === undefined ? {} : { Location: behaviour.location });
      response.end(behaviour.text ?? '{"error":{"message":"the stand-in refuses, with the key sk-of-the-operator-1234567890"}}');
      return;
    }
    if ('raw' in behaviour) {
      response.writeHead(200, { 'Content-Type': behaviour.type ?? 'text/event-stream' });
      response.end(behaviour.raw);
      return;
    }
    await words(behaviour, body.stream === true && behaviour.isWhole !== true, response);
  }
}

async function words(
  { words: all, finish = 'stop', hold, isCutOff }: Extract<Behaviour, { words: unknown }>,
  isStream: boolean,
  response: ServerResponse,
): Promise<void> {
  if (!isStream) {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify({
        model: STAND_IN,
        choices: [{ index: 0, message: { role: 'assistant', content: all.join('') }, finish_reason: finish }],
      }),
    );
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (delta: object, reason: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ model: STAND_IN, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  };
  send({ role: 'assistant' });
  for (const [at, word] of all.entries()) {
    send({ content: word });
    if (at === 0) await hold;
  }
  if (isCutOff === true) {
    // what was sent is out by then
    await new Promise((resolve) => response.write(': \n\n', resolve));
    response.destroy();
    return;
  }
  send({}, finish);
  response.end('data: [DONE]\n\n');
}
