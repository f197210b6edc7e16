import { expect } from 'chai';
import fc from 'fast-check';
import { SessionTokens } from '../../../api/auth/session-token.ts';

const claims = { keyId: 'bootstrap', hash: 'a'.repeat(16), id: 'x', startedAt: 1, expiresAt: 2 };

describe('the tokens of browser sessions', () => {
  const tokens = new SessionTokens('pepper');
  it('are read by every node with the pepper, and by no other', () => {
    expect(new SessionTokens('pepper').read(tokens.sign(claims))).to.deep.equal(claims);
    expect(new SessionTokens('other').read(tokens.sign(claims))).to.equal(null);
    expect(new SessionTokens('other').cookie).not.to.equal(tokens.cookie);
    expect(tokens.sign(claims)).not.to.contain('pepper');
  });
  it('are refused where any character is another', () => {
    const token = tokens.sign(claims);
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      const read = tokens.read(changed);
      // the last character of base64url has bits that mean nothing
      if (read !== null) expect(read).to.deep.equal(claims);
      if (at < token.length - 1) expect(read, changed).to.equal(null);
    }
  });
  it('any other text is none', () => {
    const body = Buffer.from(JSON.stringify(['bootstrap', '', 'x', 0, 9e15])).toString('base64url');
    for (const text of [
      '',
      'v1',
      'v1..',
      `v1.${body}.`,
      `v1.${body}.${'A'.repeat(43)}`,
      `v2.${tokens.sign(claims).slice(3)}`,
      'v1.'.repeat(100_000),
      `${tokens.sign(claims)}\n`,
    ])
      expect(tokens.read(text), text.slice(0, 40)).to.equal(null);
    fc.assert(fc.property(fc.string(), (text) => tokens.read(text) === null));
    fc.assert(fc.property(fc.string(), fc.string(), (one, other) => tokens.read(`v1.${one}.${other}`) === null));
  });
});
