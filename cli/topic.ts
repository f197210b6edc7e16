import type { Env } from './client.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { EXIT, outputOf, processSink, UsageError, type Sink } from './output.ts';
import { spanOf, TIMEZONE_HELP, zoneOf } from './zone.ts';

const HELP = `Usage: logweir topic read TOPIC [flags]
Prints the entries that are on a Kafka topic, one JSON object a line, each partition in the order of its records. Needs the service's own
environment, or the LOGWEIR_DATA_DIR of an instance of this machine; the service goes on meanwhile.

  --from TIME     from which append time on: -1h, 2026-11-20T10:00:00Z (default: all that Kafka still has)
  --to TIME       until when (default: all that is there now)
  --tenant N      entries of this tenant alone
${TIMEZONE_HELP}
Exit codes: 0 all was printed, 1 a record cannot be read, or Kafka does not answer, 2 wrong command line.
`;

type Request = { readonly topic: string; readonly from?: string; readonly to?: string; readonly tenant?: number };
type Lines = { lines(text: string): Promise<void>; unreadable(sentence: string): void };
/** Reads a topic of the instance that the environment means. An error of the name `UsageError` means that the flags are wrong. */
export type ReadTopic = (request: Request, env: Env, output: Lines) => Promise<void>;

/** `logweir topic`. `argv` is what follows; resolves with the exit code. */
export async function topicCommand(
  argv: readonly string[],
  read: ReadTopic,
  env: Env = process.env,
  to: Sink = processSink,
): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  let unreadable = 0;
  try {
    await read(readRequest(argv), env, {
      lines: async (text) => {
        output.data(text);
        await output.drained();
      },
      unreadable: (sentence) => {
        unreadable += 1;
        output.err(`${sentence}\n`);
      },
    });
    return unreadable === 0 ? EXIT.ok : EXIT.failed;
  } catch (error) {
    output.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return (error as Error | null)?.name === 'UsageError' ? EXIT.usage : EXIT.failed;
  }
}

function readRequest(argv: readonly string[]): Request {
  const [action, topic, ...rest] = argv;
  if (action !== 'read' || topic === undefined || topic.startsWith('-')) throw new UsageError(`Expected: read TOPIC.\n${HELP}`);
  const { tenant, timezone, ...given } = readFlags(rest, { values: ['from', 'to', 'tenant', 'timezone'] }, HELP).values;
  const span = spanOf(given, zoneOf(timezone));
  if (tenant === undefined) return { topic, ...span };
  if (!/^[1-9]\d{0,9}$/.test(tenant)) throw new UsageError(`--tenant must be a tenant id (got ${JSON.stringify(tenant)}).\n${HELP}`);
  return { topic, ...span, tenant: Number(tenant) };
}
