import { expect } from 'chai';
import { isSigned, sign } from '../../../../pipeline/alerting/announcements/signature.ts';

const NOW = 1_795_478_400;
const [SECRET, BODY] = ['whsec_0123456789', '{"type":"fired","alert":{"title":"é"}}'];

describe('the signature of a body', () => {
  it('is the HMAC of time and body', () => {
    // printf '1795478400.{"a":1}' | openssl dgst -sha256 -hmac secret
    expect(sign('secret', '{"a":1}', NOW)).to.equal('t=1795478400,v1=bf6956d15eeef6c72b301c2f0b9d03bbfe11871d86043b3f39508823c9b90570');
  });

  it('holds for that body, secret and time alone', () => {
    const header = sign(SECRET, BODY, NOW);
    expect(isSigned(SECRET, BODY, header, NOW)).to.equal(true);
    expect(isSigned(SECRET, BODY, header, NOW + 300)).to.equal(true);
    const others: readonly (readonly [string, string, string, number])[] = [
      [SECRET, BODY, header, NOW + 301],
      [SECRET, BODY, header, NOW - 301],
      [`${SECRET}x`, BODY, header, NOW],
      [SECRET, `${BODY} `, header, NOW],
      [SECRET, BODY, header.replace('t=1', 't=2'), NOW],
      [SECRET, BODY, header.slice(0, -1), NOW],
      ...['', 't=,v1=', 'v1=00', `t=${String(NOW)}`, '__proto__=1', '='].map((other) => [SECRET, BODY, other, NOW] as const),
    ];
    for (const [secret, body, other, now] of others) expect(isSigned(secret, body, other, now), other).to.equal(false);
  });
});
