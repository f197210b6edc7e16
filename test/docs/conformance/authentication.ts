/** Sections 5 and 6 of the interface: authentication, and events. */
import { of, row, type Section } from './row.ts';

const forms = of('api/auth/forms.test.ts');
const matrix = of('api/auth/matrix.test.ts');
const authenticate = of('api/auth/authenticate.test.ts');
const hosts = of('api/http/host-lists.test.ts');
const sockets = of('api/live/sockets.test.ts');
const live = of('e2e/instance/live.e2e.test.ts');
const keys = of('e2e/instance/keys.e2e.test.ts');
const sessions = of('api/account/sessions.test.ts');
const outage = of('api/auth/outage.test.ts');

const everyPath = matrix("${endpoint.methods.join(', ')} ${endpoint.path} on the ${host} host");
const named = matrix('every path that the interface names is on its plane, with its scope');
const twoAtOnce = matrix('${name}: ${String(code)}');

// prettier-ignore
export const AUTHENTICATION: readonly Section[] = [
  {
    document: 'interface.md', heading: '5. Authentication', rows: [
      row('One key works on both planes', 'Every path but `/health` needs a key, and one key works on both planes.', matrix('covers the planes: every path asks for a key, except /health'), keys('created, rotated, revoked')),
      row('Scopes: `read` (default), `write`, `ingest`', 'A key has `read` unless it is given other scopes; changes need `write`, ingest needs `ingest`.', keys('a key has the scopes it was given, and no other'), everyPath),
      row('an expired browser session gets 401', 'An expired session of a browser is a 401 with `Token expired`.', sessions('end with the time of their key: 401 Token expired')),
    ],
  },
  {
    document: 'interface.md', heading: 'Planes', rows: [
      row('The plane is decided by the path', 'The path decides the plane, and either host serves paths of both.', hosts('the rules of a credential follow the path, not the host'), hosts('${path} is on both')),
      row('- Ingest plane paths:', 'Paths of logs and traces are on the ingest plane.', named, everyPath),
      row('- App plane paths:', 'Paths of metrics, replay and queries are on the app plane.', named, everyPath),
      row('- The ingest host forwards exactly six paths', 'The ingest host forwards exactly six paths of the app plane.', hosts('forwards exactly six paths'), matrix('the ingest host has nothing that belongs to the app host alone, and everything else')),
      row('- The ingest host forwards exactly six paths', 'The app host takes logs and traces as well.', hosts('${path} is on both'), of('e2e/failures/spans.e2e.test.ts')('are taken on both hosts, in both encodings and compressed, and stored as they were sent')),
      row('- Query paths under `/api/v1/tenants/`', 'Paths of queries are a 404 on the ingest host, whatever the key is.', matrix('${path} on the ingest host: 404, with a key, a wrong one, or none')),
    ],
  },
  {
    document: 'interface.md', heading: 'Accepted credential forms', rows: [
      row('| `Authorization: Bearer <API_KEY>`', '`Bearer` counts on both planes; on the ingest plane its case matters.', forms('Bearer in lower case'), forms('Bearer in upper case'), everyPath),
      row('| `Authorization: Token <API_KEY>`', '`Token` counts on the app plane alone.', forms('Token'), everyPath),
      row('| `Authorization: Basic <base64>`', '`Basic` has the key as user name; the password is ignored; on the ingest plane its case matters.', forms('Basic, a password'), forms('Basic in lower case'), everyPath),
      row('| `X-API-Key: <API_KEY>`', '`X-API-Key` counts on both planes.', forms('X-API-Key'), everyPath),
      row('| query parameter `api_key`', '`api_key` counts on five paths of the ingest plane, and on the app plane.', forms('takes api_key on the five paths of the ingest plane and on no other'), everyPath),
      row('1. A scheme the plane cannot parse', 'A scheme that a plane does not know is a 401.', everyPath, of('api/http/host.test.ts')('lower-case bearer on the ingest plane')),
      row('2. A header credential is resolved before', 'A header goes before `api_key`: where it is wrong, the answer is a 403.', twoAtOnce, matrix('a wrong header is not saved by a good query key')),
      row('2. A header credential is resolved before', 'A header that cannot be parsed does not shadow `api_key`.', matrix('a header that cannot be parsed does not shadow the query')),
      row('3. The two planes differ on which header', 'Each plane has a header of its own that it reads first.', forms('two keys: each plane has its first header')),
      row('4. Surrounding whitespace in the key is trimmed', 'Blanks around a key are cut off, and an empty key is none.', forms('Bearer, spaces around the key'), forms('X-API-Key empty'), forms('never throws, and never gives an untrimmed or empty key')),
      row('5. WebSocket auth: the `Sec-WebSocket-Protocol`', 'A WebSocket takes its key from the subprotocol with any prefix, or as a parameter.', sockets('are let in with a key in any of the forms, and get a subprotocol that was offered'), forms('websocket, ${name}: ${String(key)}')),
      row('5. WebSocket auth: the `Sec-WebSocket-Protocol`', 'A WebSocket takes the cookie of a session of a browser too.', sessions('WebSockets take the cookie from the own origin alone, and close when the session ends')),
      row('6. The tenant in the path must match', 'The tenant of the path is that of the key.', authenticate('tenant_id of another tenant: 403, before the scope is looked at'), of('e2e/instance/long/described-statuses.e2e.test.ts')('refuses the key of another tenant')),
    ],
    remarks: [{ line: 'Rules:', reason: 'what follows' }],
  },
  {
    document: 'interface.md', heading: '401 versus 403', rows: [
      row('| 401 | no credential could be extracted', 'No header, a scheme that is not parsed, an empty and a truncated key are a 401.', everyPath, forms('Basic, truncated base64'), forms('Bearer alone')),
      row('| 403 | credential found and rejected', 'An unknown, rotated or expired key, a disabled tenant, a missing scope and another tenant are a 403.', everyPath, authenticate('${String(secret)}: ${status} ${slug}'), outage('a key that was rotated, revoked, or whose tenant was disabled is refused')),
      row('| 403 | credential found and rejected', 'Gates of plans are a 403 too.', of('api/account/projects.test.ts')('${name}, flag ${String(flag)}: ${String(most)}')),
      row('On the generic ingest path, 200', 'On `/api/v1/ingest` 200 with `status` `ok` says that entries were accepted.', of('pipeline/normalizers/json-entries.test.ts')('answers with status and count'), of('e2e/instance/lossless.e2e.test.ts')('what was accepted comes back as it was')),
    ],
  },
  {
    document: 'interface.md', heading: '6. Events', rows: [
      row('The service pushes events only on two WebSocket', 'Events are pushed on two WebSockets.', sockets('are let in with a key in any of the forms, and get a subprotocol that was offered'), live('show no other tenant, and nothing to whom they are not')),
      row('| live tail | log entries matching', 'A live tail sends new entries that match its query.', live('send what matches, once, exactly as search gives it')),
      row('| alerts | alert fires and alert resolutions', 'The stream of alerts sends fires and resolutions.', live('of alerts: fires and resolutions, updates on request, and what was said since a time')),
    ],
    remarks: [
      { line: 'Message frames sent by the server', reason: 'not shown; decided under Alerts and patterns' },
      { line: 'Outbound webhooks or other event channels', reason: 'not shown' },
    ],
  },
];
