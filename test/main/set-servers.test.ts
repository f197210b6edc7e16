import { expect } from 'chai';
import { pino } from 'pino';
import { claimServer } from '../../api/control/set-servers.ts';
import { assertServers, idsOf, ServersWatch, type SetServers } from '../../main/roles/set-servers.ts';
import { until } from '../e2e/instance.ts';
import { FakeControlTopic } from '../fakes/control-log.ts';
import { controlNode } from '../fakes/control-node.ts';

describe('the servers of a set that sinks write', () => {
  /** The id that the server has; null: it does not answer. */
  let id: string | null;
  let looks = 0;
  let servers: SetServers;
  beforeEach(async () => {
    const { store: control } = await controlNode(new FakeControlTopic());
    await claimServer(control, 'b', 'x');
    [id, looks] = ['x', 0];
    const store = {
      database: 'd',
      ownerRows: () => {
        looks += 1;
        return id === null ? Promise.reject(new Error('no answer')) : Promise.resolve(id === '' ? [] : ([[id]] as never));
      },
    };
    servers = { set: { name: 'b', shards: [{} as never] }, stores: [store], control };
  });
  const refusal = (step: Promise<unknown>): Promise<string> => step.then(() => '', (error: unknown) => (error as Error).message); // prettier-ignore

  it('are looked at before anything is stored: others are refused, and so is what is not known yet', async () => {
    expect(await refusal(assertServers(servers))).to.equal('');
    id = '';
    expect(await refusal(assertServers(servers))).to.match(/^it is in another server than the one that its rows were stored in/);
    id = null;
    expect(await refusal(assertServers(servers))).to.equal('no answer');
    const control = { ready: false, record: () => undefined, allRecords: () => [].values() as never };
    expect(await refusal(assertServers({ ...servers, control }))).to.match(/^it waits for the control topic/);
    const used = { ...servers.control, ready: true, record: () => ({ partitions: [0, 1], servers: ['x', 'y'] }) as never, allRecords: control.allRecords }; // prettier-ignore
    expect(await refusal(assertServers({ ...servers, control: used }))).to.equal('it has partitions in its shard 2, and the file names 1');
  });

  it('have ids only while they have their tables', async () => {
    expect(await idsOf(servers.stores)).to.deep.equal(['x']);
    id = '';
    expect(await idsOf(servers.stores).catch((error: unknown) => (error as { status?: number }).status)).to.equal(503);
  });

  it('are looked at while sinks run: these end where they are others, not where they do not answer', async () => {
    const faults: string[] = [];
    const watch = new ServersWatch({ servers, log: pino({ level: 'silent' }), everyMs: 1, onFault: ({ message }) => faults.push(message) });
    await watch.start();
    const lookedAt = (): Promise<number> => {
      const before = looks;
      return until('two looks', () => Promise.resolve(looks), (now) => now > before + 1); // prettier-ignore
    };
    await lookedAt();
    id = null;
    await lookedAt();
    expect(faults).to.deep.equal([]);
    id = 'y';
    await until(
      'the fault',
      () => Promise.resolve(faults),
      (all) => all.length > 0,
    );
    expect(faults[0]).to.match(/^The sinks of the set b end: it is in another server .*\.$/);
    await watch.stop();
  });
});
