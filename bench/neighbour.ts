/**
 * `npm run bench:neighbour`: what a tenant that sends one entry at a time notices of another one that does the node harm.
 *   npm run bench:neighbour -- [--attacks flood,byte,bomb,rejected,names] [--seconds 20] [--clone .]
 * One fresh instance with the default limits; for each attack first nobody else for so many seconds, then the attack, from a process of its
 * own. Prints a Markdown table: the small tenant's answers, and the attacker's by status.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Instance, InstanceOptions } from '../test/e2e/instance.ts';
import { createTenants } from './instance-load.ts';
import { LoadConnections } from './load.ts';

const { values: flags } = parseArgs({
  options: {
    attacks: { type: 'string', default: 'flood,byte,bomb,rejected,names' },
    seconds: { type: 'string', default: '20' },
    clone: { type: 'string', default: path.resolve(import.meta.dirname, '..') },
    // of the attacker's process
    attack: { type: 'string' },
    url: { type: 'string', default: '' },
    key: { type: 'string', default: '' },
  },
});
const MS = Number(flags.seconds) * 1000;
const CONNECTIONS = 48;
const EVERY_MS = 50;
const MOST_BYTES = 2 * 1024 * 1024;

type Attack = { readonly about: string; readonly body: (round: number) => Buffer; readonly encoding?: string };

const line = (n: number, more = ''): string =>
  `{"_msg":"request ${String(n)} of checkout for user u${String(n % 997)} took ${String(n % 89)} ms","level":"info","service":"checkout","host":"h${String(n % 7)}","env":"production","status":200,"path":"/api/v1/cart/items","region":"eu-central-1","trace":"4bf92f3577b34da6a3ce929d0e0e4736"${more}}`;
const FLOOD = Buffer.from(Array.from({ length: 6000 }, (_, n) => line(n)).join('\n'));
const BOMB = gzipSync(Buffer.from(`${line(0)}\n`.repeat(7000)));
const REJECTED = Buffer.alloc(MOST_BYTES, '1\n');

const ATTACKS: Readonly<Record<string, Attack | { readonly about: string }>> = {
  flood: { about: `${String(CONNECTIONS)} connections, bodies of 6,000 entries`, body: () => FLOOD },
  byte: { about: '80 uploads that announce 2 MiB, send a byte and wait' },
  bomb: { about: `${String(CONNECTIONS)} connections, gzip of 30 KB that is 2 MB`, body: () => BOMB, encoding: 'gzip' },
  rejected: { about: `${String(CONNECTIONS)} connections, 2 MiB of lines that are no entries`, body: () => REJECTED },
  names: {
    about: `${String(CONNECTIONS)} connections, 2,000 entries of names that never come again`,
    body: (round) => Buffer.from(Array.from({ length: 2000 }, (_, n) => line(n, `,"n${String(round)}_${String(n)}":1`)).join('\n')),
  },
};

/** The attacker's process: prints how often it was answered what. */
async function attack(name: string): Promise<void> {
  const one = ATTACKS[name];
  if (one === undefined) throw new Error(`There is no attack ${name}.`);
  const answers = new Map<string, number>();
  const end = performance.now() + MS;
  if (!('body' in one)) {
    const { hostname, port } = new URL(flags.url);
    const head = `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${flags.key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${String(MOST_BYTES)}\r\n\r\n{`;
    const sockets = Array.from({ length: 80 }, () => connect({ host: hostname, port: Number(port) }).on('error', () => undefined));
    for (const socket of sockets) {
      socket.write(head);
      socket.once('data', (data) => {
        const status = data.toString('latin1', 9, 12);
        answers.set(status, (answers.get(status) ?? 0) + 1);
      });
    }
    await new Promise((resolve) => setTimeout(resolve, MS));
    for (const socket of sockets) socket.destroy();
  } else {
    const open = new LoadConnections(CONNECTIONS);
    let round = 0;
    const send = async (): Promise<void> => {
      while (performance.now() < end) {
        const request = { url: `${flags.url}/api/v1/ingest`, key: flags.key, contentType: 'application/x-ndjson', body: one.body(round++) };
        const { status } = await open.send(one.encoding === undefined ? request : { ...request, encoding: one.encoding });
        answers.set(String(status), (answers.get(String(status)) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    open.close();
  }
  process.stdout.write([...answers].map(([status, times]) => `${String(times)} × ${status}`).join(', ') || 'none');
}

type Seen = { readonly failed: number; readonly ms: readonly number[] };

/** What the small tenant sees: one entry after the other, each on time whatever came of the one before. */
async function small(instance: Instance, key: string): Promise<Seen> {
  const open = new LoadConnections(64);
  const [ms, pending]: [number[], Promise<void>[]] = [[], []];
  let failed = 0;
  for (const end = performance.now() + MS; performance.now() < end;) {
    const began = performance.now();
    const body = Buffer.from(line(1));
    pending.push(
      open.send({ url: `${instance.ingest}/api/v1/ingest`, key, contentType: 'application/json', body }).then(({ status }) => {
        ms.push(performance.now() - began);
        if (status !== 200) failed += 1;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(pending);
  open.close();
  return { failed, ms: ms.sort((a, b) => a - b) };
}

function attacker(name: string, url: string, key: string): Promise<string> {
  const args = [import.meta.filename, '--attack', name, '--url', url, '--key', key, '--seconds', flags.seconds];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve) => child.on('close', () => { resolve(output); })); // prettier-ignore
}

const at = ({ ms }: Seen, share: number): string => (ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? NaN).toFixed(0);
const shown = (seen: Seen): string =>
  `${String(seen.failed)} of ${String(seen.ms.length)} | ${at(seen, 0.5)} / ${at(seen, 0.99)} / ${at(seen, 1)}`;

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) / 1024;
}

if (flags.attack !== undefined) await attack(flags.attack);
else {
  const file = pathToFileURL(path.join(path.resolve(flags.clone), 'test/e2e/instance.ts')).href;
  const { startInstance } = (await import(file)) as { startInstance: (options?: InstanceOptions) => Promise<Instance> };
  const instance = await startInstance({ env: { LOGWEIR_PLATFORM_ENTRIES_PER_SECOND: '50000' } });
  try {
    const [bad = '', good = ''] = await createTenants(instance, 2);
    process.stdout.write(
      '| attack | failed alone | ms, p50 / p99 / most | failed beside it | ms | the attacker | ingest, MB |\n|---|---|---|---|---|---|---|\n',
    );
    for (const name of flags.attacks.split(',')) {
      const before = await small(instance, good);
      const [during, answers] = await Promise.all([small(instance, good), attacker(name, instance.ingest, bad)]);
      const memory = residentMb(instance.processes().get('ingest')?.pid ?? 0).toFixed(0);
      process.stdout.write(`| ${ATTACKS[name]?.about ?? name} | ${shown(before)} | ${shown(during)} | ${answers} | ${memory} |\n`);
    }
  } finally {
    await instance.stop();
  }
}
