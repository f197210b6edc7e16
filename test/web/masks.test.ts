import { expect } from 'chai';
import { maskedJson, maskText } from '../../web/replay-recorder/masks.ts';

const stars = (text: string): string => '*'.repeat(text.length);

describe('masks of the recorder', () => {
  for (const secret of [
    ...['ada@example.com', 'ada.lovelace+shop@mail.example.co.uk'],
    ...['4111 1111 1111 1111', '4111-1111-1111-1111', '5555555555554444', '378282246310005'],
    ...['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'Bearer abcdef0123456789', 'sk_live_abcdefghijkl0123', 'ghp_abcdefghijklmnop'],
    ...['token=abc', 'access_token=a.b-c', 'api_key=K', 'password=hunter2'],
  ])
    it(`put stars in place of ${secret}`, () => {
      expect(maskText(`before ${secret} behind`)).to.equal(`before ${stars(secret)} behind`);
    });

  for (const text of [
    '4111 1111 1111 1112',
    '1795003200000',
    'logo@2x.png',
    'a text of words',
    'data:image/png;base64,ada@example.com',
    '@media (width > 3px)',
  ])
    // prettier-ignore
    it(`leave ${text}`, () => {
      expect(maskText(text)).to.equal(text);
    });

  it('take what is named too', () => {
    expect(maskText('order 12345-AB of a customer', [/\d{5}-[A-Z]{2}/g])).to.equal('order ******** of a customer');
  });

  it('reach every string of an event, but style sheets and paths of drawings', () => {
    const mail = 'ada@example.com';
    const event = { type: 2, timestamp: 4_111_111_111_111_111, data: { node: { textContent: mail, attributes: { href: `mailto:${mail}`, _cssText: mail, d: mail }, list: [mail] } } }; // prettier-ignore
    expect(JSON.parse(maskedJson(event))).to.deep.equal({
      ...{ type: 2, timestamp: 4_111_111_111_111_111 },
      data: {
        node: { textContent: stars(mail), attributes: { href: `mailto:${stars(mail)}`, _cssText: mail, d: mail }, list: [stars(mail)] },
      },
    });
  });

  it('take long strings in time that grows with their length', () => {
    const began = process.cpuUsage();
    for (const text of [
      'a@'.repeat(50_000),
      '1'.repeat(100_000),
      `${'a.'.repeat(50_000)}@b`,
      'eyJ-'.repeat(20_000),
      '1 '.repeat(50_000),
      'eyJaaaaaaaa.'.repeat(10_000),
    ])
      maskText(text);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).to.be.below(2000);
  });
});
