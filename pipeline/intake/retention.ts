/**
 * Days for which entries are kept on disk. A part of a table holds one class alone, so it is dropped as a whole when its last entry
 * is too old; few classes keep the partitions few, whatever retentions tenants have.
 */
export const RETENTION_CLASSES: readonly number[] = [14, 30, 90, 180, 365];

/**
 * The class that keeps entries at least as long as a plan's retention (days; 0 keeps for ever). What is older than the plan's own
 * days is hidden by the floor of every query.
 */
export const retentionClass = (days: number): number => (days === 0 ? 0 : (RETENTION_CLASSES.find((kept) => kept >= days) ?? 0));
