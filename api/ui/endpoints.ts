import { notFound } from '../../pipeline/core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';
import { readPages, type PageFile } from './files.ts';

/** What the pages may do: their own files and the API of this host, and nothing else anywhere. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  // browsers do not count WebSockets of this host to 'self' everywhere
  "connect-src 'self' ws: wss:",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];
/**
 * The page of the description has Redoc, which makes markup of strings: two policies of Trusted Types that the page makes first, and `<style>` elements
 * that are empty (the hash of nothing) and filled by rules, but for one. No script of a string, nothing else inline.
 */
const DESCRIPTION_POLICY = [
  ...POLICY.slice(0, -1),
  "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
  "img-src 'self' data:",
  'trusted-types default dompurify',
].join('; ');
const DESCRIPTION = 'api/index.html';
const HEADERS = {
  'Content-Security-Policy': POLICY.join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};
const INDEX = 'index.html';
/** Names of files whose content the name stands for. */
const FOREVER = 'public, max-age=31536000, immutable';

/** The pages under `/ui`: the files of a folder by their names alone, and `index.html` for every other path, which the pages read themselves. */
export function uiEndpoints(folder: string): Endpoint[] {
  const files = readPages(folder);
  if (files.size === 0) return [];
  const endpoint = (path: string): Endpoint => ({
    ...{ methods: ['GET'], path, errors: 'query', access: null, answerHeaders: HEADERS },
    handle: (exchange) => Promise.resolve(answer(files, exchange)),
  });
  return [endpoint('/ui'), endpoint('/ui/*')];
}

/** The same endpoints, of which `GET /` leads browsers to the pages. To all others it is what it was. */
export const leadingToPages = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) =>
    endpoint.path === '/' && endpoint.methods.includes('GET')
      ? {
          ...endpoint,
          withoutKey: (exchange) =>
            exchange.header('accept').includes('text/html') ? { status: 302, headers: { Location: '/ui/', Vary: 'Accept' } } : null,
        }
      : endpoint,
  );

function answer(files: ReadonlyMap<string, PageFile>, exchange: Exchange): RouteAnswer {
  const rest = exchange.params['rest'] ?? '';
  const name = /^api\/?$/.test(rest) ? DESCRIPTION : rest;
  const file = files.get(name);
  // a page that is open while another version is installed asks for files that are gone
  if (file === undefined && (name.startsWith('assets/') || /\.\w{2,4}$/.test(name))) throw notFound();
  const page = file ?? files.get(INDEX);
  if (page === undefined) throw new Error('BUG: pages without their index.');
  const headers = {
    'Cache-Control': page.isHashed ? FOREVER : 'no-cache',
    ETag: page.tag,
    Vary: 'Accept-Encoding',
    ...(name === DESCRIPTION ? { 'Content-Security-Policy': DESCRIPTION_POLICY } : {}),
  };
  if (isKnown(exchange.header('if-none-match'), page.tag)) return { status: 304, headers };
  const [coding, body] = codingOf(page, exchange.header('accept-encoding'));
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': page.type, ...(coding === 'identity' ? {} : { 'Content-Encoding': coding }) },
    body,
  };
}

const isKnown = (header: string, tag: string): boolean =>
  header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag || one.trim() === '*');

/** The smallest coding that the client accepts (RFC 9110, 12.5.3, with weights of 0 alone: the others do not matter to files). */
function codingOf({ codings }: PageFile, header: string): [string, Buffer] {
  const accepted = new Map(
    header
      .toLowerCase()
      .split(',')
      .map((one) => one.trim().split(/\s*;\s*q=/))
      .map(([name = '', weight = '1']) => [name, Number(weight) > 0]),
  );
  for (const coding of ['br', 'gzip'] as const) {
    const bytes = codings[coding];
    if (bytes !== null && accepted.get(coding) === true) return [coding, bytes];
  }
  if (codings.identity === null) throw new Error('BUG: a page without bytes.');
  return ['identity', codings.identity];
}
