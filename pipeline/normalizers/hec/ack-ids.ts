import { LRUCache } from 'lru-cache';

/** Channels whose counter is remembered; the counter of one that was forgotten starts again, which harms no client: see below. */
const MAX_CHANNELS = 10_000;
const MAX_CHANNEL_LENGTH = 256;

const next = new LRUCache<string, number>({ max: MAX_CHANNELS });

/**
 * The next acknowledgement id of an HEC channel: 0, 1, 2, …
 * (https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/http-event-collector-indexer-acknowledgment).
 * A request is answered only when its entries are safe, so every id that was ever handed out is true.
 */
export function nextAckId(channel: string): number {
  const key = channel.slice(0, MAX_CHANNEL_LENGTH);
  const id = next.get(key) ?? 0;
  next.set(key, id + 1);
  return id;
}
