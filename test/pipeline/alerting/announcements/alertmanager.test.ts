import { expect } from 'chai';
import { pino } from 'pino';
import { alertRow, whyRow, type Alert, type AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { Alertmanager, type AlertmanagerOptions } from '../../../../pipeline/alerting/announcements/alertmanager.ts';
import { alert } from '../../../fakes/alerts-record.ts';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1000;
const MINUTE_MS = 60_000;

type Told = { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>>; readonly startsAt: string; readonly endsAt: string }; // prettier-ignore

const row = (more: Partial<Alert> = {}): AlertRow => alertRow(alert({ firedAt: NOW - 10, updatedAt: NOW - 10, ...more }), 7);

/** One that is told what happens, and its Alertmanager. */
function managerWith(more: Partial<AlertmanagerOptions> = {}) {
  const posted: (readonly [string, readonly Told[]])[] = [];
  const outcomes: string[] = [];
  const lines: string[] = [];
  const clock = { now: NOW_MS, status: 200 };
  const manager = new Alertmanager({
    urls: [new URL('http://user:pass@one:9093/'), new URL('http://two:9093/prefix')],
    post: (url, body) => {
      posted.push([url.href, JSON.parse(body) as Told[]]);
      return Promise.resolve(clock.status);
    },
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    firing: () => Promise.resolve([]),
    partitions: () => [0, 1],
    onOutcome: (outcome, alerts) => outcomes.push(`${outcome} ${String(alerts)}`),
    now: () => clock.now,
    ...more,
  });
  const told = (): readonly Told[] => posted.splice(0).flatMap(([url, all]) => (url.includes('one') ? all : []));
  return { manager, posted, outcomes, lines, clock, told };
}

describe('what Alertmanagers are told', () => {
  it('is what fires, at once, and again with each telling; of a cluster each is', async () => {
    const { manager, posted, told, clock, outcomes } = managerWith();
    await manager.take([row()], 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(posted.map(([url]) => url)).to.deep.equal(['http://user:pass@one:9093/api/v2/alerts', 'http://two:9093/prefix/api/v2/alerts']);
    expect(told()).to.deep.equal([
      {
        labels: {
          alertname: 'log_rate',
          tenant: '1',
          detector: 'log_rate',
          severity: 'warning',
          service: 'web',
          stream: '{service="web"}',
        },
        annotations: { summary: 'Entries of web rose', description: 'é', alert_id: '4711', fire_count: '1' },
        ...{ startsAt: new Date(NOW_MS - 10_000).toISOString(), endsAt: new Date(NOW_MS + 4 * MINUTE_MS).toISOString() },
      },
    ]);
    expect(outcomes).to.deep.equal(['sent 1', 'sent 1']);
    // another window is told with the next one; why it has come at once
    await manager.take([row({ fireCount: 2 })], 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told()).to.deep.equal([]);
    await manager.take([whyRow(row(), {}, '', 'It is the pod.')], 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told().map(({ annotations }) => annotations['description'])).to.deep.equal(['é It is the pod.']);
    clock.now += MINUTE_MS;
    await manager.publishAll();
    expect(told().map(({ annotations, endsAt }) => [annotations['fire_count'], annotations['description'], endsAt])).to.deep.equal([
      ['2', 'é It is the pod.', new Date(NOW_MS + 5 * MINUTE_MS).toISOString()],
    ]);
  });

  it('is what is resolved, at once and for fifteen minutes', async () => {
    const { manager, told, clock } = managerWith();
    await manager.take([row(), row({ state: 'resolved', resolvedAt: NOW, updatedAt: NOW })], 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told().map(({ endsAt }) => endsAt)).to.deep.equal([new Date(NOW_MS).toISOString()]);
    clock.now += 15 * MINUTE_MS;
    await manager.publishAll();
    expect(told().length).to.equal(1);
    clock.now += 1000;
    await manager.publishAll();
    expect(told()).to.deep.equal([]);
  });

  it('is what fired before this process had its partition, and nothing of a partition that it has not', async () => {
    let own = [0];
    const asked: (readonly number[])[] = [];
    const { manager, told } = managerWith({
      partitions: () => own,
      firing: (partitions) => {
        asked.push(partitions);
        return Promise.resolve(partitions.map((partition) => [partition, row({ id: 100 + partition })] as const));
      },
    });
    const ids = (): (string | undefined)[] => told().map(({ annotations }) => annotations['alert_id']);
    await manager.publishAll();
    await manager.publishAll();
    expect([ids(), asked]).to.deep.equal([['100', '100'], [[0]]]);
    own = [1];
    await manager.publishAll();
    expect([ids(), asked]).to.deep.equal([['101'], [[0], [1]]]);
  });

  it('is told again where an Alertmanager fails, which the log has once, and when it is over', async () => {
    const { manager, told, clock, lines, outcomes } = managerWith({ urls: [new URL('http://user:pass@one:9093')] });
    clock.status = 500;
    await manager.take([row()], 0);
    await manager.publishAll();
    await manager.publishAll();
    clock.status = 200;
    await manager.publishAll();
    expect(told().length).to.equal(4);
    expect(outcomes).to.deep.equal(['failed 1', 'failed 1', 'failed 1', 'sent 1']);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'The Alertmanager rejects alerts; retrying each minute.',
      'The Alertmanager accepts alerts again.',
    ]);
    expect(lines.join('')).not.to.contain('pass');
  });

  it('has bounds: a thousand of a tenant, the newest, in requests of five hundred', async () => {
    const { manager, posted } = managerWith({ urls: [new URL('http://one:9093')] });
    await manager.take(Array.from({ length: 1200 }, (_none, index) => row({ id: index + 1 })), 0); // prettier-ignore
    await manager.take([row({ id: 5000, tenantId: 2 })], 0);
    await new Promise((resolve) => setImmediate(resolve));
    posted.length = 0;
    await manager.publishAll();
    expect(posted.map(([, all]) => all.length)).to.deep.equal([500, 500, 1]);
    expect(posted[0]?.[1][0]?.annotations['alert_id']).to.equal('201');
  });
});
