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

/** A source as the header of a record. */
export const placeText = ({ partition, offset, number, appendedAt }: Source): string => [partition, offset, number, appendedAt].join(':');

/** Reads that header; null for any other text. */
export function readPlace(text: string): Source | null {
  if (!/^\d{1,9}(:\d{1,15}){3}$/.test(text)) return null;
  const [partition, offset, number, appendedAt] = text.split(':').map(Number) as [number, number, number, number];
  return { partition, offset, number, appendedAt };
}
