import { valueOf } from './figures.ts';

/** What runs a volume. Cores are those that are used at the peak; nodes have what must be free. */
export type Machines = {
  /** CPU of an entry over all processes, µs, of one replica and one set. */
  readonly micros: number;
  readonly cores: Readonly<Record<'kafka' | 'clickhouse' | Role, number>>;
  readonly processes: Readonly<Record<Role, number>>;
  readonly replicas: number;
  /** Bytes on disk, of all replicas of the log, and of the rows of a set. */
  readonly logBytes: number;
  readonly rowBytes: number;
  /** Bytes a second at the peak: into and out of all brokers, and written by ClickHouse with its merges. */
  readonly networkBytes: number;
  readonly writtenBytes: number;
  /** Servers that the rows of a set need, whole or not; a set is one server today. */
  readonly clickhouseServers: number;
  /** Nodes of all parts, of one set. */
  readonly nodes: number;
};
type Role = 'ingest' | 'app' | 'sink' | 'processors';

const ROLES = { ingest: 'ingestMicros', app: 'appMicros', sink: 'sinkMicros', processors: 'processorsMicros' } as const;
const DAY_SECONDS = 86_400;
/** The sink, the processors, and the usage of each tenant. */
const READERS = 3;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** CPU of an entry over all processes where entries come in bodies of 2,000 as fast as they are taken. */
const FULL_MICROS = sum([...Object.values(ROLES), 'kafkaMicros' as const, 'clickhouseMicros' as const].map(valueOf));
/** The rate of two cores of that. */
const FULL_RATE = 2_000_000 / FULL_MICROS;

/** CPU of an entry by rate, between what was measured: what comes slowly is in small records and blocks. */
export function microsAt(rate: number): number {
  const points = [
    [valueOf('slowRate'), valueOf('slowMicros')],
    [valueOf('mediumRate'), valueOf('mediumMicros')],
    [FULL_RATE, FULL_MICROS],
  ] as const;
  const [first] = points;
  if (rate <= first[0]) return first[1];
  for (let at = 1; at < points.length; at++) {
    const [[fromRate, from], [toRate, to]] = [points[at - 1] as readonly [number, number], points[at] as readonly [number, number]];
    if (rate <= toRate) return from * (to / from) ** (Math.log(rate / fromRate) / Math.log(toRate / fromRate));
  }
  return FULL_MICROS;
}

/** What a mean and a peak need. A volume that one node takes has one replica of the log, as `npm start` has. */
export function machinesOf({ meanRate, peakRate }: { readonly meanRate: number; readonly peakRate: number }): Machines {
  const alone = sized(meanRate, peakRate, 1);
  return alone.nodes <= 1 ? alone : sized(meanRate, peakRate, valueOf('replicas'));
}

function sized(meanRate: number, peakRate: number, replicas: number): Machines {
  const micros = microsAt(peakRate);
  const coresOf = (own: number): number => (peakRate * own * (micros / FULL_MICROS)) / 1e6;
  const roles = Object.fromEntries(Object.entries(ROLES).map(([role, figure]) => [role, coresOf(valueOf(figure))])) as Record<Role, number>;
  const followers = 1 + (replicas - 1) * valueOf('followers');
  const cores = { kafka: coresOf(valueOf('kafkaMicros')) * followers, clickhouse: coresOf(valueOf('clickhouseMicros')), ...roles };
  const processes = Object.fromEntries(Object.entries(roles).map(([role, used]) => [role, Math.max(1, Math.ceil(used / valueOf('busy')))])) as Record<Role, number>; // prettier-ignore
  const logBytes = meanRate * DAY_SECONDS * valueOf('logDays') * valueOf('logBytes') * replicas;
  const rowBytes = meanRate * DAY_SECONDS * valueOf('keptDays') * valueOf('diskBytes');
  const nodeBytes = valueOf('diskTerabytes') * 1e12 * valueOf('diskFull');
  const nodeCores = valueOf('nodeCores') * valueOf('busy');
  const clickhouseServers = Math.max(cores.clickhouse / nodeCores, rowBytes / nodeBytes);
  const all = Math.max(sum(Object.values(cores)) / nodeCores, (logBytes + rowBytes) / nodeBytes);
  return {
    ...{ micros, cores, processes, replicas, logBytes, rowBytes, clickhouseServers },
    networkBytes: peakRate * valueOf('logBytes') * (replicas + READERS),
    writtenBytes: peakRate * valueOf('diskBytes') * valueOf('mergeWrites'),
    nodes: replicas === 1 ? Math.ceil(all) : Math.max(3, Math.ceil(all)),
  };
}
