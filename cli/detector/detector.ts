import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commandOf, extensionIn, isTyped, quoted } from './surroundings.ts';
import { packageRoot } from '../../pipeline/core/package-root.ts';
import { detectorNameFault, MAX_STATE } from '../../pipeline/detectors/custom.ts';
import { wantsHelp, readFlags } from '../flags.ts';
import { EXIT, outputOf, printable, processSink, UsageError, type Output, type Sink } from '../output.ts';
import { detectorText, testText } from './template.ts';

const HELP = `Usage: logweir detector new NAME [--dir DIR]
       logweir detector test FILE
new writes a detector that works, and its test, to change as you like, into any folder. test holds the detectors of a file to their contract: any series,
the same whenever it is looked at, however its minutes are cut, and one series apart from the other. Needs no service.

  --dir DIR       where to write (default: detectors)

Exit codes: 0 written, or the contract holds; 1 a promise is broken, or the file cannot be used; 2 wrong command line.
`;

/** What is known of a detector that was held to its contract. */
type Held = {
  readonly name: string;
  readonly promises: readonly { readonly promise: string; readonly fault: string | null }[];
  readonly cost: { readonly largestState: number; readonly microseconds: number } | null;
};
/** Holds the detectors of a file to their contract; rejects with a sentence where the file cannot be used. */
export type HoldDetectors = (file: string) => Promise<readonly Held[]>;

/** `logweir detector`. `argv` is what follows; resolves with the exit code. */
export async function detectorCommand(argv: readonly string[], hold: HoldDetectors, to: Sink = processSink): Promise<number> {
  const output = outputOf(to, process.env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  try {
    const [verb, subject, ...rest] = argv;
    if (subject === undefined || subject.startsWith('-')) throw new UsageError(HELP);
    if (verb === 'new') return create(subject, readFlags(rest, { values: ['dir'] }, HELP).values.dir ?? 'detectors', output);
    if (verb !== 'test' || rest.length > 0) throw new UsageError(HELP);
    if (!existsSync(subject)) throw new UsageError(`There is no file ${subject}.`);
    return test(await hold(subject), output);
  } catch (error) {
    output.err(`${(error instanceof Error ? error.message : String(error)).trimEnd()}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

function create(name: string, dir: string, output: Output): number {
  const fault = detectorNameFault(name);
  if (fault !== null) throw new UsageError(fault);
  const file = `${name.replaceAll('_', '-')}.${extensionIn(dir)}`;
  const files = [
    [path.join(dir, file), detectorText(name)],
    [path.join(dir, file.replace('.', '.test.')), testText(name, file)],
  ] as const;
  const taken = files.find(([at]) => existsSync(at));
  if (taken !== undefined) throw new Error(`There is ${taken[0]} already: nothing was written.`);
  mkdirSync(dir, { recursive: true });
  for (const [at, text] of files) writeFileSync(at, text, { flag: 'wx' });
  const [[detector], [ownTest]] = files;
  output.out(`Written: ${printable(detector)} and its test. What to do next:

  ${commandOf('node')} --test ${quoted(ownTest)}
  ${commandOf('logweir')} detector test ${quoted(detector)}
  ${commandOf('logweir')} backtest ${quoted(detector)} --since -7d --by service

The service takes it with LOGWEIR_DETECTORS=${quoted(path.resolve(detector))} where it is started.
${isTyped(dir) ? '' : `Neither needs a package. For the types in an editor: npm install ${quoted(packageRoot())}\n`}`);
  return EXIT.ok;
}

function test(held: readonly Held[], output: Output): number {
  let broken = 0;
  for (const { name, promises, cost } of held) {
    output.out(`${printable(name)}\n`);
    for (const { promise, fault } of promises) {
      output.out(fault === null ? `  holds: ${promise}\n` : `  FAILS: ${promise}\n         ${printable(fault.slice(0, 600))}\n`);
      if (fault !== null) broken += 1;
    }
    if (cost !== null) output.out(`  Its largest state has ${String(cost.largestState)} of ${String(MAX_STATE)} characters; a minute takes ${cost.microseconds.toFixed(1)} µs of CPU.\n`); // prettier-ignore
  }
  output.out(broken === 0 ? 'The contract holds.\n' : `${String(broken)} of its promises ${broken === 1 ? 'is' : 'are'} broken.\n`);
  return broken === 0 ? EXIT.ok : EXIT.failed;
}
