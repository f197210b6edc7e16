/** How many connections a door may have: in all, of an address, and of a tenant. */
export type SeatsOptions = { readonly maxConnections: number; readonly maxOfAddress: number; readonly maxOfTenant: number };

/** A connection's place among those of its door. */
export type Seat = {
  /** Whose it is; null before a key has shown it. */
  readonly tenantId: number | null;
  /** Makes it the tenant's whose key came first, and stays so. False where that tenant has as many as it may. */
  claim(tenantId: number): boolean;
  /** Gives it back; may be called again. */
  leave(): void;
};

/**
 * The connections of a door. Where all places are taken, a new one gets that of the oldest of which nobody knows yet whose it is: those who
 * show no key cannot keep out those who do.
 */
export class Seats {
  readonly #options: SeatsOptions;
  readonly #byAddress = new Map<string, number>();
  readonly #byTenant = new Map<number, number>();
  /** How those are told to go that are nobody's yet, the oldest first. */
  readonly #unclaimed = new Map<Seat, () => void>();
  #taken = 0;

  constructor(options: SeatsOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /** A place for a connection, or why there may be no more. `giveWay` is called where it must go again for another one. */
  enter(address: string, giveWay: () => void): Seat | 'connections' | 'address' {
    if ((this.#byAddress.get(address) ?? 0) >= this.#options.maxOfAddress) return 'address';
    if (this.#taken >= this.#options.maxConnections) {
      const [oldest] = this.#unclaimed;
      if (oldest === undefined) return 'connections';
      const [seat, go] = oldest;
      seat.leave();
      go();
    }
    this.#taken += 1;
    add(this.#byAddress, address, 1);
    const seat = this.#seat(address);
    this.#unclaimed.set(seat, giveWay);
    return seat;
  }

  #seat(address: string): Seat {
    let owner: number | null = null;
    let isLeft = false;
    const seat: Seat = {
      get tenantId() {
        return owner;
      },
      claim: (tenantId) => {
        if (isLeft || owner !== null) return true;
        if ((this.#byTenant.get(tenantId) ?? 0) >= this.#options.maxOfTenant) return false;
        owner = tenantId;
        add(this.#byTenant, tenantId, 1);
        this.#unclaimed.delete(seat);
        return true;
      },
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        this.#taken -= 1;
        add(this.#byAddress, address, -1);
        if (owner !== null) add(this.#byTenant, owner, -1);
        this.#unclaimed.delete(seat);
      },
    };
    return seat;
  }
}

function add<K>(counts: Map<K, number>, key: K, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}
