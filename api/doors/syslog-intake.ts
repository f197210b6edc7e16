import type { Logger } from 'pino';
import { httpErrorOf, type HttpError } from '../../pipeline/core/errors.ts';
import { countFrames, framesByKey, type KeyedFrames } from '../../pipeline/normalizers/syslog/data-key.ts';
import { doorDelivery, formatOf, noteRefusal, type DoorContext, type Refusal } from './door-delivery.ts';
import { isOfKey, keyless, principalOf } from './door-keys.ts';
import type { DoorMetrics } from './door-metrics.ts';
import type { SyslogTcpDoor, SyslogUdpDoor } from './doors-file.ts';
import { waitToRetry } from './retry-wait.ts';

export type SyslogIntakeOptions = DoorContext & {
  readonly door: Pick<SyslogTcpDoor | SyslogUdpDoor, 'name' | 'kind' | 'hasKeyInData' | 'parameters'>;
  readonly metrics: DoorMetrics;
  readonly log: Logger;
};

/** What came to be of frames: they are on the log, or refused for good; of a key that is not accepted, the connection has no use. */
export type Taken = { readonly isKeyRefused: boolean };

/** Takes frames of syslog as a request of `/api/v1/syslog` would be taken, again and again where it is refused for a while. */
export class SyslogIntake {
  readonly #options: SyslogIntakeOptions;
  readonly #format: ReturnType<typeof formatOf>;
  readonly #query: URLSearchParams;
  readonly #stop = new AbortController();

  constructor(options: SyslogIntakeOptions) {
    this.#options = options;
    this.#format = formatOf(options.intakes, 'syslog');
    this.#query = new URLSearchParams(options.door.parameters);
  }

  /** What is refused for a while is not waited for any more. */
  stop(): void {
    this.#stop.abort();
  }

  /** Most bytes of frames that may be taken at once. */
  get maxBytes(): number {
    return this.#format.intake.capsOf(this.#format.normalizer).inflated;
  }

  /** The parts of a body by key: `key` is that of frames without one of their own. */
  parts(body: Buffer, key: string | null): readonly KeyedFrames[] {
    if (!this.#options.door.hasKeyInData) return [{ key, body, frames: 0 }];
    return framesByKey(body).map((part) => (part.key === null ? { ...part, key } : part));
  }

  /** The tenant of a key that is accepted now; null of another one. */
  tenantOf(key: string | null): number | null {
    const { keys, door } = this.#options;
    try {
      return principalOf(key, keys, keyless(door.name)).tenantId;
    } catch (thrown) {
      if (httpErrorOf(thrown) === null) throw thrown;
      return null;
    }
  }

  /** Resolves once all frames of the parts are on the log or refused. Never rejects. */
  async take(parts: readonly KeyedFrames[], client: string): Promise<Taken> {
    let isKeyRefused = false;
    for (const part of parts) {
      const taken = await this.takePart(part, client);
      isKeyRefused ||= taken.isKeyRefused;
    }
    return { isKeyRefused };
  }

  /** The same of one of them. */
  async takePart({ key, body }: KeyedFrames, client: string): Promise<Taken> {
    for (;;) {
      const error = await this.#tryOnce(key, body, client);
      if (error === null) return { isKeyRefused: false };
      const { retryAfter } = error.options;
      if (retryAfter === undefined || this.#stop.signal.aborted) {
        this.lose(body, isOfKey(error) ? 'key' : 'refused');
        return { isKeyRefused: isOfKey(error) };
      }
      await waitToRetry(retryAfter, this.#stop.signal);
    }
  }

  /** Counts frames that are lost. */
  lose(body: Buffer, reason: string, frames = countFrames(body)): void {
    const { metrics, door } = this.#options;
    metrics.lost.inc({ door: door.name, reason }, frames);
  }

  /** Shows a tenant, by a key that it has or had, that something was refused or lost. */
  note(
    key: string | null,
    error: Pick<HttpError, 'status' | 'slug' | 'message'>,
    { client, ...more }: Pick<Refusal, 'client' | 'count' | 'sample'>,
  ): void {
    const { keys } = this.#options;
    const owner = key === null ? null : (keys.ownerOf?.(key) ?? null);
    noteRefusal(this.#options, owner, error, { format: 'syslog', path: this.#path, client, ...more });
  }

  get #path(): string {
    const { kind, name } = this.#options.door;
    return `${kind}:${name}`;
  }

  async #tryOnce(key: string | null, body: Buffer, client: string): Promise<HttpError | null> {
    const { keys, door, log } = this.#options;
    const { intake, normalizer } = this.#format;
    try {
      const principal = principalOf(key, keys, keyless(door.name));
      await intake.take(
        doorDelivery({ principal, path: this.#path, client, contentType: 'text/plain', query: this.#query, body }),
        normalizer,
      );
      return null;
    } catch (thrown) {
      const error = httpErrorOf(thrown);
      if (error === null) {
        log.error({ err: thrown, door: door.name }, 'Frames of a door failed unexpectedly.');
        this.lose(body, 'refused');
        return null;
      }
      this.note(key, error, { client, sample: '' });
      return error;
    }
  }
}
