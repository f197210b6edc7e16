import { ADDRCONFIG, lookup as systemLookup, promises, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** A server of names has so long for each of two tries. Milliseconds. */
const DNS = { timeout: 1500, tries: 2 };
/** The system's look-ups, each of which holds one of four threads that the whole process has: of all, of a tenant, and how many of a tenant may wait. */
const [MOST, MOST_OF_TENANT, MOST_WAITING] = [2, 1, 4];
/** The name is not in the DNS, or there is none: the system may know it by its hosts file, or with a domain that it searches. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

export type NameResolverOptions = {
  /** The addresses of a name in the DNS, of both families. Rejects with a code of c-ares. */
  readonly resolve?: (name: string) => Promise<LookupAddress[]>;
  readonly system?: (name: string) => Promise<LookupAddress[]>;
};

type Waiting = { readonly tenantId: number; readonly begin: () => void };

/**
 * Resolves names that tenants choose. A name server that answers slowly, which may be a tenant's own, holds nothing that another tenant needs:
 * the DNS is asked without a thread, and the system, for names that the DNS does not know, by one look-up of a tenant at a time.
 */
export class NameResolver {
  readonly #resolve: (name: string) => Promise<LookupAddress[]>;
  readonly #system: (name: string) => Promise<LookupAddress[]>;
  readonly #running = new Map<number, number>();
  readonly #waiting: Waiting[] = [];

  constructor({ resolve = fromDns, system = fromSystem }: NameResolverOptions = {}) {
    this.#resolve = resolve;
    this.#system = system;
  }

  /** What resolves names for a tenant. */
  of(tenantId: number): LookupFunction {
    return (name, { all, family }, callback) => {
      const wanted = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : (family ?? 0);
      this.#addresses(tenantId, name).then(
        (found) => {
          const fitting = found.filter((one) => wanted === 0 || one.family === wanted);
          const [first] = fitting;
          if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0);
          else if (all === true) callback(null, fitting);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => {
          callback(error as NodeJS.ErrnoException, '', 0);
        },
      );
    };
  }

  async #addresses(tenantId: number, name: string): Promise<LookupAddress[]> {
    try {
      return await this.#resolve(name);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!UNKNOWN.has(code)) throw Object.assign(new Error('no answer', { cause: error }), { code: 'EAI_AGAIN' });
    }
    await this.#place(tenantId);
    try {
      return await this.#system(name);
    } finally {
      this.#leave(tenantId);
    }
  }

  /** Resolves when the tenant has a place. */
  async #place(tenantId: number): Promise<void> {
    // those whose request is given up wait on
    if (this.#waiting.filter((one) => one.tenantId === tenantId).length >= MOST_WAITING)
      throw Object.assign(new Error('too many look-ups'), { code: 'EAI_AGAIN' });
    await new Promise<void>((begin) => {
      this.#waiting.push({ tenantId, begin });
      this.#next();
    });
  }

  #next(): void {
    const count = [...this.#running.values()].reduce((sum, one) => sum + one, 0);
    const index = this.#waiting.findIndex(({ tenantId }) => (this.#running.get(tenantId) ?? 0) < MOST_OF_TENANT);
    if (count >= MOST || index < 0) return;
    const [next] = this.#waiting.splice(index, 1);
    if (next === undefined) return;
    this.#running.set(next.tenantId, (this.#running.get(next.tenantId) ?? 0) + 1);
    next.begin();
    this.#next();
  }

  #leave(tenantId: number): void {
    const left = (this.#running.get(tenantId) ?? 0) - 1;
    if (left > 0) this.#running.set(tenantId, left);
    else this.#running.delete(tenantId);
    this.#next();
  }
}

async function fromDns(name: string): Promise<LookupAddress[]> {
  const resolver = new promises.Resolver(DNS);
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length > 0) return found.map((address) => ({ address, family: isIP(address) }));
  throw four.status === 'rejected' ? four.reason : Object.assign(new Error('no address'), { code: 'ENODATA' });
}

const fromSystem = (name: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    systemLookup(name, { all: true, hints: ADDRCONFIG }, (error, found) => {
      if (error === null) resolve(found);
      else reject(error);
    });
  });
