import type { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import type { Refused } from './log-cover.ts';

export type RefusedRecordsOptions = {
  /** The topic of the records. */
  readonly topic: string;
  readonly deadLetters: Pick<DeadLetters, 'read'>;
  /** Of a set: whose sink is meant, where records have expired; absent: any. */
  readonly stage?: string;
  /** The offset behind the last dead letter. */
  readonly end: () => Promise<number>;
};

/** The tenants of the records in dead letters, which are read as they come. */
export class RefusedRecords {
  readonly #options: RefusedRecordsOptions;
  readonly #tenants = new Set<number>();
  #isUnknown = false;
  #end = 0;
  /** When the last dead letter that was read was written, milliseconds. */
  #from = 0;

  constructor(options: RefusedRecordsOptions) {
    this.#options = options;
  }

  async known(): Promise<Refused> {
    const { topic, deadLetters, stage: own } = this.#options;
    const end = await this.#options.end();
    if (end !== this.#end)
      await deadLetters.read(this.#from, (some) => {
        for (const { topic: of, reason, original, at, stage } of some) {
          this.#from = Math.max(this.#from, at);
          if (of !== topic) continue;
          const tenant = Number(String(original.headers?.['tenant']));
          // it is unknown whose records have expired
          if (reason === 'expired') this.#isUnknown ||= own === undefined || own === stage;
          else if (tenant > 0) this.#tenants.add(tenant);
        }
        return Promise.resolve(true);
      });
    this.#end = end;
    return { tenants: this.#tenants, isUnknown: this.#isUnknown };
  }
}
