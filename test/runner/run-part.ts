import os from 'node:os';
import { failureText } from './report.ts';
import type { Message } from './messages.ts';
import { filesOf, type Part } from './parts.ts';
import { runTool, TestProcess, type Spawn } from './processes.ts';
import type { Results } from './results.ts';
import { longestFirst, shares } from './shares.ts';
import type { KeptTimes } from './kept-times.ts';

/** A file that took less is not named as it ends. */
const NAMED_MS = 2000;

export type PartOptions = Spawn & { readonly log: (line: string) => void; readonly results: Results; readonly times: KeptTimes };

/** A piece of a stage that runs in one process. */
export type Job = { readonly name: string; readonly run: () => Promise<void> };

/** The jobs of a part: one, or as many as its files are spread over. */
export function jobsOf(part: Part, options: PartOptions): readonly Job[] {
  const { name, tool } = part;
  if (tool !== undefined) return [{ name, run: () => check(name, tool, options) }];
  const queues = queuesOf(part, options);
  return queues.map((queue, index) => ({
    name: queues.length === 1 ? name : `${name} ${String(index + 1)}`,
    run: () => runAll(name, queue, part, options),
  }));
}

/** What each process of a part takes its batches from: files one by one from one queue, or all of its share at once. */
function queuesOf(part: Part, { root, times }: PartOptions): readonly (readonly string[])[][] {
  const { spread = 1, isShared = false } = part;
  const files = filesOf(part, root);
  const msOf = (file: string): number => times.of(file);
  if (isShared) return shares(files, spread, msOf).map((share) => [share]);
  const queue = longestFirst(files, msOf).map((file) => [file]);
  return Array.from({ length: Math.max(1, Math.min(spread, files.length)) }, () => queue);
}

async function check(name: string, tool: readonly string[], options: PartOptions): Promise<void> {
  const { code, output } = await runTool(tool, options);
  if (code === 0) options.results.take({ kind: 'test', file: name, title: name, outcome: 'passed', ms: 0 });
  else {
    options.results.fail(name, name, output);
    options.log(`✖ ${name}\n${output}`);
  }
}

/** Runs what is in a queue, in another process again from where one has ended that should not have. */
async function runAll(name: string, queue: (readonly string[])[], { timeoutMs = 120_000 }: Part, options: PartOptions): Promise<void> {
  while (queue.length > 0) {
    const state: State = { open: '', ended: new Set() };
    const runner = new TestProcess(options, (message) => take(message, state, options));
    let files: readonly string[] | undefined;
    let isDone = true;
    while (isDone && (files = queue.shift()) !== undefined) isDone = await runner.run({ files, timeoutMs });
    if (isDone || files === undefined) return runner.end();
    // it ended in the middle of a file, or as it loaded them
    const { code, output } = await runner.ended;
    const file = state.open !== '' ? state.open : files.length === 1 ? String(files[0]) : name;
    options.results.fail(file, 'the process that runs it', output);
    options.log(`✖ ${file}: the process that runs it ended with ${String(code)}\n${output}`);
    const left = files.filter((one) => one !== file && !state.ended.has(one));
    if (left.length > 0 && state.open !== '') queue.unshift(left);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);

type State = { open: string; readonly ended: Set<string> };

function take(message: Message, state: State, { results, log, times }: PartOptions): void {
  results.take(message);
  if (message.kind === 'begun') state.open = message.file;
  if (message.kind === 'test' && message.outcome === 'failed') log(failureText({ ...message, load: os.loadavg()[0] ?? 0 }));
  if (message.kind !== 'ended') return;
  state.open = '';
  state.ended.add(message.file);
  times.put(message.file, message.ms);
  if (message.ms >= NAMED_MS) log(`  ${seconds(message.ms)} s, CPU ${seconds(message.cpuMs)} s  ${message.file}`);
}
