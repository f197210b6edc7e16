import { expect } from 'chai';
import { findTarget } from '../../cli/client.ts';
import { UsageError } from '../../cli/output.ts';
import { serviceUrl } from '../../cli/service-url.ts';

describe('the address of a service', () => {
  const good: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['https://logs.example//', 'https://logs.example'],
    ['HTTPS://Logs.Example/prefix/', 'https://logs.example/prefix'],
    ['localhost:8080', 'http://localhost:8080'],
    ['127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['logs.example', 'http://logs.example'],
  ];
  for (const [text, url] of good)
    it(`${text} is ${url}`, () => {
      expect(serviceUrl(text, '--url')).to.equal(url);
    });

  const bad = [
    'ftp://logs.example',
    'http://',
    'http://a b',
    'host:99999',
    'http://key@host',
    'http://host/?a=1',
    'host#x',
    'file:///etc/passwd',
    '\u0000',
  ];
  for (const text of bad)
    it(`${JSON.stringify(text)} is refused by its name`, () => {
      expect(() => serviceUrl(text, '--url')).to.throw(UsageError, `--url must be the address of a host`);
    });

  it('LOGWEIR_URL is the app host, which takes entries too; LOGWEIR_INGEST_URL the ingest host', () => {
    const urls = (flags: Record<string, string>, env: Record<string, string>): readonly string[] => {
      const { appUrl, ingestUrl } = findTarget(flags, { LOGWEIR_API_KEY: 'k', ...env });
      return [appUrl, ingestUrl];
    };
    expect(urls({}, {})).to.deep.equal(['http://127.0.0.1:8080', 'http://127.0.0.1:8081']);
    expect(urls({}, { LOGWEIR_HOST: '::' })).to.deep.equal(['http://[::1]:8080', 'http://[::1]:8081']);
    expect(urls({}, { LOGWEIR_URL: 'app:1' })).to.deep.equal(['http://app:1', 'http://app:1']);
    expect(urls({}, { LOGWEIR_URL: 'app:1', LOGWEIR_INGEST_URL: 'in:2' })).to.deep.equal(['http://app:1', 'http://in:2']);
    expect(urls({}, { LOGWEIR_INGEST_URL: 'in:2' })).to.deep.equal(['http://127.0.0.1:8080', 'http://in:2']);
    expect(urls({ url: 'flag:3' }, { LOGWEIR_URL: 'app:1', LOGWEIR_INGEST_URL: 'in:2' })).to.deep.equal(['http://flag:3', 'http://flag:3']);
    expect(() => urls({}, { LOGWEIR_URL: 'ftp://x' })).to.throw(UsageError, 'LOGWEIR_URL must be');
  });
});
