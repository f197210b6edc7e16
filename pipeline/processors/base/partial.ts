import type { Position } from './position.ts';

/** The longest value of a partial, bytes. */
export const MAX_PARTIAL_BYTES = 512 * 1024;

/**
 * What a processor has found in its partition of something that spans partitions, of one tenant: an output, which a merger takes exactly once
 * (docs/adr/0024-what-spans-partitions.md).
 */
export type PartialOutput = {
  readonly kind: 'partial';
  readonly tenantId: number;
  /** Retention class in days of the entries; 0 keeps for ever. */
  readonly retentionDays: number;
  /** The processor's own; at most 512 KiB. */
  readonly value: Buffer;
};

/** Which output of which fold a partial is: of a processor and a partition of the log, no two are the same. */
export type Source = Position & {
  /** Its place among the outputs of the fold that emitted it. */
  readonly number: number;
};

/** A partial as it is read on `partials.v1`. */
export type PartialInput = Position &
  PartialOutput & {
    /** Who emitted it, and at which record of the log. */
    readonly processor: string;
    readonly source: Source;
  };
