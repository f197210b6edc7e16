import { setTimeout as sleep } from 'node:timers/promises';

/** Between two requests of a load. Milliseconds. */
const PACE_MS = 50;

/**
 * The pause between two requests of a load that goes on while something is done to the service. What such a test shows is that it goes on, and that all of it
 * is there: without a pause the load takes the cores from what is tested, and most of all where requests fail at once, since nothing listens.
 */
export const pace = (): Promise<void> => sleep(PACE_MS);
