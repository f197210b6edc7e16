/** Where a tail goes: a WebSocket, or an answer that streams. It never waits, and never delays its caller. */
export interface Outlet {
  /** What the connection has not taken yet. Bytes. */
  readonly unsent: number;
  /** The rows of an entry as JSON, one a line. `position`: the place behind it, for clients that get it with each entry. */
  entry(text: Buffer, position: () => string): void;
  /** Something about the tail itself. */
  control(message: Control): void;
  /** The tail has ended: nothing comes any more. */
  close(end: TailEnd): void;
}

/** What a client is sent in addition to entries (docs/live.md). */
export type Control = { readonly type: 'ready' | 'position' | 'dropped' | 'sample' | 'backfill' | 'error' } & Readonly<
  Record<string, unknown>
>;

/** Why a tail has ended: a close code of WebSockets (RFC 6455, 7.4), and a sentence. */
export type TailEnd = { readonly code: number; readonly reason: string };

/** The close codes that are used. */
export const GOING_AWAY = 1001;
export const POLICY = 1008;
export const INTERNAL = 1011;
export const TRY_AGAIN = 1013;
