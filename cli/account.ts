import { readFileSync } from 'node:fs';
import type { OperationName } from '../web/client/client.ts';
import { answerOf, findTarget, send, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { readFlags, wantsHelp } from './flags.ts';
import { EXIT, outputOf, UsageError, type Sink } from './output.ts';
import { renderTable } from './table.ts';
import { zoneOf } from './zone.ts';

type Values = Readonly<Record<string, string | undefined>>;

/** A list that a tenant keeps: `list`, `create` and `delete` of it. */
type AccountList = {
  readonly name: string;
  /** A sentence, and what `create` takes. */
  readonly about: string;
  readonly create: string;
  readonly flags: readonly string[];
  readonly switches: readonly string[];
  readonly columns: readonly string[];
  /** What lists them, makes one, and deletes one by its parameter. */
  readonly operations: readonly [list: OperationName, create: OperationName, remove: OperationName, parameter: string];
  body(values: Values, switches: ReadonlySet<string>): object;
};

const listOf = (text: string | undefined): string[] => (text ?? '').split(',').filter((part) => part.trim() !== '').map((part) => part.trim()); // prettier-ignore
const given = (values: Values, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const])));

const KEYS: AccountList = {
  name: 'keys',
  about: 'API keys of the tenant. A new key is shown once, and gets no scope that the own key lacks.',
  create: '[--name N] [--scopes read,write,ingest] [--expires ISO] [--project ID]',
  flags: ['name', 'scopes', 'expires', 'project'],
  switches: [],
  columns: ['id', 'key', 'name', 'scopes', 'project_id', 'created_at', 'expires_at', 'last_used'],
  operations: [
    'GET /api/v1/tenants/{tenant_id}/keys',
    'POST /api/v1/tenants/{tenant_id}/keys',
    'DELETE /api/v1/tenants/{tenant_id}/keys/{key_id}',
    'key_id',
  ],
  body: (values) => ({
    ...given(values, ['name', 'expires', 'project']),
    ...(values['scopes'] === undefined ? {} : { scopes: listOf(values['scopes']) }),
  }),
};
const SAVED: AccountList = {
  name: 'saved',
  about: 'Saved searches: the own ones, and those that are shared.',
  create: '--name N --query Q [--start T] [--end T] [--columns a,b] [--shared]',
  flags: ['name', 'query', 'start', 'end', 'columns'],
  switches: ['shared'],
  columns: ['id', 'name', 'query', 'start', 'end', 'columns', 'shared', 'owner', 'updated_at'],
  operations: [
    'GET /api/v1/tenants/{tenant_id}/saved-searches',
    'POST /api/v1/tenants/{tenant_id}/saved-searches',
    'DELETE /api/v1/tenants/{tenant_id}/saved-searches/{search_id}',
    'search_id',
  ],
  body: (values, switches) => ({
    ...given(values, ['name', 'query', 'start', 'end']),
    ...{ columns: listOf(values['columns']), shared: switches.has('shared') },
  }),
};
const PROJECTS: AccountList = {
  name: 'projects',
  about: 'Projects of the tenant: parts of it, to which keys are narrowed.',
  create: '--name N [--filter LOGSQL] [--labels a=b,c=d]',
  flags: ['name', 'filter', 'labels'],
  switches: [],
  columns: ['id', 'name', 'filter', 'labels', 'created_at', 'updated_at'],
  operations: [
    'GET /api/v1/account/projects',
    'POST /api/v1/account/projects',
    'DELETE /api/v1/account/projects/{project_id}',
    'project_id',
  ],
  body: (values) => ({
    ...given(values, ['name', 'filter']),
    ...(values['labels'] === undefined ? {} : { labels: labelsOf(values['labels']) }),
  }),
};

const PLAYBOOKS: AccountList = {
  name: 'playbooks',
  about: 'Playbooks of the team for alerts of a kind. An import costs an AI credit; without a selector a model drafts it. See docs/ai.md.',
  create: '--name N --file FILE [--services a,b] [--detectors a,b] [--rules a,b] [--pattern TEXT]',
  flags: ['name', 'file', 'services', 'detectors', 'rules', 'pattern'],
  switches: [],
  columns: ['id', 'name', 'selector', 'is_drafted', 'characters', 'created_at'],
  operations: ['GET /api/v1/ai/playbooks', 'POST /api/v1/ai/playbooks', 'DELETE /api/v1/ai/playbooks/{playbook_id}', 'playbook_id'],
  body: (values) => {
    const lists = ['services', 'detectors', 'rules'].filter((name) => values[name] !== undefined);
    const selector = { ...Object.fromEntries(lists.map((name) => [name, listOf(values[name])])), ...given(values, ['pattern']) };
    if (values['file'] === undefined) throw new UsageError('--file is missing: a file with the playbook, in Markdown.');
    return {
      ...{ ...given(values, ['name']), text: readText(values['file']) },
      ...(Object.keys(selector).length === 0 ? {} : { selector }),
    };
  },
};

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`The file ${file} cannot be read: ${(error as Error).message}`);
  }
}

function labelsOf(text: string): object {
  return Object.fromEntries(
    listOf(text).map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw new UsageError(`--labels has ${JSON.stringify(pair)}; write name=value, with commas between them.`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

const helpOf = ({ name, about, create }: AccountList): string => `Usage: logweir ${name} list [flags]
       logweir ${name} create ${create}
       logweir ${name} delete ID
${about} See docs/accounts.md.

  --json          the answer of the service
  --timezone Z    of the times that are shown
${TARGET_HELP}
Exit codes: 0 done, 1 there is none, or the service cannot be reached, 2 wrong command line, 3 key refused.
`;

/** All items of a list: a page has fewer than its limit where they are long. */
async function allOf(target: Target, operation: OperationName): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (let more = true; more;) {
    const query = { limit: 1000, ...(all.length === 0 ? {} : { offset: all.length }) };
    const page = (await answerOf(target, operation, { query })) as { items: unknown[]; has_more?: boolean };
    all.push(...page.items);
    more = page.has_more === true && page.items.length > 0;
  }
  return all;
}

/** A command over one list. */
const commandOf =
  (list: AccountList) =>
  async (argv: readonly string[], env: Env, to: Sink): Promise<number> => {
    const output = outputOf(to, env);
    const help = helpOf(list);
    if (wantsHelp(argv)) {
      output.out(help);
      return EXIT.ok;
    }
    const names = { values: [...list.flags, ...TARGET_FLAGS, 'timezone'], switches: [...list.switches, 'json'], positionals: true };
    const { values, switches, positionals } = readFlags(argv, names, help);
    const [verb, id, ...more] = positionals;
    const isDeletion = verb === 'delete' && id !== undefined && more.length === 0;
    if (!isDeletion && !(['list', 'create'].includes(verb ?? '') && id === undefined)) throw new UsageError(help);
    const target = findTarget(values, env);
    const [listing, creation, removal, parameter] = list.operations;
    if (isDeletion) {
      await send(target, removal, { path: { [parameter]: id } });
      output.out(`deleted ${id.replace(/[^\x20-\x7e]/g, '?')}\n`);
      return EXIT.ok;
    }
    const rows: unknown =
      verb === 'list' ? await allOf(target, listing) : await answerOf(target, creation, { body: list.body(values, switches) });
    if (switches.has('json')) output.data(`${JSON.stringify(rows)}\n`);
    else
      output.out(
        renderTable(rows, verb === 'list' ? list.columns.filter((name) => name !== 'key') : list.columns, zoneOf(values['timezone'])),
      );
    return EXIT.ok;
  };

/** `logweir keys`, `logweir saved`, `logweir projects` and `logweir playbooks`. */
export const keysCommand = commandOf(KEYS);
export const savedCommand = commandOf(SAVED);
export const projectsCommand = commandOf(PROJECTS);
export const playbooksCommand = commandOf(PLAYBOOKS);
