import type { BenchLog } from './logs.ts';

/** These logs as columns one after the other, as a record of the log has them: numbers, texts with lengths, names as numbers of a list. */
export function logColumns(logs: readonly BenchLog[]): Buffer {
  const fields = logs.map(({ host, env, status, durationMs, userId, ip }) => [host, env, String(status), String(durationMs), userId, ip]);
  return Buffer.concat([
    longs(logs.map(({ ms }) => BigInt(ms) * 1_000_000n)),
    longs(logs.map(({ service, host }) => BigInt(`0x${Buffer.from(`${service}${host}`).subarray(-8).toString('hex')}`))),
    names(logs.map(({ level }) => level)),
    names(logs.map(({ service }) => service)),
    texts(logs.map(({ traceId }) => traceId)),
    texts(logs.map(({ message }) => message)),
    longs(fields.map((values, index) => BigInt((index + 1) * values.length))),
    Buffer.from(fields.flatMap((values) => values.map((_, index) => index))),
    texts(fields.flat()),
  ]);
}

function longs(values: readonly bigint[]): Buffer {
  return Buffer.from(BigInt64Array.from(values).buffer);
}

function texts(values: readonly string[]): Buffer {
  return Buffer.concat(values.flatMap((value) => [Buffer.of(Buffer.byteLength(value)), Buffer.from(value)]));
}

function names(values: readonly string[]): Buffer {
  const known = [...new Set(values)];
  return Buffer.concat([texts(known), Buffer.from(values.map((value) => known.indexOf(value)))]);
}
