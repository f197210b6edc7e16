/** Where a tail goes: a WebSocket, or an answer that streams. It never waits, and never holds back what it is told. */
export interface Outlet {
  /** What it was given and the connection has not taken. Bytes. */
  readonly unsent: number;
  /** The texts of an entry, one a line. `position`: the place behind it, for clients that are told of it with each. */
  entry(text: Buffer, position: () => string): void;
  /** Something about the tail itself. */
  control(message: Control): void;
  /** It is over: nothing comes any more. */
  close(end: TailEnd): void;
}

/** What a client is told beside entries (docs/live.md). */
export type Control = { readonly type: 'ready' | 'position' | 'dropped' | 'sample' | 'backfill' | 'error' } & Readonly<
  Record<string, unknown>
>;

/** Why a tail is over: a close code of WebSockets (RFC 6455, 7.4), and a sentence. */
export type TailEnd = { readonly code: number; readonly reason: string };

/** The close codes that are used. */
export const GOING_AWAY = 1001;
export const POLICY = 1008;
export const INTERNAL = 1011;
export const TRY_AGAIN = 1013;
