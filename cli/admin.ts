import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { AdminCommand, Flags } from './admin-command.ts';
import { ADMIN_COMMANDS } from './admin-commands.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { outputOf, processSink, UsageError, type Env, type Output, type Sink } from './output.ts';
import { renderTable } from './table.ts';
import { zoneOf, type Zone } from './zone.ts';
import { withSecretFiles } from '../pipeline/core/config-files.ts';

const DEADLINE_MS = 20_000;
/** Between two looks at work that goes on. */
const FOLLOW_MS = 500;

/**
 * `logweir admin <subject> [verb] [flags]`: requests the internal listener. `argv` is what follows `admin`. Resolves with the exit code:
 * 0, 1 for a failure (one sentence on stderr), 2 for a wrong command line.
 */
export async function adminCommand(argv: readonly string[], env: Env, to: Sink = processSink): Promise<number> {
  const output = outputOf(to, env);
  try {
    if (argv.length === 0 || wantsHelp(argv)) {
      output.out(usage(argv));
      return argv.length === 0 ? 2 : 0;
    }
    const { command, flags } = readCommand(argv);
    const zone = zoneOf(text(flags['timezone']));
    const first = await send(command.request(inUtc(flags, zone)), env);
    const answer = ordered(await followed(command, first, env, output), command, flags['newest-first'] === true);
    if (flags['json'] === true) output.out(`${JSON.stringify(answer)}\n`);
    else output.out(renderTable(command.shown?.(answer) ?? answer, command.columns, zone));
    return 0;
  } catch (error) {
    output.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

const text = (flag: Flags[string]): string | undefined => (typeof flag === 'string' ? flag : undefined);

/** The flags with their times as the service takes them. */
function inUtc(flags: Flags, zone: Zone): Flags {
  const times = ['since', 'from'].flatMap((name) => {
    const given = text(flags[name]);
    return given === undefined ? [] : [[name, zone.read(given, 'start')] as const];
  });
  return { ...flags, ...Object.fromEntries(times) };
}

/** Terminals show the end of what was printed, where the newest belongs; the service begins with it. */
const ordered = (answer: unknown, { isNewestFirst = false }: AdminCommand, wanted: boolean): unknown =>
  isNewestFirst && !wanted && Array.isArray(answer) ? answer.toReversed() : answer;

/** Switches and flags that commands have without a row of theirs that names them. */
const switchesOf = ({ switches = [], isNewestFirst = false }: AdminCommand): readonly string[] => [
  ...switches,
  ...(isNewestFirst ? ['newest-first'] : []),
  'json',
];

function readCommand(argv: readonly string[]): { readonly command: AdminCommand; readonly flags: Flags } {
  const words = (row: AdminCommand): number => row.name.split(' ').length;
  const command = ADMIN_COMMANDS.find((row) => row.name === argv.slice(0, words(row)).join(' '));
  if (command === undefined) throw new UsageError(`There is no command "admin ${argv.slice(0, 2).join(' ')}".\n${usage()}`);
  const help = `Usage: ${usageOf(command)}`;
  const names = { values: [...command.required, ...command.optional, 'timezone'], switches: switchesOf(command) };
  const { values, switches } = readFlags(argv.slice(words(command)), names, help);
  const flags: Flags = { ...values, ...Object.fromEntries([...switches].map((name) => [name, true])) };
  const missing = command.required.find((flag) => flags[flag] === undefined);
  if (missing !== undefined) throw new UsageError(`The flag --${missing} is missing.\n${help}`);
  const tenant = flags['tenant'];
  if (tenant !== undefined && !/^[1-9]\d{0,14}$/.test(String(tenant))) throw new UsageError('--tenant is an integer of at least 1.');
  return { command, flags };
}

/** The answer once the work that it tells of is over. */
async function followed({ follow }: AdminCommand, first: unknown, env: Env, output: Output): Promise<unknown> {
  let answer = first;
  for (let next = follow?.(answer) ?? null; next !== null; next = follow?.(answer) ?? null) {
    output.progress(next.progress);
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
    answer = await send({ method: 'GET', path: next.path }, env);
  }
  return answer;
}

async function send({ method, path, body }: ReturnType<AdminCommand['request']>, env: Env): Promise<unknown> {
  const address = `${hostOf(env)}:${env['LOGWEIR_ADMIN_PORT'] || '8082'}`;
  let response: Response;
  try {
    response = await fetch(`http://${address}${path}`, {
      method,
      headers: { Authorization: `Bearer ${tokenOf(env)}`, 'Content-Type': 'application/json', 'X-Logweir-Client': clientName() },
      signal: AbortSignal.timeout(DEADLINE_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (error instanceof TokenMissing) throw error;
    throw new Error(`No service answers on ${address}; is Logweir running with this LOGWEIR_ADMIN_HOST and LOGWEIR_ADMIN_PORT?`, {
      cause: error,
    });
  }
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer;
  const detail = (answer as { detail?: unknown } | null)?.detail;
  const sentence = typeof detail === 'string' ? detail : `The service answered ${String(response.status)}.`;
  throw response.status === 400 ? new UsageError(sentence) : new Error(sentence);
}

function hostOf(env: Env): string {
  const host = env['LOGWEIR_ADMIN_HOST'] || '127.0.0.1';
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
}

/** Who uses the command, for the audit log: the user and the machine, in the characters of a header. */
function clientName(): string {
  let user = 'unknown';
  try {
    user = userInfo().username;
  } catch {
    // a container may have no name for its user
  }
  return `logweir cli, ${user}@${hostname()}`.replace(/[^\x20-\x7e]/g, '?');
}

class TokenMissing extends Error {}

const TOKEN = 'LOGWEIR_ADMIN_TOKEN';

/** The admin token: from the environment, else from the data directory of an instance on this machine. */
function tokenOf(env: Env): string {
  const { values, unread } = withSecretFiles({ [TOKEN]: env[TOKEN] || undefined, [`${TOKEN}_FILE`]: env[`${TOKEN}_FILE`] || undefined });
  if (unread.length > 0) throw new TokenMissing(`No admin token: ${unread.join('; ')}.`);
  const given = values[TOKEN];
  if (given !== undefined && given !== '') return given;
  const file = join(env['LOGWEIR_DATA_DIR'] || './data', 'admin.token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new TokenMissing(
      `No admin token: set LOGWEIR_ADMIN_TOKEN, or LOGWEIR_DATA_DIR to the directory that holds admin.token (${file} cannot be read).`,
      { cause: error },
    );
  }
}

function usageOf(command: AdminCommand): string {
  const { name, required, optional } = command;
  const flag = (word: string): string => `--${word} ${word.toUpperCase()}`;
  const bare = switchesOf(command).map((word) => `[--${word}]`);
  return ['logweir admin', name, ...required.map(flag), ...[...optional, 'timezone'].map((word) => `[${flag(word)}]`), ...bare].join(' ');
}

/** The usage of the commands whose names begin with these words; of all where there is none. */
function usage(argv: readonly string[] = []): string {
  const end = argv.findIndex((word) => word.startsWith('-'));
  const words = end < 0 ? argv : argv.slice(0, end);
  const named = ADMIN_COMMANDS.filter(({ name }) => words.every((word, at) => name.split(' ')[at] === word));
  const shown = named.length === 0 ? ADMIN_COMMANDS : named;
  return `Usage:\n${shown.map((command) => `  ${usageOf(command)}\n      ${command.help}`).join('\n')}\n`;
}
