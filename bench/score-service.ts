/**
 * `npm run -s score:service -- RATES.csv ALERTS.csv [--streams A,B] [--services N] [--days D] [--entries N]`: what `score:rates` does, by the whole service:
 * JSON entries through the writer of requests, encoded records of four partitions of the log at append times that are given, the processor `rates`, partials,
 * the merger `alerting`, and the rows that it tells; late entries among them (late_<seed>.csv beside rates_<seed>.csv), and begun again from snapshots each
 * hour. Seven streams, one of each kind, without `--streams` (`all`: each). `--services N`: streams are hosts of so many services, whose own alerts are told apart.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { AlertRow } from '../pipeline/alerting/book/alert.ts';
import { parseStream } from '../pipeline/core/labels.ts';
import { arrivalsOf, START, streamsOf, type Arrived } from './service/arrivals.ts';
import { ServiceWorld } from './service/service-world.ts';

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    streams: { type: 'string' },
    services: { type: 'string' },
    days: { type: 'string', default: '10' },
    entries: { type: 'string', default: '5000000' },
  },
});
const [rates = '', alerts = ''] = positionals;
if (positionals.length !== 2) throw new Error('It takes two files: RATES.csv ALERTS.csv');
const MINUTE_MS = 60_000;
/** Appends in a minute, of each partition. */
const PARTS = 4;
/** Minutes between two restarts. */
const RESTART = 60;

const names = streamsOf(rates);
const firstOfKind = names.filter((name, index) => names.findIndex((one) => kindOf(one) === kindOf(name)) === index);
const streams = flags.streams === 'all' ? names : (flags.streams?.split(',') ?? firstOfKind);
const late = path.join(path.dirname(rates), path.basename(rates).replace('rates_', 'late_'));
const came = arrivalsOf(rates, late, streams, { most: Number(flags.entries), minutes: Number(flags.days) * 1440 });

function kindOf(stream: string): string {
  return stream.slice(0, stream.lastIndexOf('-'));
}

/** The labels of a stream of the file. */
const labelsOf = (stream: string): Record<string, string> =>
  flags.services === undefined
    ? { service: stream }
    : { service: `s${String(names.indexOf(stream) % Number(flags.services))}`, host: stream };

/** The entries of a part of a minute of append time. */
function entriesOf(arrived: readonly Arrived[], part: number): object[] {
  return arrived.flatMap(({ stream, minute, count }) => {
    const [from, to] = [Math.floor((count * part) / PARTS), Math.floor((count * (part + 1)) / PARTS)];
    return Array.from({ length: to - from }, (_none, index) => ({
      _time: new Date((START + minute) * MINUTE_MS + Math.floor(((from + index) * MINUTE_MS) / count)).toISOString(),
      _msg: `request ${String(from + index)} served in ${String(5 + ((index * 37) % 90))} ms`,
      level: 'info',
      ...labelsOf(stream),
    }));
  });
}

const began = process.cpuUsage();
const world = new ServiceWorld();
came.arrivals.forEach((arrived, minute) => {
  for (let part = 0; part < PARTS; part++) {
    const at = (START + minute) * MINUTE_MS + Math.floor(((part + 1) * MINUTE_MS) / PARTS) - 1;
    const entries = entriesOf(arrived, part);
    if (entries.length > 0) world.send(entries, at);
    world.tick(at);
  }
  if (minute % RESTART === RESTART - 1) world.restart();
});

/** The last minute whose counts an alert that fires has used. */
const usedOf = ({ evidence }: AlertRow): number => {
  const { window } = JSON.parse(evidence) as { readonly window: { readonly end: string } };
  return Date.parse(window.end) / MINUTE_MS - 1 - START;
};
const first = new Map<number, AlertRow>();
const last = new Map<number, AlertRow>();
for (const row of world.rows) {
  if (!first.has(row.id)) first.set(row.id, row);
  last.set(row.id, row);
}
const out = ['stream,fired,resolved'];
const ofServices = ['service,detector,fired,resolved'];
for (const [id, row] of first) {
  const labels = parseStream(row.stream);
  const stream = flags.services === undefined ? labels.get('service') : labels.get('host');
  const resolvedAt = last.get(id)?.resolvedAt ?? 0;
  const times = [usedOf(row), resolvedAt === 0 ? '' : Math.floor(resolvedAt / 60) - START];
  if (stream !== undefined) out.push([stream, ...times].join(','));
  else ofServices.push([labels.get('service'), row.detector, ...times].join(','));
}
writeFileSync(alerts, `${out.join('\n')}\n`);
if (flags.services !== undefined) writeFileSync(`${alerts}.services`, `${ofServices.join('\n')}\n`);
const { user, system } = process.cpuUsage(began);
process.stderr.write(
  `${String(streams.length)} streams (${streams.slice(0, 7).join(', ')}${streams.length > 7 ? ', …' : ''}), ${String(came.entries)} entries (${(100 * came.share).toFixed(1)} % of all), ${String(came.late)} of them late; ` +
    `${String(out.length - 1)} alerts of streams, ${String(ofServices.length - 1)} of services; ${String(Math.round(world.snapshotBytes / streams.length))} bytes of state a stream; ${((user + system) / 1e6).toFixed(0)} s of CPU\n`,
);
