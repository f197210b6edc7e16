import { expect } from 'chai';
import { AlertResolver } from '../../../api/alerts/resolver.ts';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { type Resolved, commandsInputOf, resolutionRecord } from '../../../pipeline/alerting/book/command.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

const FIRING: ShownAlert = {
  ...{ id: 5, detector_type: 'log_rate', stream: '{service="web"}', severity: 'warning', title: 't', description: 'd' },
  ...{ evidence: { z_score: 9 }, state: 'firing', fired_at: '2026-11-23T10:00:00Z', fire_count: 3, resolved_at: null },
  ...{ last_updated_at: '2026-11-23T10:05:00Z', resolution_note: null, incident_id: 7 },
};
const resolved = (note: string | null): ShownAlert => ({ ...FIRING, state: 'resolved', resolved_at: '2026-11-23T11:00:00Z', resolution_note: note }); // prettier-ignore

/** Resolves an alert that is read like this, one after the other, the last one for ever. */
async function resolve(
  answers: readonly ShownAlert[],
  note = '',
  mostMs = 60_000,
): Promise<{ readonly alert: ShownAlert; readonly written: AbsoluteRecord[] }> {
  const written: AbsoluteRecord[] = [];
  const write = (resolution: Pick<Resolved, 'alert' | 'note'>): Promise<void> => {
    written.push(resolutionRecord(resolution));
    return Promise.resolve();
  };
  let reads = 0;
  const read = (): Promise<ShownAlert> => Promise.resolve(answers[Math.min(reads++, answers.length - 1)] as ShownAlert);
  const alert = await new AlertResolver({ write, lookMs: 1, mostMs }).resolve({ tenantId: 9, retentionDays: 14, note, read });
  return { alert, written };
}

const inputOf = ({ value, headers }: AbsoluteRecord): ReturnType<typeof commandsInputOf> =>
  commandsInputOf(2, { value, headers, offset: '8', timestamp: '1000' } as unknown as KafkaMessage);

describe('the resolver of alerts', () => {
  it('puts a resolution among the commands of the tenant, and answers when the table has it', async () => {
    const { alert, written } = await resolve([FIRING, FIRING, FIRING, resolved('fixed')], 'fixed');
    expect(alert).to.deep.equal(resolved('fixed'));
    expect(written).to.have.length(1);
    expect(written[0]).to.include({ topic: 'alert-commands.v1', key: '9', partition: null });
    expect(inputOf(written[0] as AbsoluteRecord)).to.deep.equal({
      ...{ kind: 'commands', partition: 2, offset: 8, appendedAt: 1000, tenantId: 9, retentionDays: 14, reporter: 'user', source: null },
      commands: [
        {
          kind: 'resolved',
          note: 'fixed',
          alert: {
            ...{
              tenantId: 9,
              retentionDays: 14,
              id: 5,
              detector: 'log_rate',
              stream: '{service="web"}',
              service: 'web',
              severity: 'warning',
            },
            ...{ title: 't', description: 'd', evidence: '{"z_score":9}', state: 'firing', firedAt: 1_795_428_000, fireCount: 3 },
            ...{ updatedAt: 1_795_428_300, resolvedAt: null, note: '', incidentId: 7 },
          },
        },
      ],
    });
  });

  it('writes nothing for one that is resolved, unless a note is missing', async () => {
    for (const [is, note, writes] of [
      [resolved('a'), '', 0],
      [resolved('a'), 'b', 0],
      [resolved(null), '', 0],
      [resolved(null), 'b', 1],
    ] as const) {
      const { alert, written } = await resolve([is, resolved(is.resolution_note ?? note)], note);
      expect(written.length, `${String(is.resolution_note)} ${note}`).to.equal(writes);
      expect(alert.resolution_note).to.equal(is.resolution_note ?? (note === '' ? null : note));
    }
  });

  it('says with a 503 that a resolution is not stored in time', async () => {
    const error = await resolve([FIRING], '', 50).catch((caught: unknown) => caught as HttpError);
    expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 503 });
  });
});

describe('a resolution on alert-commands.v1', () => {
  it('of another tenant than its headers say, or that is none, is passed over as a tick', async () => {
    const { written } = await resolve([FIRING, resolved(null)]);
    const [record] = written as [AbsoluteRecord];
    const [command] = JSON.parse(record.value.toString()) as [Resolved];
    const { alert } = command;
    const wrong = [
      {},
      { alert: null },
      { alert: { ...alert, tenantId: 8 } },
      { alert: { ...alert, id: 1.5 } },
      { note: undefined },
      { kind: 'gone' },
    ];
    const texts = ['', '{}', 'null', '[null]', ...wrong.slice(1).map((members) => JSON.stringify([{ ...command, ...members }]))];
    expect(inputOf(record).kind).to.equal('commands');
    for (const text of texts) expect(inputOf({ ...record, value: Buffer.from(text) }).kind, text).to.equal('tick');
  });
});
