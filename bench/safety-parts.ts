import type { SafetyPart as Name } from '../pipeline/core/fault-points.ts';

/** A part of what makes "acknowledged" mean "stored exactly once", and what of the product is switched off without it. */
export type SafetyPart = {
  readonly name: string;
  readonly about: string;
  readonly off: readonly Name[];
  /** What processors fold belongs to it: without it there are no hosts of them. */
  readonly isFolded?: true;
};

/** Every part of the way from a request to the table; each can be taken out alone or with others. */
export const SAFETY_PARTS: readonly SafetyPart[] = [
  {
    name: 'idempotence',
    about: 'batches have a producer id and sequence numbers; all replicas acknowledge',
    off: ['idempotence', 'all-replicas'],
  },
  {
    name: 'usage',
    about: 'the log is folded into the volume of each tenant, and API nodes count what is not folded yet',
    off: ['usage'],
    isFolded: true,
  },
  { name: 'intent', about: 'the end of a range is committed before the range is stored', off: ['intent', 'recall'] },
  { name: 'token', about: 'ClickHouse remembers which ranges it has', off: ['deduplication'] },
  { name: 'one-block', about: 'an insert makes its blocks one after the other, the same for the same rows', off: ['one-block'] },
  { name: 'fence', about: 'an insert of several partitions writes nothing once one of its ranges is repeated', off: ['fence'] },
  { name: 'read-back', about: 'a range that may be stored is looked up before it is stored again', off: ['read-back'] },
  { name: 'positions', about: 'every row has its offset and its place in the record', off: ['positions'] },
];
