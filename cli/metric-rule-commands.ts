import type { AdminCommand, Flags } from './admin-command.ts';

const COLUMNS = ['id', 'tenant_id', 'group', 'alert', 'record', 'watch', 'expr', 'interval', 'for'];
/** Flags that are strings, by the members of a rule that they are; and those that are JSON objects. */
const TEXTS: Readonly<Record<string, string>> = {
  ...{ group: 'group', alert: 'alert', record: 'record', watch: 'watch', expr: 'expr', interval: 'interval' },
  ...{ for: 'for', direction: 'direction', sensitivity: 'sensitivity' },
  'keep-firing-for': 'keep_firing_for',
};
const OBJECTS = ['labels', 'annotations'];
const OPTIONAL = [...Object.keys(TEXTS).filter((name) => name !== 'expr'), ...OBJECTS];

const pathOf = (flags: Flags, id = ''): string =>
  `/admin/tenants/${encodeURIComponent(String(flags['tenant'] ?? ''))}/metric-rules${id === '' ? '' : `/${encodeURIComponent(id)}`}`;
const idOf = (flags: Flags): string => String(flags['id'] ?? '');

/** The JSON of a flag; the string where it is none, which the service refuses. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function bodyOf(flags: Flags): object {
  const texts = Object.entries(TEXTS).flatMap(([flag, member]) => (flags[flag] === undefined ? [] : [[member, String(flags[flag])]]));
  const objects = OBJECTS.flatMap((name) => (flags[name] === undefined ? [] : [[name, jsonOf(String(flags[name]))]]));
  return Object.fromEntries([...texts, ...objects]) as object;
}

/** The admin commands of rules over metrics. */
export const METRIC_RULE_COMMANDS: readonly AdminCommand[] = [
  {
    name: 'metric-rule create',
    help: 'Creates a rule over metrics by PromQL: one that alerts (--alert NAME), records (--record NAME) or has detectors watch its series (--watch NAME). --labels and --annotations are JSON.',
    required: ['tenant', 'expr'],
    optional: OPTIONAL,
    columns: COLUMNS,
    request: (flags) => ({ method: 'POST', path: pathOf(flags), body: bodyOf(flags) }),
  },
  {
    name: 'metric-rule list',
    help: 'Lists the rules of a tenant over metrics.',
    required: ['tenant'],
    optional: [],
    columns: COLUMNS,
    request: (flags) => ({ method: 'GET', path: pathOf(flags) }),
  },
  {
    name: 'metric-rule show',
    help: 'Shows a rule over metrics.',
    required: ['tenant', 'id'],
    optional: [],
    columns: COLUMNS,
    request: (flags) => ({ method: 'GET', path: pathOf(flags, idOf(flags)) }),
  },
  {
    name: 'metric-rule set',
    help: 'Changes what is named of a rule over metrics.',
    required: ['tenant', 'id'],
    optional: ['expr', ...OPTIONAL],
    columns: COLUMNS,
    request: (flags) => ({ method: 'PUT', path: pathOf(flags, idOf(flags)), body: bodyOf(flags) }),
  },
  {
    name: 'metric-rule delete',
    help: 'Deletes a rule over metrics; its alerts are resolved, and what it records ends.',
    required: ['tenant', 'id'],
    optional: [],
    columns: COLUMNS,
    request: (flags) => ({ method: 'DELETE', path: pathOf(flags, idOf(flags)) }),
  },
];
