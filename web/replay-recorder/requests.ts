/** Watches the requests of a page: those that fail, and the traces that they belong to. */

export type SeenRequest = {
  readonly method: string;
  readonly url: string;
  /** 0 where no answer came. */
  readonly status: number;
  readonly duration_ms: number;
  readonly failed: boolean;
  readonly traceparent: string;
  readonly trace_id: string;
};

export type RequestsOptions = {
  /** Gives requests to these origins a `traceparent` where they have none. */
  readonly traced: readonly string[];
  /** Whose requests are not watched: the service's own. */
  readonly own: string;
  readonly onRequest: (request: SeenRequest) => void;
};

const hex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-/;

/** Watches `fetch` and `XMLHttpRequest` from now on; what it returns ends that. */
export function watchRequests(options: RequestsOptions): () => void {
  const ends = [watchFetch(options), watchXhr(options)];
  return () => {
    for (const end of ends) end();
  };
}

const isTraced = (given: string, { traced, own }: RequestsOptions): boolean => {
  const { href, origin } = new URL(given, location.href);
  return traced.includes(origin) && !href.startsWith(own);
};

function report(
  { onRequest, own }: RequestsOptions,
  method: string,
  given: string,
  began: number,
  status: number,
  traceparent: string,
): void {
  const url = new URL(given, location.href).href;
  if (url.startsWith(own)) return;
  const failed = status === 0 || status >= 400;
  const traceId = TRACEPARENT.exec(traceparent)?.[1] ?? '';
  if (!failed && traceId === '') return;
  onRequest({ method, url, status, duration_ms: Math.round(performance.now() - began), failed, traceparent, trace_id: traceId });
}

function watchFetch(options: RequestsOptions): () => void {
  const original = globalThis.fetch;
  const watched: typeof fetch = async (input, init) => {
    const began = performance.now();
    const url = input instanceof Request ? input.url : String(input);
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    let traceparent = headers.get('traceparent') ?? '';
    let own = init;
    if (traceparent === '' && isTraced(url, options)) {
      traceparent = `00-${hex(16)}-${hex(8)}-01`;
      headers.set('traceparent', traceparent);
      own = { ...init, headers };
    }
    try {
      const response = await original.call(globalThis, input, own);
      report(options, method, url, began, response.status, traceparent);
      return response;
    } catch (error) {
      report(options, method, url, began, 0, traceparent);
      throw error;
    }
  };
  globalThis.fetch = watched;
  return () => {
    if (globalThis.fetch === watched) globalThis.fetch = original;
  };
}

type Opened = { readonly method: string; readonly url: string; traceparent: string };

function watchXhr(options: RequestsOptions): () => void {
  const { prototype } = XMLHttpRequest;
  const { open, send, setRequestHeader } = prototype;
  const opened = new WeakMap<XMLHttpRequest, Opened>();
  prototype.open = function (this: XMLHttpRequest, method: string, url: string | URL, ...rest: unknown[]) {
    opened.set(this, { method, url: String(url), traceparent: '' });
    Reflect.apply(open, this, [method, url, ...rest]);
  };
  prototype.setRequestHeader = function (this: XMLHttpRequest, name: string, value: string) {
    const one = opened.get(this);
    if (one !== undefined && name.toLowerCase() === 'traceparent') one.traceparent = value;
    setRequestHeader.call(this, name, value);
  };
  prototype.send = function (this: XMLHttpRequest, body?: Document | XMLHttpRequestBodyInit | null) {
    const one = opened.get(this);
    if (one !== undefined) {
      const began = performance.now();
      if (one.traceparent === '' && isTraced(one.url, options)) this.setRequestHeader('traceparent', `00-${hex(16)}-${hex(8)}-01`);
      this.addEventListener('loadend', () => {
        report(options, one.method, one.url, began, this.status, one.traceparent);
      });
    }
    send.call(this, body);
  };
  return () => {
    Object.assign(prototype, { open, send, setRequestHeader });
  };
}
