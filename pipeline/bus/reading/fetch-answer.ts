/** Answers to Fetch requests (versions 4 to 11, https://kafka.apache.org/protocol#The_Messages_Fetch), of which the records of some tenants are read. */
import { brokerError } from '../connection/kafkajs-protocol.ts';
import { tenantRecords, type TenantRecords, type WantsTenant } from './tenant-records.ts';

export type FetchedRecords = TenantRecords & {
  readonly partition: number;
  /** Of all batches, those of other tenants too. */
  readonly bytes: number;
};

/** `wants`: null for the records of all. Rejects with the first error that the broker has for a partition, as kafkajs does. */
export async function readFetchAnswer(answer: Buffer, version: number, wants: WantsTenant | null): Promise<FetchedRecords[]> {
  const reader = new AnswerReader(answer);
  // how long the client should wait
  reader.skip(4);
  if (version >= 7) {
    reader.check();
    // session
    reader.skip(4);
  }
  const fetched: FetchedRecords[] = [];
  for (let topics = reader.int(); topics > 0; topics--) {
    reader.skip(reader.short());
    for (let partitions = reader.int(); partitions > 0; partitions--) {
      const partition = reader.int();
      reader.check();
      // where it ends, where it is stable, where it begins
      reader.skip(version >= 5 ? 24 : 16);
      // transactions that were ended without a result: producer, first offset
      reader.skip(Math.max(0, reader.int()) * 16);
      // the replica that should be read
      if (version >= 11) reader.skip(4);
      const records = reader.take(Math.max(0, reader.int()));
      fetched.push({ partition, bytes: records.length, ...(await tenantRecords(records, wants)) });
    }
  }
  return fetched;
}

/** How long the broker would like the client to wait before its next request. Milliseconds. */
export const throttleOf = (answer: Buffer): number => answer.readInt32BE(0);

class AnswerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  short(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  skip(length: number): void {
    this.#at += length;
  }

  take(length: number): Buffer {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Error('The response of Kafka is incomplete.');
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Throws the error that comes next; 0 is none. */
  check(): void {
    const code = this.short();
    if (code !== 0) throw brokerError(code);
  }
}
