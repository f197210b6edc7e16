import { backpressure } from '../../pipeline/core/errors.ts';

/** Bytes that calls may bring whose messages have not come: of all, and of one tenant. */
const MAX_EXPECTED_BYTES = 128 * 1024 * 1024;
const TENANT_SHARE = 4;

/** Bounds what calls may bring before it is known how much it is: each counts as the largest message until its own has come. */
export class GrpcAdmission {
  readonly #most: number;
  #bytes = 0;
  readonly #byTenant = new Map<number, number>();

  /** `maxBytes`: of all tenants. */
  constructor(maxBytes = MAX_EXPECTED_BYTES) {
    this.#most = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a call; throws HttpError 429 where there may be no more now. What it gives ends that, and may be called again. */
  enter(tenantId: number, bytes: number): () => void {
    const own = this.#byTenant.get(tenantId) ?? 0;
    // one alone may always come
    if (own > 0 && own + bytes > this.#most / TENANT_SHARE)
      throw backpressure('This node waits for as many messages of this tenant as it may; try again.');
    if (this.#bytes > 0 && this.#bytes + bytes > this.#most)
      throw backpressure('This node waits for as many messages as it may; try again.');
    this.#bytes += bytes;
    this.#byTenant.set(tenantId, own + bytes);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#bytes -= bytes;
      const left = (this.#byTenant.get(tenantId) ?? 0) - bytes;
      if (left <= 0) this.#byTenant.delete(tenantId);
      else this.#byTenant.set(tenantId, left);
    };
  }
}
