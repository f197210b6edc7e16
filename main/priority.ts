import os from 'node:os';

/** How much a process that only takes entries steps back: its main thread gets about a tenth of what others get where all want the CPU. */
const INGEST_NICE = 10;

/**
 * Storage goes first: where sink, engines and ingest share a machine that is fully loaded, what is acknowledged becomes searchable before
 * more is taken, and shippers wait a little longer for their answer instead of the backlog growing. Idle CPU is not affected.
 */
export function yieldToStorage(roles: readonly string[]): void {
  if (roles.every((role) => role === 'ingest' || role === 'doors')) os.setPriority(INGEST_NICE);
}
