import WebSocket from 'ws';
import { until } from './instance.ts';

export type Message = Readonly<Record<string, unknown>>;
export type ControlMessage = { readonly type: string } & Message;

/** A WebSocket of the service, and what it was sent. */
export class TailClient {
  readonly entries: Message[] = [];
  readonly controls: ControlMessage[] = [];
  /** Entries since the last position that was told. */
  sincePosition: Message[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  /** The status of an upgrade that was refused, and its headers. */
  refused: { readonly status: number; readonly requestId: string } | null = null;
  readonly socket: WebSocket;

  constructor(url: string, key: string, protocols = ['logweir.v1', `logweir.bearer.${key}`]) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), protocols);
    this.socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
    this.socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    this.socket.on('error', () => undefined);
    this.socket.on('unexpected-response', (_request, response) => {
      this.refused = { status: response.statusCode ?? 0, requestId: String(response.headers['x-request-id'] ?? '') };
    });
  }

  static async open(url: string, key: string, message?: Message): Promise<TailClient> {
    const client = new TailClient(url, key);
    await until(
      'the socket',
      () => Promise.resolve(client.socket.readyState),
      (state) => state === WebSocket.OPEN,
    );
    if (message !== undefined) client.send(message);
    return client;
  }

  /** One that is ready. Where its query finds no worker in time, which a busy machine may say (503), it is opened again. */
  static async ready(url: string, key: string, message: Message): Promise<TailClient> {
    const client = await TailClient.open(url, key, { ...message, control: true });
    const first = await until(
      'an answer',
      () => Promise.resolve(client.controls[0]),
      (control) => control !== undefined,
    );
    if (first?.type === 'ready') return client;
    client.close();
    if (first?.['status'] === 503) return TailClient.ready(url, key, message);
    throw new Error(JSON.stringify(first));
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  get position(): string {
    const found = this.controls.findLast(({ position }) => typeof position === 'string')?.['position'];
    return typeof found === 'string' ? found : '';
  }

  numbers(): unknown[] {
    return this.entries.map(({ n }) => n);
  }

  async has(count: number): Promise<unknown[]> {
    await this.#until(`${String(count)} entries`, () => this.entries.length >= count);
    return this.numbers();
  }

  async control(type: string): Promise<ControlMessage> {
    const found = (): ControlMessage | undefined => this.controls.find((control) => control.type === type);
    await this.#until(`the control frame ${type}`, () => found() !== undefined);
    return found() as ControlMessage;
  }

  /** Waits until that is so; throws with all that is known of the connection where it is not, at once where it was closed. */
  async #until(what: string, isSo: () => boolean): Promise<void> {
    const { closed } = await until(
      what,
      () => Promise.resolve({ isSo: isSo(), closed: this.closed, entries: this.entries.length, controls: this.controls.slice(-3) }),
      (now) => now.isSo || now.closed !== null,
    );
    if (!isSo()) throw new Error(`${what} did not come, the connection was closed: ${JSON.stringify(closed)}`);
  }

  close(): void {
    this.socket.terminate();
  }

  #take(message: Message): void {
    const control = message['_control'] as ControlMessage | undefined;
    if (control === undefined) {
      this.entries.push(message);
      this.sincePosition.push(message);
      return;
    }
    this.controls.push(control);
    if (control['position'] !== undefined) this.sincePosition = [];
  }
}
