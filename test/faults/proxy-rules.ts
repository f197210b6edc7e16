import type { SeenRequest } from './proxy-frames.ts';

/** `raw` takes no notice of requests: it can cut, refuse, slow down and swallow only. */
export type Protocol = 'kafka' | 'http' | 'raw';

/** From the clients to the target (`up`), the other way, or both. */
export type Way = 'up' | 'down' | 'both';

/** What a proxy has done. */
export type ProxyCounts = {
  connections: number;
  /** Connections that were cut, for whatever reason. */ cut: number;
  /** Answers that came and were not delivered, and requests of which only a part was forwarded. */
  droppedResponses: number;
  truncatedRequests: number;
  bytes: number;
  /** Bytes that vanished in a black hole. */ swallowedBytes: number;
};

/** Which requests a fault is for. */
export type Match = (request: SeenRequest) => boolean;
