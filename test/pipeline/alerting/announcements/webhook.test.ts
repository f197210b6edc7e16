import { expect } from 'chai';
import { alertRow, whyRow, type Alert, type AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { shownAlert } from '../../../../pipeline/alerting/book/shown-alert.ts';
import { Addresses } from '../../../../pipeline/alerting/announcements/addresses.ts';
import { bodyOf } from '../../../../pipeline/alerting/announcements/webhook-body.ts';
import { eventOf, urlFault, wants, webhookSecret } from '../../../../pipeline/alerting/announcements/webhook.ts';
import { alert } from '../../../fakes/alerts-record.ts';
import { webhook } from '../../../fakes/deliveries.ts';

const AT = 1_800_000_000;
const opened = (seconds: number): string => JSON.stringify({ opened_at: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') });
const row = (more: Partial<Alert> = {}): AlertRow => alertRow(alert({ firedAt: AT, updatedAt: AT, evidence: opened(AT), ...more }), 1);

describe('what a webhook is told', () => {
  const cases: [string, AlertRow, string | null][] = [
    ['an alert that fires', row(), 'fired'],
    ['its next window', row({ updatedAt: AT + 10, fireCount: 2 }), null],
    ['one that fires again', row({ updatedAt: AT + 900, fireCount: 3, evidence: opened(AT + 900) }), 'fired'],
    ['one that is resolved', row({ state: 'resolved', updatedAt: AT + 600, resolvedAt: AT + 600 }), 'resolved'],
    ['a note on one that was', row({ state: 'resolved', updatedAt: AT + 700, resolvedAt: AT + 600, note: 'n' }), null],
    ['why it has come', whyRow(row(), {}, '', 'x'), null],
    ['one of an older version, that does not say since when', row({ evidence: '{}' }), null],
  ];
  for (const [what, of, event] of cases) it(`is ${event ?? 'nothing'} of ${what}`, () => expect(eventOf(of)).to.equal(event));

  it('is what it wants', () => {
    const own = row({ severity: 'warning', detector: 'log_rate', service: 'web' });
    const yes = [
      webhook(),
      webhook({ minSeverity: 'warning' }),
      webhook({ detectors: ['silence', 'log_rate'] }),
      webhook({ services: ['web'] }),
    ];
    const no = [webhook({ minSeverity: 'critical' }), webhook({ detectors: ['silence'] }), webhook({ services: ['we'] }), webhook({ isEnabled: false })]; // prettier-ignore
    expect([...yes, ...no].map((one) => wants(one, own))).to.deep.equal([true, true, true, true, false, false, false, false]);
  });

  it('is signed with a secret of its own', () => {
    const secrets = [
      webhookSecret('pepper', webhook()),
      webhookSecret('pepper', webhook({ id: 'wh_b' })),
      webhookSecret('pepper', webhook({ tenantId: 2 })),
      webhookSecret('salt', webhook()),
    ];
    expect(new Set(secrets).size).to.equal(4);
    expect(secrets[0]).to.match(/^whsec_[\w-]{43}$/);
    expect(webhookSecret('pepper', webhook())).to.equal(secrets[0]);
  });

  it('has a form for Slack, in which nothing of an alert is a link or a mention', () => {
    const shown = shownAlert(row({ title: '<!channel> & co', description: '<https://evil|click>'.repeat(300), note: '<@U1>' }), null);
    const text = bodyOf.slack({ deliveryId: 'dl_a', tenantId: 1, type: 'fired', alert: shown });
    const { blocks, ...body } = JSON.parse(text) as { text: string; blocks: { text?: { text: string } }[] };
    expect(body.text).to.equal('Fired: &lt;!channel&gt; &amp; co');
    expect(blocks.map((block) => JSON.stringify(block)).slice(1).join()).not.to.match(/[<>]/); // prettier-ignore
    for (const block of blocks) expect(block.text?.text.length ?? 0).to.be.at.most(3000);
  });

  const faults: [string, RegExp | null][] = [
    ['https://hooks.example/a?b=c', null],
    ['http://hooks.example:8080/', null],
    ['https://93.184.216.34/', null],
    ['http://10.1.2.3/', null],
    ['nonsense', /must be a URL/],
    ['ftp://hooks.example/', /https:\/\/ or http/],
    ['javascript:alert(1)', /https:\/\/ or http/],
    ['https://user@hooks.example/', /user or a password/],
    ['https://:p@hooks.example/', /user or a password/],
    ['http://hooks.example:25/', /port 80, 443/],
    ['http://127.0.0.1/', /private/],
    ['http://2130706433/', /private/],
    ['http://0x7f000001/', /private/],
    ['http://017700000001/', /private/],
    ['http://169.254.169.254/latest/meta-data', /private/],
    ['http://[::1]/', /private/],
    ['http://[::ffff:169.254.169.254]/', /private/],
    [`https://hooks.example/${'x'.repeat(2000)}`, /2000 characters/],
  ];
  for (const [url, fault] of faults)
    it(`goes ${fault === null ? '' : 'not '}to ${url.slice(0, 60)}`, () => {
      const found = urlFault(url, new Addresses(['10.1.0.0/16']));
      if (fault === null) expect(found).to.equal(null);
      else expect(found).to.match(fault);
    });
});
