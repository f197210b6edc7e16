import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { atEnd } from '../at-end.ts';
import { onFailure } from '../on-failure.ts';
import { startInstance, type Instance } from './instance.ts';

type Settings = Readonly<Record<string, string>>;

const settings: (() => Promise<Settings>)[] = [];
let running: Promise<Instance> | null = null;
let dataDir = '';

/** Adds to the settings of the instance that the files of this process share: said as a file is loaded, which is before any test. */
export function shareWith(more: () => Promise<Settings>): void {
  if (running !== null) throw new Error('The shared instance runs already: say its settings as the file is loaded.');
  settings.push(more);
}

/** The one instance that the end-to-end tests share; stopped as the process ends, which takes one file of tests after the other. */
export function sharedInstance(): Promise<Instance> {
  running ??= start();
  return running;
}

async function start(): Promise<Instance> {
  const instance = await startInstance({ env: together(await Promise.all(settings.map((more) => more()))) });
  atEnd(() => instance.stop());
  dataDir = instance.dataDir;
  return instance;
}

/** Settings of all files. Two files that want different values of one would each get what it wants, or not, by the order of loading. */
function together(all: readonly Settings[]): Settings {
  const env: Record<string, string> = {};
  for (const [name, value] of all.flatMap((one) => Object.entries(one))) {
    const known = (env[name] ??= value);
    if (known !== value) throw new Error(`Two files of this process want another ${name}: ${known} and ${value}.`);
  }
  return env;
}

/** What the processes of the shared instance have complained of while a test ran that failed: else nobody could tell what was wrong there. */
onFailure((ms) => {
  if (dataDir === '') return;
  const began = Date.now() - ms;
  for (const name of readdirSync(path.join(dataDir, 'logs'))) {
    const lines = readFileSync(path.join(dataDir, 'logs', name), 'utf8').split('\n');
    const isOfTest = (line: string): boolean =>
      !line.startsWith('{') || (/^\{"level":[456]/.test(line) && Number(/"time":(\d+)/.exec(line)?.[1]) >= began);
    console.log([`${name} of the instance:`, ...lines.filter((line) => line !== '' && isOfTest(line)).slice(-30)].join('\n  '));
  }
});

/** The folder of conformance data beside the clone; a test that needs it says loudly where it is absent. */
export function sharedFolder(): string {
  const folder = path.resolve(import.meta.dirname, '../..', process.env['LOGWEIR_SHARED'] ?? '../shared');
  if (!existsSync(path.join(folder, 'conformance')))
    throw new Error(`THE CONFORMANCE DATA IS ABSENT: there is no ${folder}/conformance; set LOGWEIR_SHARED.`);
  return folder;
}

let tenants = 0;

/** A new tenant on the `unlimited` plan, so that a test sees its own entries alone. */
export async function newTenant(instance: Instance): Promise<{ readonly id: number; readonly key: string }> {
  const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  const { status, body } = await instance.call(
    'POST',
    `${instance.admin}/admin/tenants`,
    { name: `test ${String(++tenants)}`, plan: 'unlimited' },
    { Authorization: `Bearer ${token}` },
  );
  if (status >= 300) throw new Error(`No tenant: ${String(status)} ${JSON.stringify(body)}`);
  const made = body as { tenant_id: number; key: string };
  return { id: made.tenant_id, key: made.key };
}

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What a command of the CLI printed, and its exit code. */
export type Printed = { readonly stdout: string; readonly stderr: string; readonly code: number };

/** Runs the CLI against an instance, as this tenant. */
export function runCli(
  instance: Instance,
  tenant: { readonly id: number; readonly key: string },
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  return run(process.execPath, [path.join(ROOT, 'cli/logweir.mjs'), ...args], {
    env: { ...instance.env, LOGWEIR_API_KEY: tenant.key, LOGWEIR_TENANT: String(tenant.id), ...env },
  })
    .then(({ stdout, stderr }) => ({ stdout, stderr, code: 0 }))
    .catch((error: unknown) => error as Printed);
}
