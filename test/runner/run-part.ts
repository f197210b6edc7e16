import os from 'node:os';
import { failureText } from './report.ts';
import type { Message } from './messages.ts';
import { filesOf, type Part } from './parts.ts';
import { runFiles, runTool, type Spawn } from './processes.ts';
import type { Results } from './results.ts';
import { shares } from './shares.ts';
import type { KeptTimes } from './kept-times.ts';

/** A file that took less is not named as it ends. */
const NAMED_MS = 2000;

export type PartOptions = Spawn & { readonly log: (line: string) => void; readonly results: Results; readonly times: KeptTimes };

/** A piece of a stage that runs in one process. */
export type Job = { readonly name: string; readonly run: () => Promise<void> };

/** The jobs of a part: one, or as many as its files are spread over. */
export function jobsOf(part: Part, options: PartOptions): readonly Job[] {
  const { name, tool, spread = 1 } = part;
  if (tool !== undefined) return [{ name, run: () => check(name, tool, options) }];
  const lists = shares(filesOf(part, options.root), spread, (file) => options.times.of(file));
  return lists.map((files, index) => ({
    name: lists.length === 1 ? name : `${name} ${String(index + 1)}`,
    run: () => runAll(name, files, part, options),
  }));
}

async function check(name: string, tool: readonly string[], options: PartOptions): Promise<void> {
  const { code, output } = await runTool(tool, options);
  if (code === 0) options.results.take({ kind: 'test', file: name, title: name, outcome: 'passed', ms: 0 });
  else {
    options.results.fail(name, name, output);
    options.log(`✖ ${name}\n${output}`);
  }
}

/** Runs test files, in another process again from where one has ended that should not have. */
async function runAll(name: string, files: readonly string[], { timeoutMs = 120_000 }: Part, options: PartOptions): Promise<void> {
  let left = files;
  while (left.length > 0) {
    const state = { open: '', ended: new Set<string>(), isDone: false };
    const { code, output } = await runFiles({ files: left, timeoutMs }, options, (message) => take(message, state, options));
    if (state.isDone) return;
    // it ended in the middle of a file, or before the first one
    const file = state.open === '' ? name : state.open;
    options.results.fail(file, 'the process that runs it', output);
    options.log(`✖ ${file}: the process that runs it ended with ${String(code)}\n${output}`);
    if (state.open === '') return;
    left = left.filter((one) => one !== state.open && !state.ended.has(one));
  }
}

type State = { open: string; readonly ended: Set<string>; isDone: boolean };

function take(message: Message, state: State, { results, log, times }: PartOptions): void {
  results.take(message);
  if (message.kind === 'begun') state.open = message.file;
  if (message.kind === 'done') state.isDone = true;
  if (message.kind === 'test' && message.outcome === 'failed') log(failureText({ ...message, load: os.loadavg()[0] ?? 0 }));
  if (message.kind !== 'ended') return;
  state.open = '';
  state.ended.add(message.file);
  times.put(message.file, message.ms);
  if (message.ms >= NAMED_MS) log(`  ${(message.ms / 1000).toFixed(1).padStart(6)} s  ${message.file}`);
}
