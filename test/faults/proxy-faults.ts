import type net from 'node:net';
import type { Rules } from './proxy-connection.ts';
import { httpRequests, kafkaAnswers, kafkaRequests, type Piece } from './proxy-frames.ts';
import type { Line } from './proxy-line.ts';
import type { Match } from './proxy.ts';

/** A fault that waits for its request. */
export type Fault = {
  readonly what: 'drop' | 'truncate';
  readonly match: Match;
  /** Of a truncation: how many are forwarded. */ readonly bytes: number;
  /** Told that it has happened. */ readonly done: () => void;
  /** False once nobody waits for it any more. */ readonly isWanted: () => boolean;
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

  const giveBack = (id: number): void => {
    const fault = taken.get(id);
    taken.delete(id);
    if (fault?.isWanted() === true) rules.faults.unshift(fault);
  };

  const take = ({ request, id, bytes }: Piece): void => {
    const fits = (fault: Fault): boolean =>
      fault.match(request) && (fault.what === 'drop' || protocol === 'http' || bytes.length > fault.bytes);
    const at = rules.faults.findIndex(fits);
    if (at < 0) return;
    taken.set(id, rules.faults[at] as Fault);
    rules.faults.splice(at, 1);
  };

  const truncate = ({ id, bytes, payload }: Piece, fault: Fault): void => {
    isTruncated = true;
    taken.delete(id);
    up.write(bytes.subarray(0, fault.bytes - payload));
    up.end();
    client.resetAndDestroy();
    counts.truncatedRequests += 1;
    fault.done();
  };

  const onRequest = (piece: Piece): void => {
    if (isTruncated) return;
    if (protocol === 'kafka' || piece.isHead) {
      take(piece);
    }
    const fault = taken.get(piece.id);
    const isCut = fault?.what === 'truncate' && !piece.isHead && piece.payload + piece.bytes.length > fault.bytes;
    if (isCut) truncate(piece, fault);
    else up.write(piece.bytes);
  };

  const drop = (id: number): void => {
    const fault = taken.get(id);
    taken.delete(id);
    counts.droppedResponses += 1;
    cut();
    fault?.done();
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
