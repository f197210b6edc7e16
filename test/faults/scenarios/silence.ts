import type { LinkName } from '../cluster.ts';
import type { Proxy } from '../proxy.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { restore, untilOver } from './until-over.ts';

const LONGEST_MS = 60_000;
const SHORTEST_MS = 4000;
const PAUSE_MS = 12_000;

/** How long a silence lasts: 60 s, where the run has the time for it. */
const lasting = ({ seconds }: ScenarioContext, pauseMs: number): number =>
  Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (seconds * 1000) / 2 - pauseMs));

/** A scenario in which links fall silent for a minute while their connections stay. */
function silence(options: {
  readonly name: string;
  readonly about: string;
  readonly links: readonly LinkName[];
  readonly fall: (proxy: Proxy, isSilent: boolean) => void;
  readonly sampleSeconds: number;
  readonly check?: NonNullable<Scenario['check']>;
  /** How long the service may take to recover, before links fall silent again. */ readonly pauseMs?: number;
}): Scenario {
  const { name, about, links, fall, sampleSeconds, check = slowRefusals, pauseMs = PAUSE_MS } = options;
  return {
    name,
    about,
    links,
    sampleSeconds,
    run: async (context) => {
      const { cluster, counters, wait, log } = context;
      const proxies = links.map((link) => cluster.link(link));
      try {
        await untilOver(context, async () => {
          const ms = lasting(context, pauseMs);
          log(`${links.join(' and ')} silent for ${ms / 1000} s`);
          for (const proxy of proxies) fall(proxy, true);
          await wait(ms);
          for (const proxy of proxies) fall(proxy, false);
          counters.add('silences');
          await wait(pauseMs);
        });
      } finally {
        await Promise.all(proxies.map(restore));
      }
    },
    check,
  };
}

const blackHole = (proxy: Proxy, on: boolean): void => proxy.blackHole(on);
const hold = (proxy: Proxy, on: boolean): void => proxy.hold(on);

/** Bytes vanish; when it is over, connections are reset. */
export const blackHoleKafka = silence({
  name: 'black-hole-kafka',
  about: 'All that goes to and from Kafka vanishes for a minute; connections stay, and are reset in the end.',
  links: ['api-kafka', 'sink-kafka'],
  sampleSeconds: 12,
  fall: blackHole,
});
export const blackHoleClickHouse = silence({
  name: 'black-hole-clickhouse',
  about: 'All that goes to and from ClickHouse vanishes for a minute; connections stay, and are reset in the end.',
  links: ['api-clickhouse', 'sink-clickhouse'],
  sampleSeconds: 20,
  check: allChecks(slowRefusals, delivered),
  fall: blackHole,
});

/** Nothing tells either side that a connection is gone: only time does. */
export const deadConnections = silence({
  name: 'dead-connections',
  about: 'All that goes to and from Kafka vanishes for a minute; connections that lost something stay open and dead for ever.',
  links: ['api-kafka', 'sink-kafka'],
  sampleSeconds: 60,
  fall: (proxy, on) => proxy.blackHole(on, 'dead'),
  // a connection is given up after 40 s of silence (pipeline/bus/connection/kafka-socket.ts)
  pauseMs: 50_000,
});

/** Bytes come late, as after a partition of the network: requests that were given up long ago are executed. */
export const lateKafka = silence({
  name: 'late-kafka',
  about: 'All that goes to and from Kafka arrives a minute late, also what its sender has given up.',
  links: ['api-kafka', 'sink-kafka'],
  sampleSeconds: 20,
  fall: hold,
});
export const lateClickHouse = silence({
  name: 'late-clickhouse',
  about: 'All that goes to and from ClickHouse arrives a minute late, also what its sender has given up.',
  links: ['api-clickhouse', 'sink-clickhouse'],
  sampleSeconds: 12,
  check: allChecks(slowRefusals, delivered),
  fall: hold,
});
