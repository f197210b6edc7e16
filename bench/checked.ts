/**
 * `npm run -s bench:checked`: what joi's checks cost a request. Each kind of request is read as its handler reads it, and as a reader without any
 * check would; both in one process, in turns, PAIRS times. CPU time; also with other load on the machine. What the handlers do beyond that is the same.
 */
import { RULE_BODY } from '../api/alerts/described-rules.ts';
import { DELIVERY_LIST } from '../api/alerts/described-webhooks.ts';
import { KEY_BODY } from '../api/account/described-keys.ts';
import { checkedBody } from '../api/http/checked-body.ts';
import { checkedQuery } from '../api/http/lists.ts';
import { alertsParameters, facetsParameters, hitsParameters, searchParameters } from '../api/query/parameters.ts';

const PAIRS = 6;
const TIMES = 20_000;
/** Microseconds that a request may cost more. */
const BOUND = 100;

type Kind = { readonly name: string; readonly checked: () => unknown; readonly unchecked: () => unknown };

const url = (name: string, text: string, read: (query: URLSearchParams) => unknown): Kind => ({
  name,
  checked: () => read(new URLSearchParams(text)),
  unchecked: () => Object.fromEntries(new URLSearchParams(text)),
});
const body = (name: string, value: object, read: (value: unknown) => unknown): Kind => {
  const text = JSON.stringify(value);
  return { name, checked: () => read(JSON.parse(text)), unchecked: () => JSON.parse(text) as unknown };
};

const rule = { name: 'errors', query: 'level:error', every: '5m', if: 'count > 10', severity: 'warning' };
const kinds: readonly Kind[] = [
  body('POST /search', { query: 'level:error service:web', start: '-1h', end: 'now', limit: 100 }, searchParameters),
  url('GET /hits', 'query=level:error&start=-1h&end=now&step=5m&fields_by=level,service', hitsParameters),
  url('GET /facets', 'query=level:error&start=-1h&end=now&limit=10', facetsParameters),
  url('GET /alerts', 'state=firing&severity=critical&service=web&limit=100&offset=0', alertsParameters),
  url('GET …/deliveries', 'state=failed&limit=100&offset=0&order=desc', (query) => checkedQuery(DELIVERY_LIST, query)),
  body('POST /keys', { name: 'shipper', scopes: ['ingest'], expires: '2027-01-01T00:00:00Z' }, (value) => checkedBody(KEY_BODY, value)),
  body('POST /rules', rule, (value) => checkedBody(RULE_BODY, value)),
];

/** Microseconds of CPU for one. */
function cost(run: () => unknown): number {
  const before = process.cpuUsage();
  for (let at = 0; at < TIMES; at += 1) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
}

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

let isWithin = true;
process.stdout.write('| Request | checked, µs | without, µs | more, µs (least to most of the pairs) |\n| --- | --- | --- | --- |\n');
for (const { name, checked, unchecked } of kinds) {
  // compiled and warm
  cost(checked);
  cost(unchecked);
  const pairs = Array.from({ length: PAIRS }, (_none, at) => {
    const first = cost(at % 2 === 0 ? checked : unchecked);
    const second = cost(at % 2 === 0 ? unchecked : checked);
    return at % 2 === 0 ? [first, second] : [second, first];
  }) as readonly (readonly [number, number])[];
  const more = pairs.map(([withIt, without]) => withIt - without);
  const [one, other] = [middle(pairs.map(([withIt]) => withIt)), middle(pairs.map(([, without]) => without))];
  const range = `${Math.min(...more).toFixed(1)} to ${Math.max(...more).toFixed(1)}`;
  process.stdout.write(`| ${name} | ${one.toFixed(1)} | ${other.toFixed(1)} | ${middle(more).toFixed(1)} (${range}) |\n`);
  isWithin &&= middle(more) <= BOUND;
}
process.exitCode = isWithin ? 0 : 1;
