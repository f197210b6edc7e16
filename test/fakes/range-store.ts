import { pino } from 'pino';
import { InsertPace } from '../../pipeline/bus/consumer/insert-pace.ts';
import { PartitionReader, type PartitionReaderOptions } from '../../pipeline/bus/consumer/partition-reader.ts';
import type { PaceLimits } from '../../pipeline/bus/consumer/insert-pace.ts';
import type { RangeStore } from '../../pipeline/bus/consumer/range.ts';

/** A store of single ranges, in which nothing is stored beyond what is committed. */
export const rangeStore = (own: Partial<RangeStore>): RangeStore => ({
  highest: () => Promise.resolve(-1),
  store: () => Promise.resolve([]),
  joins: () => Promise.resolve(false),
  storeJointly: () => Promise.reject(new Error('ranges are stored one by one')),
  fence: () => Promise.resolve(),
  ...own,
});

/** The reader of the only partition of its process. */
export function loneReader(
  options: Omit<PartitionReaderOptions, 'store' | 'pace' | 'limits'> & { readonly store: Partial<RangeStore>; readonly limits: PaceLimits },
): PartitionReader {
  const store = rangeStore(options.store);
  return new PartitionReader({
    ...options,
    store,
    pace: new InsertPace({ limits: options.limits, store, log: pino({ level: 'silent' }) }),
  });
}
