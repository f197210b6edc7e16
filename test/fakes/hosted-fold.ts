import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import type { Fold } from '../../pipeline/processors/base/processor.ts';
import type { Position } from '../../pipeline/processors/base/position.ts';

/** A fold with what it read, as its host has it: it may be killed, and goes on from its last snapshot. */
export class HostedFold<In extends Position = Position> {
  readonly #hosted: Fold<unknown, In>;
  readonly #inputOf: (message: KafkaMessage) => In;
  readonly messages: KafkaMessage[] = [];
  #state: unknown;
  #saved: { readonly bytes: Buffer; readonly next: number } | null = null;

  /** `saved`: a snapshot that it begins with. */
  constructor(hosted: Fold<never, In>, read: (message: KafkaMessage) => In, saved: Buffer | null = null) {
    this.#hosted = hosted;
    this.#inputOf = read;
    this.#saved = saved === null ? null : { bytes: saved, next: 0 };
    this.#state = this.#begin();
  }

  take(message: KafkaMessage): readonly AbsoluteRecord[] {
    this.messages.push(message);
    return this.#hosted.fold(this.#state, this.#inputOf(message));
  }

  snapshot(): Buffer {
    return Buffer.from(this.#hosted.snapshot(this.#state));
  }

  save(): void {
    this.#saved = { bytes: this.snapshot(), next: this.messages.length };
  }

  /** What it writes again. */
  kill(): AbsoluteRecord[] {
    this.#state = this.#begin();
    return this.messages.slice(this.#saved?.next ?? 0).flatMap((message) => [...this.#hosted.fold(this.#state, this.#inputOf(message))]);
  }

  #begin(): unknown {
    const state = this.#saved === null ? this.#hosted.init() : this.#hosted.restore(this.#saved.bytes);
    if (state === null) throw new Error('The snapshot cannot be read.');
    return state;
  }
}
