import { expect } from 'chai';
import { foreignOrigin } from '../../../api/auth/same-origin.ts';

type Headers = Readonly<Record<string, string>>;
const verdict = (method: string, headers: Headers, needsOrigin = false): string =>
  foreignOrigin({ method, header: (name) => ({ host: 'logs.example:8080', ...headers })[name] ?? '' }, needsOrigin) === null ? 'ok' : 'no';

const OWN = 'http://logs.example:8080';
const ORIGINS: readonly (readonly [string, boolean])[] = [
  [OWN, true],
  ['http://LOGS.example:8080', true],
  ['https://logs.example:8080', true],
  ['http://logs.example', false],
  ['http://logs.example:8081', false],
  ['http://logs.example:8080.evil.example', false],
  ['http://evil.example', false],
  ['http://logs.example:8080@evil.example', false],
  ['http://evil.example/http://logs.example:8080', false],
  ['null', false],
  ['file://', false],
  ['*', false],
  [`${OWN}, http://evil.example`, false],
  ['chrome-extension://logs.example:8080', false],
];

describe('where a request with a cookie comes from', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH']) {
    const isSafe = ['GET', 'HEAD'].includes(method);
    for (const [origin, isOwn] of ORIGINS)
      it(`${method} from the origin ${origin}: ${isOwn ? 'ok' : 'no'}`, () => {
        expect(verdict(method, { origin })).to.equal(isOwn ? 'ok' : 'no');
        // the word of the browser is needed too, where it gives it
        for (const site of ['cross-site', 'same-site', 'none', 'rubbish', 'cross-site, same-origin'])
          expect(verdict(method, { origin, 'sec-fetch-site': site }), site).to.equal(isOwn && isSafe && site === 'none' ? 'ok' : 'no');
        expect(verdict(method, { origin, 'sec-fetch-site': 'same-origin' })).to.equal(isOwn ? 'ok' : 'no');
      });
    it(`${method} without an origin needs ${isSafe ? 'nothing' : 'the word of the browser'}`, () => {
      expect(verdict(method, {})).to.equal(isSafe ? 'ok' : 'no');
      expect(verdict(method, { 'sec-fetch-site': 'same-origin' })).to.equal('ok');
      expect(verdict(method, { 'sec-fetch-site': 'none' })).to.equal(isSafe ? 'ok' : 'no');
      expect(verdict(method, { 'sec-fetch-site': 'cross-site' })).to.equal('no');
    });
  }
  it('a WebSocket needs an origin, which is the own one', () => {
    expect(verdict('GET', {}, true)).to.equal('no');
    expect(verdict('GET', { 'sec-fetch-site': 'same-origin' }, true)).to.equal('no');
    expect(verdict('GET', { origin: OWN }, true)).to.equal('ok');
    expect(verdict('GET', { origin: 'http://evil.example' }, true)).to.equal('no');
  });
  it('the port that a scheme implies, and the scheme that a proxy tells, count', () => {
    expect(verdict('POST', { host: 'logs.example', origin: 'https://logs.example:443' })).to.equal('ok');
    expect(verdict('POST', { host: 'logs.example:443', origin: 'https://logs.example' })).to.equal('ok');
    expect(verdict('POST', { host: 'logs.example', origin: 'http://logs.example:443' })).to.equal('no');
    expect(verdict('POST', { host: 'logs.example', origin: 'http://logs.example', 'x-forwarded-proto': 'https' })).to.equal('no');
    expect(verdict('POST', { host: 'logs.example', origin: 'https://logs.example', 'x-forwarded-proto': 'https, http' })).to.equal('ok');
    expect(verdict('POST', { host: '', origin: OWN })).to.equal('no');
  });
});
