import { UsageError } from './output.ts';

/** The flags that a command takes: `values` have one, `switches` have none; and whether it takes other arguments too. */
type Names<Value extends string, Switch extends string> = {
  readonly values: readonly Value[];
  readonly switches?: readonly Switch[];
  readonly positionals?: boolean;
};

/** The flags and arguments of a command line. */
export type ReadFlags<Value extends string, Switch extends string> = {
  readonly values: { readonly [name in Value]?: string };
  readonly switches: ReadonlySet<Switch>;
  readonly positionals: readonly string[];
};

/**
 * Reads `--name value`, `--name=value` and `--switch`; of a flag that is there twice the last counts. Values and other arguments may begin with a
 * dash (`--from -1h`, `-level:info`), which `parseArgs` of Node does not take; one that begins with two needs `=`, or stands behind `--`. Throws
 * UsageError, with the command's help, where the command line is wrong.
 */
export function readFlags<Value extends string, Switch extends string = never>(
  argv: readonly string[],
  { values, switches = [], positionals: takesOthers = false }: Names<Value, Switch>,
  help: string,
): ReadFlags<Value, Switch> {
  const found: { [name in Value]?: string } = {};
  const set = new Set<Switch>();
  const positionals: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const arg = argv[at] ?? '';
    const [, name = '', value] = /^--([a-z-]+)(?:=([^]*))?$/.exec(arg) ?? [];
    const flag = values.find((known) => known === name);
    const alone = switches.find((known) => known === name);
    if (flag !== undefined) {
      const given = value ?? argv[++at];
      if (given === undefined || (value === undefined && given.startsWith('--')))
        throw new UsageError(`The flag --${name} needs a value.\n${help}`);
      found[flag] = given;
    } else if (alone !== undefined) {
      if (value !== undefined) throw new UsageError(`The flag --${name} takes no value (got ${JSON.stringify(value)}).\n${help}`);
      set.add(alone);
    } else if (takesOthers && arg === '--') {
      positionals.push(...argv.slice(at + 1));
      break;
    } else if (takesOthers && !arg.startsWith('--')) positionals.push(arg);
    else throw new UsageError(`Unknown argument ${JSON.stringify(arg)}.\n${help}`);
  }
  return { values: found, switches: set, positionals };
}

/** True where the command's help is requested. */
export const wantsHelp = (argv: readonly string[]): boolean => argv.includes('--help') || argv.includes('-h');
