/**
 * What all API nodes have counted together, as the limits of one node see it. Implemented on the topic `usage.v1`
 * (docs/topics.md); everything here is in memory and answers at once.
 */
export interface SharedCounts {
  /**
   * Bytes accepted from a tenant on a UTC day (days since the epoch): what the usage processor has read from the log, and what
   * this node and the others have had acknowledged since. Exact once the processor has caught up.
   */
  bytesOf(tenantId: number, day: number): number;
  /** Entries that the other nodes have charged to a tenant. It only grows while this process lives, so callers use differences. */
  othersEntries(tenantId: number): number;
  /** The same over all tenants. */
  othersTotal(): number;
  /** Notes that this node charged (or, negative, gave back) entries, for the other nodes to see. */
  charged(tenantId: number, entries: number): void;
  /** Why the log must not take more (its disk, or its retention against what was not consumed yet); null while it may. */
  logFull(): string | null;
}
