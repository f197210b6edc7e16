import type { LagSeconds } from './lag-seconds.ts';

/** Whether Kafka will delete what one of several sets has not stored yet: a warning, since others have it. */
export class EndangeredSet {
  readonly #set: string;
  readonly #ages: readonly Pick<LagSeconds, 'check'>[];
  #danger: string | null = null;

  /** `ages`: of all that the set stores. */
  constructor(set: string, ages: readonly Pick<LagSeconds, 'check'>[]) {
    this.#set = set;
    this.#ages = ages;
  }

  /** A sentence; null where there is no danger. */
  get warning(): string | null {
    return this.#danger === null ? null : `The set ${this.#set} will miss records. ${this.#danger}`;
  }

  /** Looks, and returns null: ingest is not paused for it. Rejects where Kafka does not answer. */
  async check(): Promise<null> {
    const reasons = await Promise.all(this.#ages.map((age) => age.check()));
    this.#danger = reasons.find((reason) => reason !== null) ?? null;
    return null;
  }
}
