/**
 * `npm run jaeger -- --binary PATH`: the same OTLP requests to Jaeger and to an instance, the same questions to both, and each member that differs.
 * PATH is Jaeger 1.76's `all-in-one`, which Go's proxy has as source (docs/traces-query.md). Exit code 1 where a difference has no reason (`reasons.ts`).
 *   npm run jaeger -- --binary PATH [--app URL --ingest URL --tenant ID --key KEY]    against an instance that runs, whose tenant has no spans yet
 */
import { parseArgs } from 'node:util';
import { startInstance, until } from '../e2e/instance.ts';
import { tracesProtobuf } from '../fixtures/otlp/traces.ts';
import { corpus } from './corpus.ts';
import { differences, inOrder, type Difference } from './differences.ts';
import { startJaeger } from './jaeger-process.ts';
import { questions } from './questions.ts';
import { reasonOf } from './reasons.ts';

const { values: flags } = parseArgs({
  options: {
    binary: { type: 'string' },
    app: { type: 'string' },
    ingest: { type: 'string' },
    tenant: { type: 'string', default: '1' },
    key: { type: 'string', default: '' },
    /** So many of each reason are shown. */
    lines: { type: 'string', default: '3' },
  },
});
if (flags.binary === undefined) throw new Error('Name the program: --binary PATH.');
const write = (text: string): void => void process.stdout.write(`${text}\n`);

type Answer = { readonly status: number; readonly body: unknown };

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(url, { headers });
  const text = await response.text();
  try {
    return { status: response.status, body: inOrder(JSON.parse(text)) };
  } catch {
    return { status: response.status, body: text };
  }
}

async function send(url: string, body: Buffer, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/x-protobuf' }, body });
  if (response.status !== 200) throw new Error(`${url} answered ${String(response.status)}: ${await response.text()}`);
}

const instance = flags.app === undefined ? await startInstance() : null;
const app = flags.app ?? instance?.app ?? '';
const ingest = flags.ingest ?? instance?.ingest ?? '';
const headers = { Authorization: `Bearer ${flags.key === '' ? (instance?.key ?? '') : flags.key}` };
const base = `${app}/api/v1/tenants/${flags.tenant}/jaeger`;
const jaeger = await startJaeger(flags.binary);
let [asked, equal, unexplained] = [0, 0, 0];
try {
  const now = Date.now();
  const bodies = corpus(BigInt(now) * 1_000_000n);
  for (const body of bodies.map(tracesProtobuf)) {
    await send(`${jaeger.ingest}/v1/traces`, body, {});
    await send(`${ingest}/v1/traces`, body, headers);
  }
  for (const at of [jaeger.query, base])
    await until(`the last trace at ${at}`, () => ask(`${at}/api/traces?service=shop&limit=100`, headers), ({ body }) => (body as { data?: unknown[] }).data?.length === 30); // prettier-ignore
  const kept = new Map<string, string[]>();
  for (const question of questions(now)) {
    const [theirs, ours] = [await ask(jaeger.query + question, {}), await ask(base + question, headers)];
    const found = differences(theirs, ours);
    asked += 1;
    if (found.length === 0) equal += 1;
    for (const difference of found) note(kept, question, difference);
  }
  for (const [reason, lines] of kept) write([`\n${reason}: ${String(lines.length)}`, ...lines.slice(0, Number(flags.lines))].join('\n  '));
} finally {
  await jaeger.stop();
  await instance?.stop();
}

function note(kept: Map<string, string[]>, question: string, difference: Difference): void {
  const reason = reasonOf(question, difference);
  if (reason === null) unexplained += 1;
  const lines = kept.get(reason ?? 'WITHOUT A REASON') ?? [];
  const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300));
  lines.push(`${question} ${difference.at}: Jaeger ${shown(difference.jaeger)}, here ${shown(difference.here)}`);
  kept.set(reason ?? 'WITHOUT A REASON', lines);
}

write(`\n${String(asked)} questions, ${String(equal)} answers equal in all members, ${String(unexplained)} differences without a reason`);
process.exit(unexplained === 0 ? 0 : 1);
