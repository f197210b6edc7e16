import { UsageError } from './output.ts';

/** The flags that a command takes: `values` have one, `switches` have none. */
type Names<Value extends string, Switch extends string> = { readonly values: readonly Value[]; readonly switches?: readonly Switch[] };

/**
 * Reads `--name value`, `--name=value` and `--switch`; of a flag that is there twice the last counts. Values may begin with a dash
 * (`--from -1h`), which `parseArgs` of Node does not take. Throws UsageError, with the command's help, where the command line is wrong.
 */
export function readFlags<Value extends string, Switch extends string = never>(
  argv: readonly string[],
  { values, switches = [] }: Names<Value, Switch>,
  help: string,
): { readonly values: { readonly [name in Value]?: string }; readonly switches: ReadonlySet<Switch> } {
  const found: { [name in Value]?: string } = {};
  const set = new Set<Switch>();
  for (let at = 0; at < argv.length; at++) {
    const [, name = '', value] = /^--([a-z]+)(?:=([^]*))?$/.exec(argv[at] ?? '') ?? [];
    const flag = values.find((known) => known === name);
    const alone = switches.find((known) => known === name);
    if (flag !== undefined) {
      const given = value ?? argv[++at];
      if (given === undefined) throw new UsageError(`The flag --${name} needs a value.\n${help}`);
      found[flag] = given;
    } else if (alone !== undefined && value === undefined) set.add(alone);
    else throw new UsageError(`Unknown argument ${JSON.stringify(argv[at])}.\n${help}`);
  }
  return { values: found, switches: set };
}
