import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { nativeString, varint } from '../../pipeline/rows/native.ts';

/** Rows of a block, as many as ClickHouse gives. */
const BLOCK = 65_409;
/** So many definitions are read at once, and with a limit. */
const MOST_KNOWN = 251;

export type SampleStore = { readonly url: string; stop(): Promise<void> };

/** What stands for ClickHouse where samples are read: series `x` with a label `group` of ten values, each with samples of 30 s from time 0 on. */
export async function startSampleStore(seriesCount: number, samplesOfEach: number): Promise<SampleStore> {
  const server = http.createServer((request, response) => void answered(request, response, seriesCount, samplesOfEach));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, stop };
}

async function answered(request: http.IncomingMessage, response: http.ServerResponse, series: number, samples: number): Promise<void> {
  const statement = String(Buffer.concat(await request.toArray()));
  if (!statement.includes('FROM samples')) response.end(definitions(series, statement.includes('LIMIT {') ? MOST_KNOWN : series));
  else if (request.url?.includes('Native') !== true) response.end();
  else {
    const isTyped = statement.startsWith('SELECT type');
    for (let from = 0; from < series * samples; from += BLOCK)
      if (!response.write(blockOf(from, Math.min(from + BLOCK, series * samples), samples, isTyped))) await once(response, 'drain');
    response.end();
  }
}

const definitions = (series: number, most: number): string =>
  Array.from({ length: Math.min(series, most) }, (_none, at) => {
    const labels = { __name__: 'x', group: String(at % 10), place: String(at) };
    return JSON.stringify([String(at + 1), labels, 'counter', 0, '2026-01-01']);
  }).join('\n');

/** `isTyped`: with a type before, and a payload behind. */
function blockOf(from: number, to: number, samples: number, isTyped: boolean): Buffer {
  const count = to - from;
  const [series, times, values] = [new BigUint64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let row = from; row < to;) {
    const first = row - (row % samples);
    const next = Math.min(to, first + samples);
    series.fill(BigInt(first / samples + 1), row - from, next - from);
    for (; row < next; row++) {
      times[row - from] = (row - first) * 30_000;
      values[row - from] = (row - first) * 250 + (row % 97);
    }
  }
  const column = (name: string, type: string, bytes: ArrayBuffer): Buffer[] => [nativeString(name), nativeString(type), Buffer.from(bytes)];
  const none = new Uint8Array(count).buffer;
  return Buffer.concat([
    varint(isTyped ? 5 : 3),
    varint(count),
    ...(isTyped ? column('type', 'UInt8', none) : []),
    ...column('series', 'UInt64', series.buffer),
    ...column('time', 'Float64', times.buffer),
    ...column('value', 'Float64', values.buffer),
    ...(isTyped ? column('payload', 'String', none) : []),
  ]);
}
