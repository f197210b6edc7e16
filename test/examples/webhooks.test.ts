import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { shownAlert } from '../../pipeline/alerting/book/shown-alert.ts';
import { Addresses } from '../../pipeline/alerting/announcements/addresses.ts';
import { webhookSender } from '../../pipeline/alerting/announcements/webhook-sender.ts';
import { webhookSecret } from '../../pipeline/alerting/announcements/webhook.ts';
import { alert } from '../fakes/alerts-record.ts';
import { webhook } from '../fakes/deliveries.ts';

const EXAMPLE: string = '../../examples/webhooks/receiver.mjs';
type Example = { readonly receiver: (secret: string, onAlert: (notification: { readonly type: string }) => void) => Server };

describe('examples/webhooks', () => {
  it('takes what is signed, and nothing else', async () => {
    const { receiver } = (await import(EXAMPLE)) as Example;
    const told: string[] = [];
    const server = receiver(webhookSecret('a pepper', webhook()), ({ type }) => told.push(type));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const own = webhook({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/` });
    const notification = { deliveryId: 'dl_a', tenantId: 1, type: 'fired', alert: shownAlert(alert(), null) } as const;
    const as = (pepper: string, now = Date.now): Promise<number> =>
      webhookSender({ addresses: new Addresses(['127.0.0.0/8']), pepper, now, timeoutMs: 10_000 })(own, notification);
    expect([await as('a pepper'), await as('another'), await as('a pepper', () => Date.now() - 600_000)]).to.deep.equal([204, 401, 401]);
    expect(told).to.deep.equal(['fired']);
    server.close();
  });

  it('stands in docs/notifications.md as it is', () => {
    const root = path.resolve(import.meta.dirname, '../..');
    const [code = ''] = /\/\*\* Whether[\s\S]*?\n}\n/.exec(readFileSync(path.join(root, 'examples/webhooks/receiver.mjs'), 'utf8')) ?? [];
    expect(code).not.to.equal('');
    expect(readFileSync(path.join(root, 'docs/notifications.md'), 'utf8')).to.contain(code);
  });
});
