import { expect } from 'chai';
import fc from 'fast-check';
import { CREDENTIAL_FORMS, extractCredential } from '../../../api/auth/forms.ts';
import { QUERY_KEY_PATHS, type Plane } from '../../../api/auth/planes.ts';

type Sent = { readonly headers?: Readonly<Record<string, string>>; readonly query?: string; readonly path?: string };

function extract(plane: Plane, { headers = {}, query = '', path = '/x' }: Sent): string | null {
  return extractCredential({ path, header: (name) => headers[name] ?? '', query: new URLSearchParams(query) }, plane);
}

const basic = (text: string): string => Buffer.from(text).toString('base64');
const authorization = (value: string): Sent => ({ headers: { authorization: value } });

/** Form sent, then what each plane makes of it. */
const MATRIX: readonly (readonly [string, Sent, string | null, string | null])[] = [
  ['Bearer', authorization('Bearer KEY'), 'KEY', 'KEY'],
  ['Bearer in lower case', authorization('bearer KEY'), null, 'KEY'],
  ['Bearer in upper case', authorization('BEARER KEY'), null, 'KEY'],
  ['Bearer, spaces around the key', authorization('Bearer   KEY  '), 'KEY', 'KEY'],
  ['Bearer, a tab', authorization('Bearer\tKEY'), 'KEY', 'KEY'],
  ['Bearer alone', authorization('Bearer'), null, null],
  ['Bearer and a space', authorization('Bearer '), null, null],
  ['Bearer without a gap', authorization('BearerKEY'), null, null],
  ['Bearer, two words', authorization('Bearer a b'), 'a b', 'a b'],
  ['Token', authorization('Token KEY'), null, 'KEY'],
  ['Token in lower case', authorization('token KEY'), null, 'KEY'],
  ['Token alone', authorization('Token'), null, null],
  ['Splunk', authorization('Splunk KEY'), null, null],
  ['Digest', authorization('Digest username="KEY"'), null, null],
  ['the key without a scheme', authorization('KEY'), null, null],
  ['Basic, password empty', authorization(`Basic ${basic('KEY:')}`), 'KEY', 'KEY'],
  ['Basic, a password', authorization(`Basic ${basic('KEY:secret')}`), 'KEY', 'KEY'],
  ['Basic, a password with colons', authorization(`Basic ${basic('KEY:a:b')}`), 'KEY', 'KEY'],
  ['Basic, spaces around the key', authorization(`Basic ${basic('  KEY :')}`), 'KEY', 'KEY'],
  ['Basic in lower case', authorization(`basic ${basic('KEY:')}`), null, 'KEY'],
  ['Basic without a colon', authorization(`Basic ${basic('KEY')}`), null, null],
  ['Basic, no user', authorization(`Basic ${basic(':KEY')}`), null, null],
  ['Basic, not base64', authorization('Basic K*Y'), null, null],
  ['Basic, truncated base64', authorization(`Basic ${basic('KEYKEY:').slice(0, -3)}`), null, null],
  ['Basic, padding cut off', authorization(`Basic ${basic('KEY1:').replace(/=+$/, '')}`), null, null],
  ['Basic alone', authorization('Basic'), null, null],
  ['Basic and a space', authorization('Basic '), null, null],
  ['X-API-Key', { headers: { 'x-api-key': 'KEY' } }, 'KEY', 'KEY'],
  ['X-API-Key with spaces', { headers: { 'x-api-key': '  KEY ' } }, 'KEY', 'KEY'],
  ['X-API-Key empty', { headers: { 'x-api-key': '  ' } }, null, null],
  ['no credential', {}, null, null],
  ['query parameter', { query: 'api_key=KEY' }, null, 'KEY'],
  ['query parameter with spaces', { query: 'api_key=%20KEY+' }, null, 'KEY'],
  ['query parameter empty', { query: 'api_key=' }, null, null],
  ['another query parameter', { query: 'token=KEY&key=KEY' }, null, null],
  ['query parameter on a drain', { query: 'api_key=KEY', path: '/api/v1/drain' }, 'KEY', 'KEY'],
  ['query parameter empty on a drain', { query: 'api_key=+', path: '/api/v1/drain' }, null, null],
  ['a header before the query', { headers: { authorization: 'Bearer HEADER' }, query: 'api_key=KEY', path: '/gelf' }, 'HEADER', 'HEADER'],
  ['X-API-Key before the query', { headers: { 'x-api-key': 'HEADER' }, query: 'api_key=KEY', path: '/gelf' }, 'HEADER', 'HEADER'],
  [
    'Basic before the query',
    { headers: { authorization: `Basic ${basic('HEADER:')}` }, query: 'api_key=KEY', path: '/gelf' },
    'HEADER',
    'HEADER',
  ],
  ['an unparsed header and the query', { headers: { authorization: 'Splunk X' }, query: 'api_key=KEY', path: '/gelf' }, 'KEY', 'KEY'],
  [
    'lower-case bearer and the query',
    { headers: { authorization: 'bearer HEADER' }, query: 'api_key=KEY', path: '/gelf' },
    'KEY',
    'HEADER',
  ],
  ['Token and the query', { headers: { authorization: 'Token HEADER' }, query: 'api_key=KEY', path: '/gelf' }, 'KEY', 'HEADER'],
  ['an unparsed Authorization beside X-API-Key', { headers: { authorization: 'Splunk X', 'x-api-key': 'KEY' } }, 'KEY', 'KEY'],
  ['an empty Bearer beside X-API-Key', { headers: { authorization: 'Bearer ', 'x-api-key': 'KEY' } }, 'KEY', 'KEY'],
  ['an empty X-API-Key beside Bearer', { headers: { authorization: 'Bearer KEY', 'x-api-key': ' ' } }, 'KEY', 'KEY'],
  ['two keys: each plane has its first header', { headers: { authorization: 'Bearer A', 'x-api-key': 'B' } }, 'A', 'B'],
  ["Firehose's access key elsewhere", { headers: { 'x-amz-firehose-access-key': 'KEY' } }, null, null],
  ["Firehose's access key on its path", { headers: { 'x-amz-firehose-access-key': 'KEY' }, path: '/api/v1/cloudwatch' }, 'KEY', null],
  [
    "Firehose's access key after the others",
    { headers: { 'x-amz-firehose-access-key': 'B', 'x-api-key': 'A' }, path: '/api/v1/cloudwatch' },
    'A',
    'A',
  ],
  ["Datadog's header", { headers: { 'dd-api-key': 'KEY' } }, null, null],
];

describe('credential forms', () => {
  for (const [name, sent, ingest, app] of MATRIX) {
    it(`${name}: ingest ${String(ingest)}, app ${String(app)}`, () => {
      expect(extract('ingest', sent), 'ingest').to.equal(ingest);
      expect(extract('app', sent), 'app').to.equal(app);
    });
  }

  it('takes api_key on the five paths of the ingest plane and on no other', () => {
    expect([...QUERY_KEY_PATHS].sort()).to.deep.equal([
      '/api/v1/drain',
      '/api/v1/drain/heroku',
      '/api/v1/drain/vercel',
      '/api/v1/gelf',
      '/gelf',
    ]);
    for (const path of QUERY_KEY_PATHS) expect(extract('ingest', { query: 'api_key=KEY', path })).to.equal('KEY');
    for (const path of ['/_bulk', '/api/v1/ingest', '/loki/api/v1/push', '/gelf/x', '/api/v1/drain/', '/GELF', '/__proto__'])
      expect(extract('ingest', { query: 'api_key=KEY', path })).to.equal(null);
  });

  const websocket: readonly (readonly [string, Sent, string | null])[] = [
    ['our prefix', { headers: { 'sec-websocket-protocol': 'logweir.bearer.KEY' } }, 'KEY'],
    ['any prefix', { headers: { 'sec-websocket-protocol': 'acme.bearer.KEY' } }, 'KEY'],
    ['beside another protocol', { headers: { 'sec-websocket-protocol': 'logweir.v1, logweir.bearer.lw_a-B' } }, 'lw_a-B'],
    ['no key', { headers: { 'sec-websocket-protocol': 'logweir.bearer.' } }, null],
    ['no bearer', { headers: { 'sec-websocket-protocol': 'logweir.v1' } }, null],
    ['lower-case bearer header', { headers: { authorization: 'bearer KEY' } }, 'KEY'],
    ['query api_key', { query: 'api_key=KEY' }, 'KEY'],
    ['query token', { query: 'token=KEY' }, 'KEY'],
    ['protocol before query', { headers: { 'sec-websocket-protocol': 'x.bearer.A' }, query: 'token=B' }, 'A'],
  ];
  for (const [name, sent, key] of websocket)
    it(`websocket, ${name}: ${String(key)}`, () => expect(extract('websocket', sent)).to.equal(key));

  it('has unique names', () => {
    const names = CREDENTIAL_FORMS.map((form) => form.name);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('never throws, and never gives an untrimmed or empty key', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string(),
        fc.constantFrom<Plane>('ingest', 'app', 'websocket'),
        (header, query, plane) => {
          const found = extract(plane, {
            headers: { authorization: header, 'x-api-key': header, 'sec-websocket-protocol': header },
            query,
          });
          expect(found === null || (found !== '' && found === found.trim())).to.equal(true);
        },
      ),
    );
  });
});
