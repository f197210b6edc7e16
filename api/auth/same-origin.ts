/** What a request tells of where it comes from. `header` returns the empty string for an absent header. */
export type Sender = { readonly method: string; header(name: string): string };

/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD']);

/**
 * Why a request with a cookie is refused; null where it comes from the service's own pages, or from no page. A browser tells it by `Origin` and
 * `Sec-Fetch-Site`, which pages cannot set. What may change something, and a WebSocket (`needsOrigin`), must have one of them.
 */
export function foreignOrigin(sender: Sender, needsOrigin = false): string | null {
  const site = sender.header('sec-fetch-site').trim().toLowerCase();
  const origin = sender.header('origin').trim();
  const isSafe = SAFE.has(sender.method) && !needsOrigin;
  if (site !== '' && site !== 'same-origin' && !(site === 'none' && isSafe))
    return `A session cookie is not accepted from another site (Sec-Fetch-Site: ${site.slice(0, 20)}).`;
  if (origin !== '' && !isOwn(origin, sender)) return 'A session cookie is not accepted from another origin.';
  if (needsOrigin && origin === '') return 'A session cookie needs the header Origin here.';
  if (!isSafe && site === '' && origin === '') return 'A change with a session cookie needs the header Origin or Sec-Fetch-Site.';
  return null;
}

/** Whether an origin is the host of the request. Behind a proxy that ends TLS its scheme must be that of the proxy. */
function isOwn(origin: string, sender: Sender): boolean {
  const [, scheme = '', host = ''] = /^(https?):\/\/([^/\s]+)$/i.exec(origin) ?? [];
  if (host === '') return false;
  const wanted = sender.header('host').trim();
  const forwarded = schemeOf(sender);
  const own = scheme.toLowerCase();
  if (forwarded !== null && forwarded !== own) return false;
  return wanted !== '' && withPort(host, own) === withPort(wanted, own);
}

const withPort = (host: string, scheme: string): string => {
  const lower = host.toLowerCase();
  return /:\d+$/.test(lower) ? lower : `${lower}:${scheme === 'https' ? '443' : '80'}`;
};

/** The scheme that the client used, where a proxy tells it; null where none does. */
export function schemeOf(sender: Pick<Sender, 'header'>): 'http' | 'https' | null {
  const first = sender.header('x-forwarded-proto').split(',', 1)[0]?.trim().toLowerCase() ?? '';
  return first === 'https' || first === 'http' ? first : null;
}
