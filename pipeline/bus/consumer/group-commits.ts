import type { EachBatchPayload } from 'kafkajs';
import { withTimeout } from '../connection/with-timeout.ts';

/**
 * Commits once, under the generation of the group that kafkajs holds when it is called. That may be a later one than the batch came with,
 * and the broker does not check whose the partition is: who calls it must know that the assignment still stands. `consumer.commitOffsets`
 * does not do: it repeats what failed after it has joined again, when the partition may be another member's, and reports success where it did
 * nothing because the consumer is stopping.
 */
export type Commit = EachBatchPayload['commitOffsetsIfNecessary'];

/** What is committed of one partition. */
export type GroupCommit = {
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
  /** How it is committed: by the latest batch of the partition. */
  readonly commit: Commit;
  /** False once the partition may be another member's. */
  readonly isCurrent: () => boolean;
};

type CommitRequest = GroupCommit & { readonly settle: (error: Error | null) => void };

export type GroupCommitsOptions = {
  readonly topic: string;
  /** How long Kafka's answer is waited for; milliseconds. */
  readonly deadlineMs: number;
  /** A commit is not answered. */
  readonly onSilence: () => void;
};

/** Sends what partitions commit in the same turn of the event loop as one request. */
export class GroupCommits {
  readonly #options: GroupCommitsOptions;
  #requests: CommitRequest[] = [];

  constructor(options: GroupCommitsOptions) {
    this.#options = options;
  }

  /** Resolves when Kafka has it; rejects where it is not known to have it. */
  commit(wanted: GroupCommit): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#requests.length === 0) setImmediate(() => void this.#send());
      this.#requests.push({
        ...wanted,
        settle: (error) => {
          if (error === null) resolve();
          else reject(error);
        },
      });
    });
  }

  async #send(): Promise<void> {
    const requests = this.#requests;
    this.#requests = [];
    // the assignment may have ended since it was requested
    const sent = requests.filter((one) => one.isCurrent());
    for (const one of requests) if (!sent.includes(one)) one.settle(new Error('The partition is no longer assigned to this process.'));
    const [first] = sent;
    if (first === undefined) return;
    const { topic, deadlineMs, onSilence } = this.#options;
    const partitions = sent.map(({ partition, offset, metadata }) => ({ partition, offset: String(offset), metadata }));
    let failure: Error | null = null;
    try {
      // where it is late, what is still under way has the generation before then, and is refused
      await withTimeout(deadlineMs, first.commit({ topics: [{ topic, partitions }] }), onSilence);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    for (const one of sent) one.settle(failure);
  }
}
