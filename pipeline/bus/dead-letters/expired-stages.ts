import type { DeadLetters } from './dead-letters.ts';

export type ExpiredStagesOptions = {
  readonly deadLetters: Pick<DeadLetters, 'read'>;
  /** The offset behind the last dead letter. */
  readonly end: () => Promise<number>;
};

/** Of which sinks records have expired unread, by dead letters, which are read as they come. */
export class ExpiredStages {
  readonly #options: ExpiredStagesOptions;
  readonly #topics = new Map<string, string>();
  #end = 0;
  /** When the last dead letter that was read was written, milliseconds. */
  #from = 0;
  #pending: Promise<void> | null = null;

  constructor(options: ExpiredStagesOptions) {
    this.#options = options;
  }

  /** A topic of each sink, by its stage, as far as it is known now. */
  get topics(): ReadonlyMap<string, string> {
    return this.#topics;
  }

  /** Reads what has come; one reading at a time. Rejects where Kafka does not answer. */
  look(): Promise<void> {
    return (this.#pending ??= this.#look().finally(() => {
      this.#pending = null;
    }));
  }

  async #look(): Promise<void> {
    const end = await this.#options.end();
    if (end === this.#end) return;
    await this.#options.deadLetters.read(this.#from, (some) => {
      for (const { reason, stage, topic, at } of some) {
        this.#from = Math.max(this.#from, at);
        if (reason === 'expired') this.#topics.set(stage, topic);
      }
      return Promise.resolve(true);
    });
    this.#end = end;
  }
}
