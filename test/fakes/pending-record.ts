import type { PendingRecord, SealedRecord } from '../../pipeline/bus/producer/pending-record.ts';

export type FakePending = PendingRecord & {
  cancelled: boolean;
  size: number;
  /** How often it was sealed. */ sealed: number;
  readonly result: Promise<Error | null>;
};

/** A record that waits: its value is the text in a line. */
export function pendingRecord(
  text: string,
  more: Partial<PendingRecord> & { readonly value?: Buffer; readonly info?: SealedRecord['info'] } = {},
): FakePending {
  let done: (error: Error | null) => void = () => undefined;
  const result = new Promise<Error | null>((resolve) => (done = resolve));
  const { value = Buffer.from(`${text}\n`), info = { tenantId: 1, bytes: text.length }, ...rest } = more;
  const record: FakePending = {
    partition: 0,
    compression: 'snappy',
    size: value.length,
    enqueuedAt: performance.now(),
    cancelled: false,
    sealed: 0,
    seal: () => {
      record.sealed += 1;
      return { value, headers: { tenant: String(info.tenantId) }, info };
    },
    done,
    result,
    ...rest,
  };
  return record;
}
