/** Bytes of frames that have not come whole, and as many of whole ones that are not on the log; a quarter of them of one owner. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const OWNER_SHARE = 4;
/** So much of each an owner may have, whatever the others have. */
const FREE_BYTES = 262_144;

/** What a connection does for the budget. */
export type Holder = {
  /** Reads nothing more until `goOn`. */
  holdBack(): void;
  goOn(): void;
  /** Ends the frame that has not come whole where it stands, and with it the connection. */
  cut(): void;
};

/** What a connection holds. */
export type FrameAccount = {
  /** Bytes of a frame that has not come whole, and of frames that are not on the log. */
  set(unfinished: number, waiting: number): void;
  /** Makes it another owner's. */
  moveTo(owner: string): void;
  /** Ends it; may be called again, and nothing is counted any more. */
  end(): void;
};

type Account = { readonly holder: Holder; owner: Owner; unfinished: number; waiting: number };
type Owner = { readonly name: string; readonly accounts: Set<Account>; unfinished: number; waiting: number; isHeldBack: boolean };

/**
 * One budget for what all connections of syslog in a process hold. An owner is a tenant, or an address before a key is known. What waits for
 * the log is bounded by reading no further; what waits for its own rest, by ending the longest of such frames.
 */
export class FrameBudget {
  readonly #most: number;
  readonly #owners = new Map<string, Owner>();
  readonly #heldBack = new Set<Owner>();
  #unfinished = 0;
  #waiting = 0;

  /** `maxBytes`: of each of both. */
  constructor(maxBytes = MAX_HELD_BYTES) {
    this.#most = maxBytes;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#unfinished + this.#waiting;
  }

  /** An account for a connection. */
  open(owner: string, holder: Holder): FrameAccount {
    const account: Account = { holder, owner: this.#owner(owner), unfinished: 0, waiting: 0 };
    this.#join(account);
    return {
      set: (unfinished, waiting) => {
        if (!account.owner.accounts.has(account)) return;
        this.#set(account, unfinished, waiting);
        this.#look(account.owner);
      },
      moveTo: (name) => {
        const { unfinished, waiting } = account;
        this.#leave(account);
        account.owner = this.#owner(name);
        this.#join(account);
        this.#set(account, unfinished, waiting);
        this.#look(account.owner);
      },
      end: () => {
        this.#leave(account);
        this.#freeOwners();
      },
    };
  }

  #owner(name: string): Owner {
    return this.#owners.get(name) ?? { name, accounts: new Set(), unfinished: 0, waiting: 0, isHeldBack: false };
  }

  #join(account: Account): void {
    const { owner, holder } = account;
    this.#owners.set(owner.name, owner);
    owner.accounts.add(account);
    if (owner.isHeldBack) holder.holdBack();
  }

  #leave(account: Account): void {
    const { owner, holder } = account;
    this.#set(account, 0, 0);
    if (!owner.accounts.delete(account)) return;
    if (owner.isHeldBack) holder.goOn();
    if (owner.accounts.size > 0) return;
    this.#owners.delete(owner.name);
    this.#heldBack.delete(owner);
  }

  #set(account: Account, unfinished: number, waiting: number): void {
    const { owner } = account;
    this.#unfinished += unfinished - account.unfinished;
    this.#waiting += waiting - account.waiting;
    owner.unfinished += unfinished - account.unfinished;
    owner.waiting += waiting - account.waiting;
    account.unfinished = unfinished;
    account.waiting = waiting;
  }

  /** Keeps the bounds after a change of an owner. */
  #look(owner: Owner): void {
    if (!owner.isHeldBack && this.#isOver(owner.waiting, this.#waiting)) {
      owner.isHeldBack = true;
      this.#heldBack.add(owner);
      for (const { holder } of owner.accounts) holder.holdBack();
    }
    this.#freeOwners();
    if (this.#isOver(owner.unfinished, this.#unfinished)) this.#cutLongest(owner);
  }

  /** Those that were held back go on once they have half of what they may. */
  #freeOwners(): void {
    for (const owner of this.#heldBack) {
      const { waiting } = owner;
      const isFree = waiting <= FREE_BYTES || (waiting <= this.#most / OWNER_SHARE / 2 && this.#waiting <= this.#most);
      if (!isFree) continue;
      owner.isHeldBack = false;
      this.#heldBack.delete(owner);
      for (const { holder } of owner.accounts) holder.goOn();
    }
  }

  /** Of the owner that has too much; of whoever has most, where it is all together. */
  #cutLongest(owner: Owner): void {
    const isOwn = owner.unfinished > this.#most / OWNER_SHARE;
    const of = isOwn ? owner : mostOf(this.#owners.values());
    if (of !== null) mostOf(of.accounts)?.holder.cut();
  }

  #isOver(own: number, all: number): boolean {
    return own > FREE_BYTES && (own > this.#most / OWNER_SHARE || all > this.#most);
  }
}

function mostOf<T extends { readonly unfinished: number }>(all: Iterable<T>): T | null {
  let most: T | null = null;
  for (const one of all) if (most === null || one.unfinished > most.unfinished) most = one;
  return most;
}
