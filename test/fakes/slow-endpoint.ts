import type { Endpoint } from '../../api/http/endpoint.ts';
import { eventually } from './eventually.ts';

/** An endpoint that answers once the test says so. */
export class SlowEndpoint {
  readonly endpoint: Endpoint;
  /** How many of its requests were told that their client has gone. */
  aborted = 0;
  #requests = 0;
  #release: () => void = () => undefined;

  constructor(path: string) {
    this.endpoint = {
      methods: ['GET', 'POST'],
      path,
      errors: 'query',
      access: null,
      handle: async (exchange) => {
        exchange.signal.addEventListener('abort', () => {
          this.aborted += 1;
        });
        await new Promise<void>((resolve) => {
          this.#release = resolve;
          this.#requests += 1;
        });
        return { status: 200, body: { slow: true } };
      },
    };
  }

  /** Resolves when one more request has come. */
  another(): Promise<number> {
    const before = this.#requests;
    return eventually(
      'a slow request',
      () => this.#requests,
      (count) => count > before,
    );
  }

  /** Lets the last request be answered. */
  release(): void {
    this.#release();
  }
}
