import { LINK_NAMES } from '../cluster.ts';
import type { Proxy } from '../proxy.ts';
import type { Scenario } from '../scenario.ts';
import { delivered } from './checks.ts';
import { restore } from './until-over.ts';

/** A scenario in which all links are slow from beginning to end. */
function slowLinks(options: { readonly name: string; readonly about: string; readonly shape: Parameters<Proxy['shape']>[0] }): Scenario {
  const { name, about, shape } = options;
  return {
    name,
    about,
    links: LINK_NAMES,
    entriesPerSecond: 1000,
    sampleSeconds: 12,
    check: delivered,
    run: async ({ cluster, seconds, wait, counters }) => {
      const proxies = LINK_NAMES.map((link) => cluster.link(link));
      for (const proxy of proxies) proxy.shape(shape);
      await wait(seconds * 1000);
      await Promise.all(proxies.map(restore));
      counters.add('seconds of slow links', seconds);
    },
  };
}

export const highLatency = slowLinks({
  name: 'high-latency',
  about: 'Every byte takes 200 ± 100 ms each way, on every link.',
  shape: { delayMs: 200, jitterMs: 100 },
});

export const lowBandwidth = slowLinks({
  name: 'low-bandwidth',
  about: 'Each connection passes 1 MB/s each way, on every link.',
  shape: { bytesPerSecond: 1_000_000 },
});
