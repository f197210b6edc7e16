import type { AdminAudit } from '../../api/admin/admin-audit.ts';
import type { ReplayOptions } from '../../api/replay/routes.ts';
import { REPLAY } from '../../pipeline/replay/chunk.ts';
import { ReplayWriter } from '../../pipeline/replay/replay-writer.ts';
import type { SignalPublisher } from '../../pipeline/intake/signal-publisher.ts';

const NO_ENVELOPE = { header: () => '', query: new URLSearchParams() };

/** Deletes sessions: a tombstone on the topic, where the session's events are, between two lines of the audit log. */
export function replayRemoval(publishers: ReadonlyMap<string, SignalPublisher>, audit: AdminAudit): ReplayOptions['remove'] {
  return async ({ principal, session, start, retentionDays, requestId }) => {
    const { tenantId, plan, keyId } = principal;
    const change = { action: 'replay delete', actor: {}, requestId, tenant: tenantId, key: keyId, details: { session } };
    const remove = async (): Promise<void> => {
      const publisher = publishers.get(REPLAY);
      if (publisher === undefined) throw new Error('BUG: this process has no publisher of replay.');
      publisher.admit(tenantId, plan.shards);
      const { streamsPerDay, seriesPerDay, utf8Names, shards } = plan;
      const writer = publisher.writer({
        ...{ tenantId, retentionDays, shards, streamsPerDay, seriesPerDay, utf8Names, maxRowBytes: Infinity, expectedBytes: 0 },
        ...{ receivedAt: BigInt(Date.now()) * 1_000_000n, envelope: NO_ENVELOPE },
      });
      if (!(writer instanceof ReplayWriter)) throw new Error('BUG: rows of replay have another writer.');
      writer.remove(session, start);
      await publisher.publish(writer, 0);
    };
    await audit.around(change, remove, () => ({}));
  };
}
