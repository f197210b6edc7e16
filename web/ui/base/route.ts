/** The address is the state: `/ui/t/42/explore?q=…`. Unknown parameters are kept. */
import { signal } from '@preact/signals';

export type Route = {
  readonly tenant: number | null;
  readonly page: string;
  /** What stands behind the page: an alert's number, a fingerprint. */
  readonly rest: string;
  readonly params: URLSearchParams;
};

const PLACE = /^\/ui(?:\/t\/(\d{1,15}))?(?:\/([a-z-]+))?(?:\/([^/]+))?\/?$/;

/** The description of the API: a document of its own. */
export const API_PAGE = '/ui/api/';

/** Reads an address of the pages. */
function routeOf(path: string, search: string): Route {
  const [, tenant, page = '', rest = ''] = PLACE.exec(path) ?? [];
  return { tenant: tenant === undefined ? null : Number(tenant), page, rest: decoded(rest), params: new URLSearchParams(search) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page, without what is empty. */
export function hrefOf(
  tenant: number | null,
  page: string,
  params: Readonly<Record<string, string | null | undefined>> | URLSearchParams = {},
  rest = '',
): string {
  const search = new URLSearchParams();
  const entries = params instanceof URLSearchParams ? [...params] : Object.entries(params);
  for (const [name, value] of entries) if (value !== null && value !== undefined && value !== '') search.append(name, value);
  const text = search.toString();
  const place = [tenant === null ? '' : `t/${String(tenant)}`, page, encodeURIComponent(rest)].filter((part) => part !== '').join('/');
  return `/ui/${place}${text === '' ? '' : `?${text}`}`;
}

const here = (): Route => (typeof location === 'undefined' ? routeOf('/ui', '') : routeOf(location.pathname, location.search));

/** Where the reader is. */
export const route = signal<Route>(here());

/** Goes to an address; `isReplaced`: the one before is not kept in the history. */
export function navigate(href: string, { isReplaced = false }: { readonly isReplaced?: boolean } = {}): void {
  if (isReplaced) history.replaceState(null, '', href);
  else if (href !== location.pathname + location.search) history.pushState(null, '', href);
  route.value = here();
}

/** Changes parameters of this page; null removes one. */
export function setParams(changes: Readonly<Record<string, string | null>>, options?: { readonly isReplaced?: boolean }): void {
  const { tenant, page, rest, params } = route.peek();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) if (value === null || value === '') next.delete(name); else next.set(name, value); // prettier-ignore
  navigate(hrefOf(tenant, page, next, rest), options);
}

/** Follows links inside the pages without loading anew, and the history. */
export function listenToAddress(): void {
  addEventListener('popstate', () => void (route.value = here()));
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.origin !== location.origin || !link.pathname.startsWith('/ui') || link.target !== '') return;
    if (link.pathname === API_PAGE) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
