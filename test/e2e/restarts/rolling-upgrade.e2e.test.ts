import { expect } from 'chai';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isWhole } from '../../extent.ts';
import { NotHere } from '../../shippers/toolsets.ts';
import { until } from '../instance.ts';
import { earlierVersion } from './earlier-version.ts';
import { RunningCluster } from './running-cluster.ts';
import { SteadyClient } from './steady-client.ts';

/** A version that users have clusters of. */
const RELEASED = '5bd3ae9270f081515df149f09d5f538938dd58bd';
/** The order that docs/upgrade.md names. */
const ORDER = ['sink', 'processors', 'app', 'ingest'];

const root = path.resolve(import.meta.dirname, '../../..');

describe('a rolling upgrade of a cluster, under entries and searches', function () {
  this.timeout(1_800_000);

  // it starts two versions of a cluster
  (isWhole ? it : it.skip)('fails no request, and has each acknowledged entry once in both sets', async function () {
    const before = earlierVersion(RELEASED);
    if (before === null) return this.skip();
    let cluster: RunningCluster | undefined;
    try {
      cluster = await RunningCluster.start({ root: before });
      await upgraded(cluster, before);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.error(`SKIPPED: no cluster runs, since ${error.message}`);
      this.skip();
    } finally {
      await cluster?.stop();
      rmSync(before, { recursive: true, force: true });
    }
  });
});

async function upgraded(cluster: RunningCluster, before: string): Promise<void> {
  const { app, ingest, key } = cluster.instance;
  const client = new SteadyClient([ingest, ingest, app], app, key);
  const goesOn = async (): Promise<void> => {
    const [entries, searches] = [client.atOnce.length, client.searches];
    await until('requests', () => Promise.resolve(client), (now) => now.atOnce.length > entries && now.searches > searches); // prettier-ignore
    expect(client.failures).to.deep.equal([]);
  };
  try {
    await goesOn();
    // a node that starts from now on is one of this version, as where a link is set to another folder
    writeFileSync(
      path.join(before, 'main', 'start.mjs'),
      `await import(${JSON.stringify(pathToFileURL(path.join(root, 'main', 'start.mjs')).href)});\n`,
    );
    for (const role of ORDER)
      for (const node of cluster.nodes.filter(({ name }) => name.startsWith(`${role}-`))) {
        await cluster.replace(node.name, 'SIGTERM');
        await cluster.untilReady([node]);
        await goesOn();
      }
    for (const { name } of cluster.nodes)
      expect(cluster.commands(name)).to.contain(path.join(root, 'dist')).and.not.to.contain(path.join(before, 'dist'));
  } finally {
    await client.stop();
  }
  await cluster.expectOnce(client);
}
