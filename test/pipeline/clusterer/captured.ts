import { readFileSync } from 'node:fs';
import path from 'node:path';
import { canonical } from '../logs/entry-lines.ts';

const FILE = path.resolve(import.meta.dirname, '../../fixtures/clusters/captured.tsv');
/** After the last line was printed. */
const RECEIVED_AT = 1_795_651_200_000_000_000n;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' };

/** A line that a real program printed, and the statement that printed it: `runtime/library/statement`. */
export type CapturedLine = { readonly line: string; readonly statement: string };

/** The lines of `test/fixtures/clusters/captured.tsv`. */
export function capturedLines(): CapturedLine[] {
  return readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => {
      const [statement = '', line = ''] = row.split('\t');
      return { statement, line: line.replace(/\\(.)/g, (_, name: string) => ESCAPED[name] ?? name) };
    });
}

/** What was read already. */
const messages = new Map<string, string>();

/** The message of a line: that of its entry where it is JSON which has one, as shippers send it; else the line. */
export function messageOf(line: string): string {
  const known = messages.get(line) ?? readMessage(line);
  messages.set(line, known);
  return known;
}

function readMessage(line: string): string {
  if (!line.startsWith('{')) return line;
  const entry = canonical(line, { receivedAt: RECEIVED_AT });
  return typeof entry === 'string' ? line : (entry['_msg'] as string);
}

const CLF = String.raw`\S+ \S+ \S+ \[[^\]]+\] `;
/** What stands before the content in the layouts that the programs were given, by the beginning of the statement's name. */
const HEADERS: readonly (readonly [string, RegExp])[] = [
  ['node/winston-text', /^\S+ \[\w+\] /],
  ['node/winston-simple', /^\w+: /],
  ['node/morgan-combined', new RegExp(`^${CLF}`)],
  ['go/zap-console', /^\S+\t\w+\t\S+\t/],
  ['go/slog-text', /^time=\S+ level=\w+ /],
  ['go/logrus', /^time="[^"]+" level=\w+ /],
  ['go/log-file', /^\S+ \S+ \S+:\d+: /],
  ['go/log/', /^\S+ \S+ /],
  ['kubernetes/klog', /^\w\d{4} \S+ +\d+ [^ ]+\] /],
  ['java/logback-spring', /^\S+ +\w+ \d+ --- \[[^\]]+\] \S+ +: /],
  ['java/logback-default', /^\S+ \[\w+\] \w+ +\S+ - /],
  ['java/log4j-text', /^\[[^\]]+\] \w+ /],
  ['java/jul', /^\S+ \w+ \[[^\]]+\] /],
  ['python/logging-basic', /^\w+:[\w.]+:/],
  ['python/logging', /^\S+ \S+ - \S+ - \w+ - /],
  ['python/structlog-keyvalue', /^timestamp='[^']+' level='\w+' /],
  ['python/loguru', /^\S+ \S+ \| \w+ +\| \S+ - /],
  ['python/uvicorn', /^\w+: +/],
  ['python/gunicorn', new RegExp(String.raw`^(?:\[[^\]]+\] \[\d+\] \[\w+\] |${CLF})`)],
  ['nginx/error', /^\S+ \S+ \[\w+\] \d+#\d+: (?:\*\d+ )?/],
  ['nginx/combined', new RegExp(`^${CLF}`)],
  ['servers/redis', /^\d+:\w \d+ \w+ \d+ \S+ . /],
  ['servers/postgres', /^\S+ \S+ UTC \[\d+\] (?:\S+@\S+ )?[A-Z]+: {2}/],
  ['servers/kafka', /^\[[^\]]+\] \w+ /],
  ['servers/clickhouse', /^[\d.]+ \S+ \[ \d+ \] \{[^}]*\} <\w+> .*?: (?!:)/],
];

/** The same without the header of a raw line, by the layout that the program was given. */
export function contentOf({ line, statement }: CapturedLine): string {
  const [, header] = HEADERS.find(([name]) => statement.startsWith(name)) ?? [];
  const message = messageOf(line);
  return header === undefined ? message : message.replace(header, '');
}
