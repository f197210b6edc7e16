import { expect } from 'chai';
import { Peers } from '../../../api/admin/peers.ts';
import type { WatchedProcessor } from '../../../pipeline/core/metrics.ts';
import { get, listen, TOKEN } from '../../fakes/internal-listener.ts';

const usage: WatchedProcessor = {
  processor: 'usage',
  partition: 1,
  next: 10,
  lag: 2,
  saved: 5,
  savedAt: Infinity,
  stateBytes: 40,
  halted: null,
};

describe('/admin/processors', () => {
  it('shows what runs in every process, to whoever has the token', async () => {
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    const host = await listen('processors', { processors: () => [{ ...usage, partition: 3, halted: 'offset 4: no' }, usage] });
    peers.set([{ role: 'processors', pid: -1, port: host.server.port }]);
    const own = { process: 'processors', processor: 'usage', next: 10, lag: 2, snapshot: 5, snapshot_bytes: 40, snapshot_age: null };
    const answer = await get(`${app.url}/admin/processors`, { authorization: `Bearer ${TOKEN}` });
    expect(JSON.parse(answer.text)).to.deep.equal([
      { ...own, partition: 1, halted: null },
      { ...own, partition: 3, halted: 'offset 4: no' },
    ]);
    expect((await get(`${app.url}/admin/processors`)).status).to.equal(401);
    expect(JSON.parse((await get(`${app.url}/admin/processors?self=1`, { authorization: `Bearer ${TOKEN}` })).text)).to.deep.equal([]);
  });

  it('says in the metrics how far behind they are', async () => {
    const { metrics } = await listen('processors');
    metrics.watchProcessors(() => [usage, { ...usage, partition: 2, halted: 'x' }]);
    const text = await metrics.registry.metrics();
    for (const line of [
      'logweir_processor_lag{processor="usage",role="processors"} 4',
      'logweir_processor_halted{processor="usage",role="processors"} 1',
      'logweir_processor_state_bytes{processor="usage",role="processors"} 80',
    ])
      expect(text).to.contain(line);
  });
});
