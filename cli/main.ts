import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../pipeline/core/package-root.ts';
import { keysCommand, playbooksCommand, projectsCommand, savedCommand } from './account.ts';
import { mcpCommand } from './mcp.ts';
import { adminCommand } from './admin.ts';
import { exitCodeOf, type Env } from './client.ts';
import { backtestCommand } from './backtest/backtest.ts';
import { demoCommand } from './demo.ts';
import { EXIT, outputOf, processSink, type Output, type Sink } from './output.ts';
import { queryCommand } from './query.ts';
import { replayCommand } from './replay.ts';
import { patternsCommand } from './patterns.ts';
import { spansCommand } from './spans.ts';
import { rulesCommand } from './rules.ts';
import { tailCommand } from './tail.ts';
import { usageCommand } from './usage.ts';
import { traceCommand } from './trace.ts';
import { alertsCommand } from './alerts.ts';

type Command = {
  readonly name: string;
  readonly summary: string;
  readonly run: (argv: readonly string[], env: Env, output: Output) => Promise<number>;
};

/** Every command, in the order of the help. `ps` and `processor`, which need no build, and `audit`, `topic` and `detector`, which need more than a service's address, are answered by the launcher. */
export const commands: readonly Command[] = [
  { name: 'query', summary: "search: logweir query '<LogsQL>'", run: queryCommand },
  {
    name: 'tail',
    summary: "what matches, as it arrives: logweir tail '<LogsQL>'",
    run: (argv, env, output) => tailCommand(argv, env, output),
  },
  { name: 'spans', summary: "search spans: logweir spans '<LogsQL>'", run: spansCommand },
  { name: 'trace', summary: 'the spans of a trace as a tree: logweir trace ID', run: traceCommand },
  { name: 'replay', summary: 'sessions that were recorded: logweir replay list', run: replayCommand },
  { name: 'alerts', summary: 'the alerts, and with --follow what comes', run: (argv, env, output) => alertsCommand(argv, env, output) },
  { name: 'rules', summary: 'rules over metrics: logweir rules import FILE', run: rulesCommand },
  { name: 'patterns', summary: 'what messages have in common, and how often they came', run: patternsCommand },
  { name: 'saved', summary: 'saved searches: logweir saved list', run: savedCommand },
  { name: 'keys', summary: 'API keys of the tenant: logweir keys create', run: keysCommand },
  { name: 'projects', summary: 'parts of the tenant, to which keys are narrowed', run: projectsCommand },
  { name: 'playbooks', summary: 'what the team does about alerts: logweir playbooks list', run: playbooksCommand },
  { name: 'usage', summary: 'what the tenant uses, its limits, and what was refused', run: usageCommand },
  { name: 'mcp', summary: 'an MCP server on standard input and output, for AI assistants', run: mcpCommand },
  { name: 'backtest', summary: 'replay what is stored through a detector', run: backtestCommand },
  { name: 'demo', summary: 'send the logs of a made-up shop', run: demoCommand },
  { name: 'admin', summary: 'tenants and keys', run: (argv, env, output) => adminCommand(argv, env, output) },
];

const HELP = `Usage: logweir <command> [flags]

${commands.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}`).join('\n')}
  ps        the processes of the instance on LOGWEIR_DATA_DIR (--json)
  audit     compare what is on Kafka with what is stored
  topic     print the entries that are on a Kafka topic
  processor hold a processor of yours to its contract
  detector  write a detector, or hold one of yours to its contract

logweir <command> --help has more, of admin commands too (logweir admin key create --help); logweir --version prints the version.
`;

function version(): string {
  const { version: own } = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8')) as { readonly version: string };
  return own;
}

/** Runs the command that `argv` names (without node and the script); resolves with the exit code. */
export async function main(argv: readonly string[], env: Env = process.env, to: Sink = processSink): Promise<number> {
  const output = outputOf(to, env);
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-v') {
    output.out(`${version()}\n`);
    return EXIT.ok;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    output.out(HELP);
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    output.err(`There is no command ${JSON.stringify(name)}.\n${HELP}`);
    return EXIT.usage;
  }
  try {
    return await command.run(rest, env, output);
  } catch (error) {
    output.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodeOf(error);
  }
}
