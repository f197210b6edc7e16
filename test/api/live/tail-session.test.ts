import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import type { LiveHub, TailListener } from '../../../api/live/live-hub.ts';
import { LogPlace, type LogVector } from '../../../api/live/place/log-place.ts';
import type { Backfill } from '../../../api/live/operations.ts';
import type { Control, Outlet } from '../../../api/live/outlet.ts';
import { positionText } from '../../../api/live/place/tail-position.ts';
import { TailSession, type TailDeps, type TailRequest } from '../../../api/live/tail-session.ts';
import type { QueryContext } from '../../../api/query/runtime.ts';

const BEGIN: LogVector = [[50, 0]];

/** A session whose log begins at 50; what is stored is said by the test. */
class World {
  stored = 0;
  readonly events: string[] = [];
  readonly controls: Control[] = [];
  listener: TailListener | null = null;
  readonly #deps: TailDeps = {
    hub: {
      open: (_open: unknown, listener: TailListener) => {
        this.listener = listener;
        return { begin: Promise.resolve(BEGIN), close: () => undefined };
      },
    } as unknown as LiveHub,
    runtime: {
      run: (_context: unknown, operation: string, parameters: Backfill) => {
        if (operation === 'live/open') return Promise.resolve({ body: JSON.stringify({ values: [], start: '7' }) });
        this.events.push(
          `${JSON.stringify(parameters.from)} to ${JSON.stringify(parameters.until)}, ${String(parameters.skip)} passed over; stored ${String(this.stored)}`,
        );
        return Promise.resolve({ stream: [] });
      },
    } as unknown as TailDeps['runtime'],
    stored: {
      wait: async (place: LogPlace) => {
        while (!place.isWithin([this.stored])) await turn();
      },
    } as unknown as TailDeps['stored'],
    unsent: { mostOfOne: () => Infinity } as unknown as TailDeps['unsent'],
    onSent: () => undefined,
    onDropped: () => undefined,
  };
  readonly outlet: Outlet = { unsent: 0, entry: () => undefined, control: (one) => this.controls.push(one), close: () => undefined };
  readonly session = new TailSession(
    this.#deps,
    { principal: { tenantId: 1, plan: { retentionDays: 0 } }, signal: new AbortController().signal } as unknown as QueryContext,
    this.outlet,
  );

  async open(request: Partial<TailRequest>): Promise<void> {
    await this.session.open({ query: '*', ...request });
  }

  async untilBackfilled(count: number): Promise<void> {
    while (this.controls.filter(({ type }) => type === 'backfill').length < count) await turn();
    this.session.end();
  }
}

/** Waits for some turns of the event loop, in which nothing may happen. */
async function some(): Promise<void> {
  for (let left = 0; left < 20; left++) await turn();
}

describe('a session of a tail', () => {
  it('gives what is stored when all before its beginning is', async () => {
    const world = new World();
    await world.open({ since: '-5m' });
    await some();
    expect(world.events).to.deep.equal([]);
    world.stored = 50;
    await world.untilBackfilled(1);
    expect(world.events).to.deep.equal(['null to [[50,0]], 0 passed over; stored 50']);
  });

  it('goes on among stored entries when all of them are stored: what was given is counted among the same ones', async () => {
    const world = new World();
    const phase = { start: '7', from: null, until: new LogPlace([[20, 0]]), given: 3 };
    world.stored = 15;
    await world.open({ resume: positionText({ phase }) });
    await some();
    expect(world.events).to.deep.equal([]);
    world.stored = 20;
    while (world.events.length === 0) await turn();
    await some();
    expect(world.events).to.deep.equal(['null to [[20,0]], 3 passed over; stored 20']);
    world.stored = 50;
    await world.untilBackfilled(2);
    expect(world.events.slice(1)).to.deep.equal(['[[20,0]] to [[50,0]], 0 passed over; stored 50']);
  });

  it('goes on where the log ends when that has lost what it was told', async () => {
    const world = new World();
    world.stored = 50;
    await world.open({ resume: positionText({ phase: { start: null, from: null, until: new LogPlace([[80, 0]]), given: 0 } }) });
    await world.untilBackfilled(2);
    expect(world.events.map((event) => event.split(',')[0])).to.deep.equal(['null to [[50', '[[50']);
  });
});
