import type { AdminCommand, Flags } from './admin-command.ts';
import { BACKUP_COMMANDS } from './backup-commands.ts';
import { METRIC_RULE_COMMANDS } from './metric-rule-commands.ts';

const DELETION_COLUMNS = ['tenant_id', 'state', 'requested_at', 'checked_at', 'log_ends_at', 'rows', 'records'];
const TENANT_COLUMNS = ['tenant_id', 'name', 'plan', 'disabled', 'payment', 'signup_at', 'flags'];
const AUDIT_COLUMNS = ['time', 'state', 'action', 'tenant_id', 'key_id', 'details', 'client', 'address', 'token', 'request_id', 'reason'];
const REJECTION_COLUMNS = ['time', 'format', 'index', 'reason', 'sample', 'request_id'];
const DEAD_LETTER_COLUMNS = [
  'time',
  'reason',
  'stage',
  'topic',
  'partition',
  'offset',
  'tenant',
  'rows',
  'bytes',
  'version',
  'stored',
  'detail',
];
const PROCESSOR_COLUMNS = ['processor', 'partition', 'process', 'next', 'lag', 'snapshot', 'snapshot_bytes', 'snapshot_age', 'halted'];
const SETTING_COLUMNS = ['processor', 'setting', 'tenant_id', 'value', 'version'];
const RULE_COLUMNS = ['id', 'tenant_id', 'name', 'query', 'every', 'if', 'for', 'severity', 'detector'];
const RULE_FLAGS = ['signal', 'record', 'every', 'name', 'severity', 'by', 'for', 'sensitivity'];
const DETECTOR_COLUMNS = ['detector', 'kind', 'version', 'sensitivity', 'state', 'since', 'reason'];
const SECRET_COLUMNS = ['id', 'key', 'tenant_id', 'scopes'];

const text = (flags: Flags, name: string): string => String(flags[name] ?? '');
const part = (flags: Flags, name: string): string => encodeURIComponent(text(flags, name));
/** The setting of how easily detectors fire. */
const SENSITIVITY_PATH = '/admin/processors/alerting/settings/sensitivity';
const settingPath = (flags: Flags): string => `/admin/processors/${part(flags, 'processor')}/settings/${part(flags, 'setting')}`;
/** The JSON value of a string, or the string where it is not valid JSON. */
function jsonOr(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
const ofTenant = (flags: Flags, rest: string): string => `/admin/tenants/${part(flags, 'tenant')}${rest}`;

function tenantVerb(verb: string, help: string): AdminCommand {
  return {
    name: `tenant ${verb}`,
    help,
    required: ['tenant'],
    optional: [],
    columns: TENANT_COLUMNS,
    request: (flags) => ({ method: 'POST', path: ofTenant(flags, `/${verb}`) }),
  };
}

/** Every admin command, one row each. */
export const ADMIN_COMMANDS: readonly AdminCommand[] = [
  {
    name: 'tenant create',
    help: 'Creates a tenant (a trial unless a plan is named) and a key of all scopes, which is shown this once.',
    required: ['name'],
    optional: ['plan', 'signup'],
    columns: ['tenant_id', 'key'],
    request: (flags) => ({
      method: 'POST',
      path: '/admin/tenants',
      body: {
        name: text(flags, 'name'),
        ...(flags['plan'] === undefined ? {} : { plan: text(flags, 'plan') }),
        ...(flags['signup'] === undefined ? {} : { signup: text(flags, 'signup') }),
      },
    }),
  },
  {
    name: 'tenant list',
    help: 'Lists all tenants.',
    required: [],
    optional: [],
    columns: TENANT_COLUMNS,
    request: () => ({ method: 'GET', path: '/admin/tenants' }),
  },
  tenantVerb('disable', 'Refuses all keys of a tenant.'),
  tenantVerb('enable', 'Enables a disabled tenant.'),
  tenantVerb('add-payment', 'Notes a payment method; a trial becomes the plan team.'),
  {
    name: 'tenant set-plan',
    help: 'Puts a tenant on a plan: trial, team, growth, custom, trial_expired, unlimited.',
    required: ['tenant', 'plan'],
    optional: [],
    columns: TENANT_COLUMNS,
    request: (flags) => ({ method: 'PUT', path: ofTenant(flags, '/plan'), body: { plan: text(flags, 'plan') } }),
  },
  {
    name: 'tenant set-flag',
    help: 'Sets a feature (metrics, replay, ai, projects), demo, shards, or a number of the plan custom; the value default takes it away.',
    required: ['tenant', 'flag', 'value'],
    optional: [],
    columns: TENANT_COLUMNS,
    request: (flags) => ({ method: 'PUT', path: ofTenant(flags, `/flags/${part(flags, 'flag')}`), body: { value: text(flags, 'value') } }),
  },
  {
    name: 'tenant delete',
    help: 'Deletes a tenant, for ever: its keys end, and all that is stored of it is deleted. Its name must be repeated.',
    required: ['tenant', 'name'],
    optional: [],
    columns: DELETION_COLUMNS,
    request: (flags) => ({ method: 'DELETE', path: ofTenant(flags, ''), body: { name: text(flags, 'name') } }),
  },
  {
    name: 'tenant deletion',
    help: 'Shows how far the deletion of a tenant is, and what was deleted: the certificate.',
    required: ['tenant'],
    optional: [],
    columns: DELETION_COLUMNS,
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, '/deletion') }),
  },
  {
    name: 'sweep',
    help: 'Moves the trials that have ended to trial_expired now, as happens every hour, and lists them.',
    required: [],
    optional: [],
    columns: TENANT_COLUMNS,
    request: () => ({ method: 'POST', path: '/admin/sweep' }),
  },
  {
    name: 'key create',
    help: 'Issues a key, shown this once; without scopes it may only read.',
    required: ['tenant'],
    optional: ['scopes', 'expires'],
    columns: SECRET_COLUMNS,
    request: (flags) => ({ method: 'POST', path: ofTenant(flags, '/keys'), body: keyBody(flags) }),
  },
  {
    name: 'key list',
    help: 'Lists the keys of a tenant, and when each was used last.',
    required: ['tenant'],
    optional: [],
    columns: ['id', 'tenant_id', 'scopes', 'created_at', 'expires_at', 'last_used'],
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, '/keys') }),
  },
  {
    name: 'key rotate',
    help: 'Gives a key a new secret; the old one is refused at once.',
    required: ['tenant', 'id'],
    optional: [],
    columns: SECRET_COLUMNS,
    request: (flags) => ({ method: 'POST', path: ofTenant(flags, `/keys/${part(flags, 'id')}/rotate`) }),
  },
  {
    name: 'key revoke',
    help: 'Revokes a key.',
    required: ['tenant', 'id'],
    optional: [],
    columns: ['id', 'tenant_id', 'scopes', 'revoked_at'],
    request: (flags) => ({ method: 'DELETE', path: ofTenant(flags, `/keys/${part(flags, 'id')}`) }),
  },
  {
    name: 'session code',
    help: 'Makes a code that signs a browser in once, within 5 minutes, with a key of the tenant (1 unless named), and the address for it.',
    required: [],
    optional: ['tenant', 'key'],
    columns: ['url', 'tenant_id', 'key_id', 'expires_at'],
    request: (flags) => ({
      method: 'POST',
      path: `/admin/tenants/${part(flags, 'tenant') || '1'}/session-codes`,
      body: flags['key'] === undefined ? {} : { key: text(flags, 'key') },
    }),
  },
  {
    name: 'usage',
    help: 'Shows the daily volume of a tenant in bytes: today and the two days before.',
    required: ['tenant'],
    optional: [],
    columns: ['tenant_id', 'day', 'bytes', 'pending_bytes', 'included', 'ceiling'],
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, '/usage') }),
  },
  {
    name: 'rejections',
    help: 'Shows the last entries of a tenant that were refused, oldest first: why, and how they began.',
    required: ['tenant'],
    optional: [],
    isNewestFirst: true,
    columns: REJECTION_COLUMNS,
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, '/rejections') }),
  },
  {
    name: 'audit-log',
    help: 'Shows the last changes that administrators made, oldest first, and what became of each.',
    required: [],
    optional: ['tenant', 'since', 'limit'],
    isNewestFirst: true,
    columns: AUDIT_COLUMNS,
    request: ({ tenant, since, limit }) => ({ method: 'GET', path: `/admin/audit-log${queryOf({ tenant, since, limit })}` }),
  },
  {
    name: 'processors',
    help: 'Shows what each processor is doing in each partition: where it is, how far behind, its last snapshot, and why it is halted.',
    required: [],
    optional: [],
    columns: PROCESSOR_COLUMNS,
    request: () => ({ method: 'GET', path: '/admin/processors' }),
  },
  {
    name: 'processor settings',
    help: 'Shows the settings of processors, for all tenants or for one.',
    required: [],
    optional: [],
    columns: SETTING_COLUMNS,
    request: () => ({ method: 'GET', path: '/admin/processors/settings' }),
  },
  {
    name: 'processor set',
    help: 'Changes a setting of a processor, for all tenants or for one. It applies to what is put on the log from then on. The value is JSON, or else a string.',
    required: ['processor', 'setting', 'value'],
    optional: ['tenant'],
    columns: SETTING_COLUMNS,
    request: (flags) => ({
      ...{ method: 'PUT', path: settingPath(flags) },
      body: { value: jsonOr(text(flags, 'value')), ...(flags['tenant'] === undefined ? {} : { tenant: Number(flags['tenant']) }) },
    }),
  },
  {
    name: 'processor unset',
    help: 'Removes a setting of a processor.',
    required: ['processor', 'setting'],
    optional: ['tenant'],
    columns: SETTING_COLUMNS,
    request: (flags) => ({ method: 'DELETE', path: `${settingPath(flags)}${queryOf({ tenant: flags['tenant'] })}` }),
  },
  {
    name: 'detector list',
    help: 'Shows all detectors: how easily they fire, of one tenant or by default, whether they are on, and why not.',
    required: [],
    optional: ['tenant'],
    columns: DETECTOR_COLUMNS,
    request: ({ tenant }) => ({ method: 'GET', path: `/admin/detectors${queryOf({ tenant })}` }),
  },
  {
    name: 'detector off',
    help: 'Switches a detector of your own off, for all tenants.',
    required: ['detector'],
    optional: ['reason'],
    columns: DETECTOR_COLUMNS,
    request: (flags) => ({
      ...{ method: 'POST', path: `/admin/detectors/${part(flags, 'detector')}/off` },
      body: flags['reason'] === undefined ? {} : { reason: text(flags, 'reason') },
    }),
  },
  {
    name: 'detector on',
    help: 'Switches it on again; it begins with nothing known.',
    required: ['detector'],
    optional: [],
    columns: DETECTOR_COLUMNS,
    request: (flags) => ({ method: 'POST', path: `/admin/detectors/${part(flags, 'detector')}/on` }),
  },
  {
    name: 'detector set',
    help: 'Sets the sensitivity of detectors, for all tenants or for one: rules in JSON, of which the first that matches counts.',
    required: ['rules'],
    optional: ['tenant'],
    columns: SETTING_COLUMNS,
    request: (flags) => ({
      ...{ method: 'PUT', path: SENSITIVITY_PATH },
      body: { value: jsonOr(text(flags, 'rules')), ...(flags['tenant'] === undefined ? {} : { tenant: Number(flags['tenant']) }) },
    }),
  },
  {
    name: 'detector unset',
    help: 'Removes the sensitivity of detectors: it is normal again, or that of all tenants.',
    required: [],
    optional: ['tenant'],
    columns: SETTING_COLUMNS,
    request: (flags) => ({ method: 'DELETE', path: `${SENSITIVITY_PATH}${queryOf({ tenant: flags['tenant'] })}` }),
  },
  {
    name: 'rule create',
    help: 'Creates a rule: a LogsQL filter and a stats function, evaluated every 1m, 5m, 15m or 1h. It fires if "value > 5", or when a detector finds something: "anomaly", or the name of one of your own; --record NAME records its values as a series.',
    required: ['tenant', 'query'],
    optional: ['if', ...RULE_FLAGS],
    columns: RULE_COLUMNS,
    request: (flags) => ({ method: 'POST', path: ofTenant(flags, '/rules'), body: ruleBody(flags) }),
  },
  {
    name: 'rule list',
    help: 'Lists the rules of a tenant.',
    required: ['tenant'],
    optional: [],
    columns: RULE_COLUMNS,
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, '/rules') }),
  },
  {
    name: 'rule show',
    help: 'Shows a rule.',
    required: ['tenant', 'id'],
    optional: [],
    columns: RULE_COLUMNS,
    request: (flags) => ({ method: 'GET', path: ofTenant(flags, `/rules/${part(flags, 'id')}`) }),
  },
  {
    name: 'rule set',
    help: 'Changes what is named of a rule.',
    required: ['tenant', 'id'],
    optional: ['query', 'if', ...RULE_FLAGS],
    columns: RULE_COLUMNS,
    request: (flags) => ({ method: 'PUT', path: ofTenant(flags, `/rules/${part(flags, 'id')}`), body: ruleBody(flags) }),
  },
  {
    name: 'rule delete',
    help: 'Deletes a rule; its alerts are resolved.',
    required: ['tenant', 'id'],
    optional: [],
    columns: RULE_COLUMNS,
    request: (flags) => ({ method: 'DELETE', path: ofTenant(flags, `/rules/${part(flags, 'id')}`) }),
  },
  ...METRIC_RULE_COMMANDS,
  ...BACKUP_COMMANDS,
  {
    name: 'dead-letter list',
    help: 'Shows the last records that could not be stored, oldest first, and whether they are stored by now.',
    required: [],
    optional: ['reason', 'from', 'limit'],
    isNewestFirst: true,
    columns: DEAD_LETTER_COLUMNS,
    request: ({ reason, from, limit }) => ({ method: 'GET', path: `/admin/dead-letters${queryOf({ reason, from, limit })}` }),
  },
  {
    name: 'dead-letter replay',
    help: 'Puts such records on their topic again; each is stored once, however often that is done. --dry-run only counts them.',
    required: ['reason', 'from'],
    optional: [],
    switches: ['dry-run'],
    columns: ['reason', 'letters', 'stored', 'to_replay', 'replayed', 'left'],
    request: (flags) => ({
      method: 'POST',
      path: '/admin/dead-letters/replay',
      body: { reason: text(flags, 'reason'), from: text(flags, 'from'), dry_run: flags['dry-run'] === true },
    }),
  },
];

/** The flags that were given, as the query of a path. */
function queryOf(flags: Flags): string {
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as [string, string]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function keyBody(flags: Flags): object {
  const { scopes, expires } = flags;
  return {
    ...(scopes === undefined
      ? {}
      : {
          scopes: String(scopes)
            .split(',')
            .map((scope) => scope.trim())
            .filter((scope) => scope !== ''),
        }),
    ...(expires === undefined ? {} : { expires: String(expires) }),
  };
}

/** The fields of a rule in the flags. */
function ruleBody(flags: Flags): object {
  const texts = ['signal', 'query', 'if', 'record', 'every', 'name', 'severity', 'sensitivity'].flatMap((name) =>
    flags[name] === undefined ? [] : [[name, text(flags, name)]],
  );
  return {
    ...(Object.fromEntries(texts) as object),
    ...(flags['for'] === undefined ? {} : { for: Number(flags['for']) }),
    ...(flags['by'] === undefined
      ? {}
      : {
          by: text(flags, 'by')
            .split(',')
            .map((field) => field.trim()),
        }),
  };
}
