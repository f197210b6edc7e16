import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { startInstance, until, type Instance } from '../e2e/instance.ts';
import { fuzzRequest, type FuzzRequest } from './bodies.ts';
import { contentEncoding } from './encodings.ts';
import type { FuzzOptions, FuzzReport } from './in-process.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import { seeds } from './seeds.ts';

const CLIENTS = 8;
const MAX_MS = 1000;
const MAX_FAILURES = 10;
/** One request in so many is damaged as HTTP too, and sent as raw bytes. */
const RAW_EVERY = 10;

/** What came back: a status, or 0 where the connection was ended without an answer (which damaged HTTP may earn). */
type Answer = { readonly status: number; readonly ms: number };

/**
 * Sends damaged bodies, and damaged HTTP, to an instance that it starts. A failure is a 5xx, no answer within a second to a whole
 * request, a process that was started again, or a number of stored rows other than that of the acknowledged entries.
 */
export async function fuzzSockets({ runs, seed, progress }: FuzzOptions): Promise<FuzzReport & { readonly stored: number }> {
  const instance = await startInstance();
  try {
    return await fuzzInstance(instance, runs, seed, progress ?? ((): void => undefined));
  } finally {
    await instance.stop();
  }
}

async function fuzzInstance(
  instance: Instance,
  runs: number,
  seed: number,
  progress: (line: string) => void,
): Promise<FuzzReport & { readonly stored: number }> {
  const all = seeds();
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  let [next, slowestMs, warmRss] = [0, 0, 0];
  const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
  const client = async (): Promise<void> => {
    while (next < runs && failures.length < MAX_FAILURES) {
      const number = next++;
      if (number === Math.floor(runs / 5)) warmRss = rss(instance);
      const request = fuzzRequest(all, seed, number);
      const raw = number % RAW_EVERY === 0;
      const { status, ms } = raw ? await sendRaw(instance, request, new Random(number)) : await sendHttp(instance, agent, request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      slowestMs = Math.max(slowestMs, ms);
      if (status >= 500 || (!raw && (status === 0 || ms > MAX_MS)))
        failures.push(
          `seed ${String(seed)}, request ${String(number)} (${request.seed.name}, ${request.encoding}): ${String(status)} after ${ms.toFixed(0)} ms`,
        );
      if (number % 5000 === 4999) progress(`${String(number + 1)} of ${String(runs)}, ${String(failures.length)} failures`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  const rssGrowth = rss(instance) - warmRss;
  for (const [role, { restarts }] of instance.processes())
    if (restarts > 0) failures.push(`${role} was started again ${String(restarts)} times`);
  const { accepted, rejected } = await counted(instance);
  await until(
    'the last rows',
    () => storedRows(instance),
    (rows) => rows >= accepted,
    30_000,
  ).catch(() => undefined);
  const stored = await storedRows(instance);
  if (stored !== accepted) failures.push(`${String(accepted)} entries were acknowledged, ${String(stored)} are stored`);
  return { runs, seed, statuses, accepted, rejected, stored, rssGrowth, slowestMs: Math.round(slowestMs), failures };
}

function sendHttp(instance: Instance, agent: http.Agent, { seed, encoding, wire }: FuzzRequest): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const request = http.request(
      `${instance.ingest}${targetOf(seed)}`,
      { agent, method: 'POST', headers: { ...headersOf(instance, seed, encoding), 'Content-Length': wire.length } },
      (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - began }));
        response.on('error', () => resolve({ status: 0, ms: performance.now() - began }));
      },
    );
    request.on('error', () => resolve({ status: 0, ms: performance.now() - began }));
    request.end(wire);
  });
}

/** Sends the whole request as bytes that were damaged once more; a second without an answer ends it. */
function sendRaw(instance: Instance, { seed, encoding, wire }: FuzzRequest, random: Random): Promise<Answer> {
  const began = performance.now();
  const headers = Object.entries({ Host: 'x', ...headersOf(instance, seed, encoding), 'Content-Length': String(wire.length) });
  const head = Buffer.from(`POST ${targetOf(seed)} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  const bytes = Buffer.concat([mutate(head, wire, random), wire]);
  return new Promise((resolve) => {
    const socket = net.connect(Number(new URL(instance.ingest).port), '127.0.0.1');
    let answer = '';
    const settle = (): void => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0), ms: performance.now() - began });
    };
    socket.setTimeout(MAX_MS, settle);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (answer.includes('\r\n\r\n')) settle();
    });
    socket.on('error', settle);
    socket.on('close', settle);
    socket.end(bytes);
  });
}

const targetOf = ({ normalizer, envelope }: FuzzRequest['seed']): string => {
  const path = (envelope.path ?? normalizer.paths[0] ?? '').replace(/:\w+/g, 'x');
  return envelope.query === undefined || envelope.query === '' ? path : `${path}?${envelope.query}`;
};

/** The headers of a request: the seed's own, but for those that belong to its connection. */
function headersOf(instance: Instance, { envelope }: FuzzRequest['seed'], encoding: string): Record<string, string> {
  const own = Object.entries(envelope.headers ?? {}).filter(
    ([name]) => !/^(?:authorization|x-api-key|host|connection|content-|transfer-)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    ...(envelope.contentType === undefined ? {} : { 'Content-Type': envelope.contentType }),
    ...(encoding === 'identity' ? {} : { 'Content-Encoding': contentEncoding(encoding) }),
    Authorization: `Bearer ${instance.key}`,
  };
}

/** Resident memory of the processes that take entries, MiB. */
function rss(instance: Instance): number {
  const of = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? 0);
  const ingest = instance.processes().get('ingest');
  return Math.round((ingest === undefined ? 0 : of(ingest.pid)) / 1024);
}

/** Entries acknowledged and rejected, as the instance has counted them. */
async function counted(instance: Instance): Promise<{ accepted: number; rejected: number }> {
  const text = String((await instance.call('GET', `${instance.admin}/metrics`)).body);
  const sum = (name: string): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  return { accepted: sum('logweir_entries_total'), rejected: sum('logweir_rejected_entries_total') };
}

/** Rows of the tenant, of any time. */
async function storedRows(instance: Instance): Promise<number> {
  const { body } = await instance.call('POST', `${instance.app}/api/v1/tenants/1/search`, {
    query: '* | count() as n',
    start: '1900-01-01T00:00:00Z',
    end: '2261-12-31T00:00:00Z',
  });
  return Number((body as { logs?: { n?: unknown }[] }).logs?.[0]?.n ?? -1);
}
