import { parse, YAMLParseError } from 'yaml';
import { UsageError } from './output.ts';

type Texts = Readonly<Record<string, string>>;

/** A rule over metrics as the service takes it. */
export type FileRule = {
  readonly group: string;
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly interval: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
};

const GROUP = ['name', 'interval', 'limit', 'query_offset', 'labels', 'rules'];
const RULE = ['alert', 'record', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations'];
/** Aliases of a file that are followed, so that a few lines do not become gigabytes. */
const MAX_ALIASES = 100;

type Mapping = Readonly<Record<string, unknown>>;

/**
 * Reads a rule file of Prometheus (https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/). `interval`: of groups that have
 * none. Throws UsageError with what is wrong, and where.
 */
export function readRuleFile(text: string, interval: string): FileRule[] {
  const file = mapping(parsed(text), 'A rule file', ['groups']);
  const groups = listOf(file['groups'], 'groups');
  const names = groups.map((group, index) => nameOf(group, `groups[${String(index)}]`));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`groupname: ${JSON.stringify(twice)} is repeated in the same file.`);
  return groups.flatMap((group, index) => rulesOf(group as Mapping, names[index] ?? '', interval));
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES, prettyErrors: true });
  } catch (error) {
    if (error instanceof YAMLParseError || error instanceof ReferenceError) throw new UsageError(`The file is not YAML: ${error.message}`);
    throw error;
  }
}

function mapping(value: unknown, what: string, known: readonly string[]): Mapping {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(`${what} is a mapping.`);
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other !== undefined) throw new UsageError(`${what} has the unknown member ${JSON.stringify(other)}; known are ${known.join(', ')}.`);
  return value as Mapping;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UsageError(`${what} is a list.`);
  return value;
}

function nameOf(group: unknown, what: string): string {
  const { name } = mapping(group, what, GROUP);
  if (typeof name !== 'string' || name === '') throw new UsageError(`${what} has no name.`);
  return name;
}

function rulesOf(group: Mapping, name: string, usual: string): FileRule[] {
  const shared = textsOf(group['labels'], `The labels of the group ${name}`) ?? {};
  return listOf(group['rules'], `rules of the group ${name}`).map((one, index) => {
    const what = `Rule ${String(index + 1)} of the group ${name}`;
    const rule = mapping(one, what, RULE);
    const labels = { ...shared, ...textsOf(rule['labels'], `${what}: labels`) };
    const annotations = textsOf(rule['annotations'], `${what}: annotations`);
    const text = (member: string): Partial<FileRule> => (rule[member] === undefined ? {} : { [member]: scalar(rule[member], `${what}: ${member}`) }); // prettier-ignore
    if ((rule['alert'] === undefined) === (rule['record'] === undefined)) throw new UsageError(`${what} has either "alert" or "record".`);
    return {
      group: name,
      ...{ ...text('alert'), ...text('record') },
      expr: scalar(rule['expr'], `${what}: expr`),
      interval: group['interval'] === undefined ? usual : scalar(group['interval'], `The interval of the group ${name}`),
      ...{ ...text('for'), ...text('keep_firing_for') },
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
  });
}

/** A string, or a number or boolean as it is written. */
function scalar(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new UsageError(`${what} is a string.`);
}

function textsOf(value: unknown, what: string): Texts | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new UsageError(`${what} are a mapping of strings.`);
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, scalar(text, `${what}: ${name}`)]));
}
