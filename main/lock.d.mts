/** A process that can be told from a later one with the same number. */
export type ProcessIdentity = { readonly pid: number; readonly startTime: string };

/** Takes a lock that is a file naming its holder. One whose holder is gone is taken over. */
export function takeLock(
  file: string,
): { readonly release: () => void; readonly heldBy: null } | { readonly release: null; readonly heldBy: number };

/** Who holds the lock, alive or not; null when the file is not there or cannot be read. */
export function readLock(file: string): ProcessIdentity | null;
