import { isInsertInto, isOffsetCommit, isProduceTo } from '../proxy.ts';
import type { Scenario } from '../scenario.ts';
import { delivered } from './checks.ts';
import { untilOver } from './until-over.ts';

/** Bodies of inserts that end somewhere, in the head of a row or behind one: ClickHouse must not take what came for the whole. */
export const truncatedInserts: Scenario = {
  name: 'truncated-inserts',
  about: 'The body of an insert ends after some of its bytes.',
  links: ['sink-clickhouse'],
  entriesPerSecond: 3000,
  sampleSeconds: 10,
  check: delivered,
  run: async (context) => {
    const { cluster, random, counters, wait } = context;
    const proxy = cluster.link('sink-clickhouse');
    await untilOver(context, async (signal) => {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(500)]);
      // of any order of magnitude: at this load a range has some 30 KB
      const bytes = random.below(2 ** (4 + random.below(12)));
      await proxy.truncateNextRequest(bytes, isInsertInto(random.below(20) === 0 ? 'streams' : 'logs'), patience);
      counters.add('truncated inserts', proxy.counts.truncatedRequests - counters.get('truncated inserts'));
      await wait(random.below(60));
    });
  },
};

const COUNTED = [
  ['cut', 'cut connections'],
  ['truncatedRequests', 'truncated requests'],
  ['droppedResponses', 'dropped answers'],
] as const;

/** Connections that end in the middle of anything, on every link. */
export const cutRequests: Scenario = {
  name: 'cut-requests',
  about: 'Connections are cut in the middle of produce requests, commits and inserts, and all at once, and refused for a while.',
  links: ['api-kafka', 'sink-kafka', 'api-clickhouse', 'sink-clickhouse'],
  sampleSeconds: 12,
  check: delivered,
  run: async (context) => {
    const { cluster, random, counters, wait } = context;
    const names = ['api-kafka', 'sink-kafka', 'api-clickhouse', 'sink-clickhouse'] as const;
    const links = names.map((name) => cluster.link(name));
    const seen = { cut: 0, truncatedRequests: 0, droppedResponses: 0 };
    const count = (): void => {
      for (const [kind, name] of COUNTED) {
        const now = links.reduce((sum, { counts }) => sum + counts[kind], 0);
        counters.add(name, now - seen[kind]);
        seen[kind] = now;
      }
    };
    const matches = { 'api-kafka': isProduceTo('logs.v1'), 'sink-kafka': isOffsetCommit } as const;
    await untilOver(context, async (signal) => {
      const name = random.pick(names);
      const proxy = cluster.link(name);
      const kind = random.below(10);
      if (kind < 3) proxy.cut();
      else if (kind === 3) for (const link of links) link.cut();
      else if (kind === 4) {
        await proxy.refuse(true);
        proxy.cut();
        await wait(random.below(2000));
        await proxy.refuse(false);
      } else if (name === 'api-kafka' || name === 'sink-kafka') {
        const patience = AbortSignal.any([signal, AbortSignal.timeout(3000)]);
        if (random.below(2) === 0) await proxy.dropNextResponse(matches[name], patience);
        else await proxy.truncateNextRequest(random.below(2 ** (3 + random.below(12))), matches[name], patience);
      } else proxy.cut();
      count();
      await wait(random.below(700));
    });
    await Promise.all(links.map((link) => link.refuse(false)));
    count();
  },
};
