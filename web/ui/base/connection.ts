/** Whether the service is reached: by this machine, and by the socket of alerts. */
import { computed, signal } from '@preact/signals';

/** This machine has no network. */
export const isOffline = signal(false);
/** The service could not be reached for some seconds. */
export const isLost = signal(false);
/** What is shown may be out of date. */
export const isCut = computed(() => isOffline.value || isLost.value);
/** Grows each time the service is reached again: what failed for want of it is requested anew. */
export const returns = signal(0);

/** Follows the browser's word on its network, and counts returns. */
export function listenToConnection(): void {
  const look = (): void => void (isOffline.value = !navigator.onLine);
  addEventListener('online', look);
  addEventListener('offline', look);
  look();
  let wasCut = isCut.peek();
  isCut.subscribe((isNow) => {
    if (wasCut && !isNow) returns.value += 1;
    wasCut = isNow;
  });
}
