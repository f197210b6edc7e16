import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTime } from '../../logsql/values/times.ts';
import { detectors } from '../../pipeline/detectors/index.ts';
import { pointDetectors } from '../../pipeline/detectors/point-series.ts';
import { alertsOf, type ReplayedAlert } from '../../pipeline/detectors/replayed.ts';
import { findTarget, TARGET_FLAGS, TARGET_HELP, type Env } from '../client.ts';
import { csvOf, csvRow } from '../csv.ts';
import { wantsHelp, readFlags } from '../flags.ts';
import { EXIT, outputOf, printable, UsageError, type Sink } from '../output.ts';
import { renderTable } from '../table.ts';
import { TIMEZONE_HELP, UTC, zoneOf, type Zone } from '../zone.ts';
import { minutesOf, readHistory, type HistoryOptions, type History } from './history.ts';
import { svgOf } from './picture.ts';
import { pngOf } from './png.ts';
import { replayOf, type Replay } from './replay.ts';

const HELP = `Usage: logweir backtest DETECTOR [flags]
Replays what is stored through a detector: one of the service's own by its name (${[...pointDetectors.names].sort().join(', ')}), or a file of yours.
Prints the alerts, and draws each series with them.

  --query LOGSQL  of which entries (default *)
  --by FIELD      a series for each value of a field (default: one of all)
  --stats CALL    what is watched, such as 'quantile(0.99, duration_ms)' (default: how many entries)
  --since TIME    from when on (default -7d)
  --until TIME    until when (default now)
  --out DIR       where to write pictures, SVG and PNG (default: backtest)
  --limit N       series at most, those with the most entries (default 20, at most 200)
  --output F      table, json or csv (default table)
${TIMEZONE_HELP}${TARGET_HELP}
Exit codes: 0 done, 1 the service cannot be reached or failed, 2 wrong command line, query or detector, 3 key refused.
`;

const MAX_SERIES = 200;

/** `logweir backtest`: what a detector would have found. */
export async function backtestCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const names = [...TARGET_FLAGS, 'query', 'by', 'stats', 'since', 'until', 'out', 'limit', 'output', 'timezone'] as const;
  const { values, positionals } = readFlags(argv, { values: names, positionals: true }, HELP);
  const [detector] = positionals;
  if (detector === undefined || positionals.length > 1) throw new UsageError(`One detector is replayed at a time.\n${HELP}`);
  const most = Number(values.limit ?? 20);
  if (!Number.isInteger(most) || most < 1 || most > MAX_SERIES)
    throw new UsageError(`--limit is an integer from 1 to ${String(MAX_SERIES)}.`);
  const format = values.output ?? 'table';
  if (!['table', 'json', 'csv'].includes(format)) throw new UsageError('--output is table, json or csv.');
  const zone = zoneOf(values.timezone);
  const [since, until] = [zone.read(values.since ?? '-7d', 'start'), zone.read(values.until ?? 'now', 'end')];
  const window = minutesOf(timeOf('since', since), timeOf('until', until));
  const options: HistoryOptions = { query: values.query ?? '*', by: values.by ?? null, stats: values.stats ?? null, ...window, most };
  const replay = await replayOf(detector);
  const target = findTarget(values, env);
  const history = await readHistory(target, options, (part) => {
    output.progress(`logweir backtest: ${String(Math.floor(part * 100))} % of the history is read`);
  });
  const folder = values.out ?? 'backtest';
  const found: { series: string; alert: ReplayedAlert; number: number }[] = [];
  for (const [index, one] of history.entries()) {
    const alerts = alertsOf(replay.run(one.points));
    found.push(...alerts.map((alert, number) => ({ series: one.name, alert, number: number + 1 })));
    await draw(path.join(folder, fileName(one.name, index)), { one, alerts, options, replay });
    output.progress(`logweir backtest: ${String(index + 1)} of ${String(history.length)} series replayed`);
  }
  output.err(`${String(found.length)} alerts in ${String(history.length)} series; pictures: ${folder}\n`);
  const rows = found.map(({ series, alert, number }) => shown(series, alert, number, format === 'json' ? UTC : zone));
  if (format === 'table') output.out(renderTable(rows, COLUMNS));
  else output.data(format === 'json' ? `${JSON.stringify(rows)}\n` : csvRow(COLUMNS) + rows.map((row) => csvOf(COLUMNS, row)).join(''));
  return EXIT.ok;
}

const COLUMNS = ['series', 'number', 'fired_at', 'resolved_at', 'side', 'value', 'expected', 'z', 'fire_count'];

type Row = Readonly<Record<string, unknown>>;

const iso = (minute: number): string => new Date(minute * 60_000).toISOString().replace(':00.000Z', 'Z');
const short = (value: number): number => Number(value.toPrecision(4));

const shown = (series: string, alert: ReplayedAlert, number: number, zone: Zone): Row => ({
  ...{ series, number, fired_at: zone.show(iso(alert.firedAt)), side: alert.side },
  resolved_at: alert.resolvedAt === null ? null : zone.show(iso(alert.resolvedAt)),
  ...{
    value: short(alert.value),
    expected: `${String(short(alert.expected.low))} to ${String(short(alert.expected.high))}`,
    z: short(alert.z),
    fire_count: alert.fireCount,
  },
});

/** A time as milliseconds since 1970. Throws UsageError. */
function timeOf(name: string, text: string): number {
  const time = readTime(text.trim(), BigInt(Date.now()) * 1_000_000n);
  if (time === null)
    throw new UsageError(`--${name} ${JSON.stringify(text)} is not a valid time: use now, a duration such as -7d, or an ISO 8601 time.`);
  return Number(time.start / 1_000_000n);
}

/** A name for files, which no value of a field can lead elsewhere. */
const fileName = (name: string, index: number): string =>
  `${String(index + 1).padStart(3, '0')}-${
    name
      .replace(/[^A-Za-z0-9._-]+/g, '_')
      .replace(/^\.+/, '')
      .slice(0, 60) || 'series'
  }`;

type Drawn = {
  readonly one: History;
  readonly alerts: readonly ReplayedAlert[];
  readonly options: HistoryOptions;
  readonly replay: Replay;
};

async function draw(file: string, { one, alerts, options, replay }: Drawn): Promise<void> {
  const { query, by, stats, from, to } = options;
  const isErrors = detectors.find(replay.name)?.counts === 'errors' && stats === null;
  const svg = svgOf({
    title: `${replay.name}: ${by === null ? 'all entries' : `${by} = ${printable(one.name)}`}`,
    subtitle: `${printable(query)} · ${iso(from)} to ${iso(to)} (UTC)`,
    unit: stats ?? (isErrors ? 'errors a minute' : 'entries a minute'),
    points: one.points,
    valueOf: ({ value, errors }) => (isErrors ? errors : value),
    alerts,
  });
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.svg`, svg);
  writeFileSync(`${file}.png`, await pngOf(svg));
}
