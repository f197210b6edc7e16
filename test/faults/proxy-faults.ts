import type net from 'node:net';
import { httpRequests, kafkaAnswers, kafkaRequests, type Piece } from './proxy-frames.ts';
import type { Line, Shape } from './proxy-line.ts';
import type { Match, Protocol, ProxyCounts, Way } from './proxy-rules.ts';

/** What is done to a request, and who is told that it has happened. */
export type FaultKind =
  | { readonly what: 'drop'; readonly done: () => void }
  | { readonly what: 'truncate'; /** How many are forwarded. */ readonly bytes: number; readonly done: () => void }
  | { readonly what: 'hold'; readonly done: (held: Held) => void };

/** A fault that waits for its request. */
export type Fault = FaultKind & {
  readonly match: Match;
  /** False once nothing waits for it any more. */ readonly isWanted: () => boolean;
};

/** What all connections of a proxy go by; it changes while they are open. */
export type Rules = {
  shape: Shape;
  /** Which bytes vanish; null: none do. */ blackHole: Way | null;
  /** Those that no request has taken yet, in their order. */ readonly faults: Fault[];
  readonly protocol: Protocol;
  readonly counts: ProxyCounts;
  readonly random: () => number;
};

/** A request that was read whole and not forwarded. */
export type Held = {
  readonly head: string;
  readonly bytes: Buffer;
  /** True once its sender has ended the connection, or it was cut. */ readonly isAbandoned: () => boolean;
  /** Ends the connection to its sender. */ readonly cut: () => void;
};

/** Looks at the requests and answers of one connection, and does to them what waits in the rules. */
export type Faults = {
  readonly onRequestBytes: (bytes: Buffer) => void;
  readonly onAnswerBytes: (bytes: Buffer) => void;
  /** Gives back the faults of requests that ended in another way. */
  returnTaken(): void;
};

type Ends = { readonly up: Line; readonly down: Line; readonly client: net.Socket; readonly cut: () => void };

export function createFaults(rules: Rules, { up, down, client, cut }: Ends): Faults {
  const { protocol, counts } = rules;
  if (protocol === 'raw') {
    return { onRequestBytes: (bytes) => up.write(bytes), onAnswerBytes: (bytes) => down.write(bytes), returnTaken: () => undefined };
  }
  const requests = protocol === 'kafka' ? kafkaRequests() : httpRequests();
  const answers = protocol === 'kafka' ? kafkaAnswers() : null;
  /** By the id of the request. */
  const taken = new Map<number, Fault>();
  let isTruncated = false;
  /** What has come of the request that is held. */
  let kept: Buffer[] = [];

  const giveBack = (id: number): void => {
    const fault = taken.get(id);
    taken.delete(id);
    if (fault?.isWanted() === true) rules.faults.unshift(fault);
  };

  const take = ({ request, id, bytes }: Piece): void => {
    const fits = (fault: Fault): boolean =>
      fault.match(request) && (fault.what !== 'truncate' || protocol === 'http' || bytes.length > fault.bytes);
    const at = rules.faults.findIndex(fits);
    if (at < 0) return;
    taken.set(id, rules.faults[at] as Fault);
    rules.faults.splice(at, 1);
  };

  const truncate = ({ id, bytes, payload }: Piece, fault: Fault & { readonly what: 'truncate' }): void => {
    isTruncated = true;
    taken.delete(id);
    up.write(bytes.subarray(0, fault.bytes - payload));
    up.end();
    client.resetAndDestroy();
    counts.truncatedRequests += 1;
    fault.done();
  };

  /** Keeps what comes of a request; with its end it is handed over, or forwarded where nothing waits for it any more. */
  const hold = ({ request, id, bytes, isLast }: Piece, fault: Fault & { readonly what: 'hold' }): void => {
    kept.push(bytes);
    if (!isLast) return;
    const whole = Buffer.concat(kept);
    kept = [];
    taken.delete(id);
    if (fault.isWanted())
      fault.done({ head: request.head, bytes: whole, isAbandoned: () => client.readableEnded || client.destroyed, cut });
    else up.write(whole);
  };

  const onRequest = (piece: Piece): void => {
    if (isTruncated) return;
    if (protocol === 'kafka' || piece.isHead) {
      take(piece);
    }
    const fault = taken.get(piece.id);
    const isCut = fault?.what === 'truncate' && !piece.isHead && piece.payload + piece.bytes.length > fault.bytes;
    if (isCut) truncate(piece, fault);
    else if (fault?.what === 'hold') hold(piece, fault);
    else up.write(piece.bytes);
  };

  const drop = (id: number): void => {
    const fault = taken.get(id);
    taken.delete(id);
    counts.droppedResponses += 1;
    cut();
    if (fault?.what === 'drop') fault.done();
  };

  const onHttpAnswer = (bytes: Buffer): void => {
    const [id, fault] = [...taken][0] ?? [];
    if (id !== undefined) {
      if (fault?.what === 'drop' && bytes.toString('latin1', 0, 12) === 'HTTP/1.1 200') {
        drop(id);
        return;
      }
      // another answer than wanted, or a body that was too short: it is for the next one
      giveBack(id);
    }
    down.write(bytes);
  };

  return {
    onRequestBytes: (bytes) => {
      for (const piece of requests(bytes)) onRequest(piece);
    },
    onAnswerBytes: (bytes) => {
      if (isTruncated) return;
      if (answers === null) onHttpAnswer(bytes);
      else
        for (const { id, bytes: frame } of answers(bytes)) {
          if (taken.get(id)?.what === 'drop') {
            drop(id);
            return;
          }
          down.write(frame);
        }
    },
    returnTaken: () => {
      for (const id of [...taken.keys()]) giveBack(id);
    },
  };
}
