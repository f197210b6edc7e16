/**
 * What all API nodes have counted together, as the limits of one signal of a node see it. Implemented on the topic `usage.v1`
 * (docs/topics.md); everything here is in memory and answers at once.
 */
export interface SharedCounts {
  /**
   * Bytes accepted from a tenant on a UTC day (days since the epoch), of all signals: what the usage processor has read from the log, and what
   * this node and the others have had acknowledged since. Exact once the processor has caught up.
   */
  bytesOf(tenantId: number, day: number): number;
  /**
   * What the other nodes have charged to a tenant, in the unit of the signal (entries, spans). It only grows while this process lives, so callers
   * use differences.
   */
  othersCharged(tenantId: number): number;
  /** The same over all tenants. */
  othersTotal(): number;
  /** Notes that this node charged (or, negative, gave back) so much, for the other nodes to see. */
  charged(tenantId: number, count: number): void;
  /** Why the topic must not take more (the log's disk, or its retention against what was not consumed yet); null while it may. */
  logFull(): string | null;
}
