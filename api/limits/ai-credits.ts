import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readAndFollow, type CompactedLog, type CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { HttpError, planGate, rateLimited } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Plan } from '../tenants/plans.ts';
import { CREDIT_FEATURES, CreditLedger, dayOf, DAY_MS, type CreditFeature, type Spend, type Verdict } from './credit-ledger.ts';

/** How long a credit may take to come back from the log. Milliseconds. */
const VERDICT_DEADLINE_MS = 10_000;
const ID_BYTES = 12;
const EXPIRED = 'trial_expired';

/** The tenant whose credits are spent. */
export type Spender = { readonly tenantId: number; readonly plan: Plan };
/** A credit that was spent. */
export type Spent = { readonly id: string; readonly tenantId: number; readonly day: number; readonly feature: CreditFeature };
/** What a tenant has spent today of what it may; null: no limit. */
export type CreditUse = { readonly used: number; readonly limit: number | null };

export type AiCreditsOptions = {
  /** The topic `ai-credits.v1`. */
  readonly log: CompactedLog;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly retryMs?: number;
  readonly deadlineMs?: number;
};

/**
 * The AI credits of a UTC day, exact over all nodes and through kills (docs/adr/0054-ai-credits-on-the-log.md): a spend is a record, and its place on
 * the topic decides whether it was within the limit; every node comes to the same verdict.
 */
export class AiCredits implements Service {
  readonly name = 'AI credits';
  readonly #options: Required<AiCreditsOptions>;
  readonly #ledger = new CreditLedger();
  readonly #stop = new AbortController();
  /** Who waits for the verdict on a spend of this node. */
  readonly #waiting = new Map<string, (verdict: Verdict) => void>();
  #following: Promise<unknown> | null = null;
  #ready = false;

  constructor(options: AiCreditsOptions) {
    this.#options = { clock: Date.now, retryMs: 500, deadlineMs: VERDICT_DEADLINE_MS, ...options };
  }

  /** True once the topic was read to its end. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Resolves after the first attempt to read the topic; where Kafka could not be reached, attempts go on behind. */
  start(): Promise<void> {
    return new Promise((tried) => {
      this.#following = this.#follow(tried).then(tried);
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#options.log.stop();
    await this.#following;
  }

  /** Throws HttpError: 403 where the plan has no AI, 503 while the credits are not known, 429 where none is left. Spends nothing. */
  admit({ tenantId, plan }: Spender, feature: CreditFeature): void {
    if (!hasAi(plan)) throw noAi(plan);
    if (!this.#ready) throw unknownCredits();
    const verdict = this.#ledger.wouldBe(this.#spendOf(tenantId, plan, feature));
    if (verdict !== 'spent') throw this.#refusal(verdict, plan, feature);
  }

  /** Spends a credit. Throws as `admit` does; after a 503 it may be spent. */
  async spend(spender: Spender, feature: CreditFeature): Promise<Spent> {
    this.admit(spender, feature);
    const { tenantId, plan } = spender;
    const spend = this.#spendOf(tenantId, plan, feature);
    const id = randomBytes(ID_BYTES).toString('base64url');
    const verdict = await this.#verdictOn(id, spend);
    if (verdict !== 'spent') throw this.#refusal(verdict, plan, feature);
    return { id, tenantId, day: spend.day, feature };
  }

  /** Gives a credit back that was spent on nothing: the model did not answer. What fails here stays spent. */
  async giveBack({ id, tenantId, day, feature }: Spent): Promise<void> {
    try {
      await this.#options.log.append(`${id}:back`, JSON.stringify({ v: 1, back: id, tenant: tenantId, day, feature }));
    } catch (error) {
      this.#options.logger.warn({ err: error, tenantId }, 'A credit could not be given back.');
    }
  }

  /** What a tenant has spent today, in all and of each feature with a share of its own. */
  useOf({ tenantId, plan }: Spender): { readonly total: CreditUse; readonly features: Readonly<Record<string, CreditUse>> } {
    const day = dayOf(this.#options.clock());
    const use = (limit: number, feature?: CreditFeature): CreditUse => ({
      used: this.#ledger.usedOf(tenantId, day, feature),
      limit: limit === Infinity ? null : limit,
    });
    const limited = CREDIT_FEATURES.flatMap(({ name, share }) => (share === null ? [] : [[name, use(plan.credits[share], name)] as const]));
    return { total: use(hasAi(plan) ? plan.credits.daily : 0), features: Object.fromEntries(limited) };
  }

  #spendOf(tenantId: number, { credits }: Plan, feature: CreditFeature): Spend {
    const share = CREDIT_FEATURES.find(({ name }) => name === feature)?.share ?? null;
    const day = dayOf(this.#options.clock());
    return { tenantId, day, feature, limit: credits.daily, featureLimit: share === null ? Infinity : credits[share] };
  }

  /** Puts a spend on the topic, and waits until it was read there. */
  async #verdictOn(id: string, { tenantId, day, feature, limit, featureLimit }: Spend): Promise<Verdict> {
    const numberOf = (bound: number): number | null => (bound === Infinity ? null : bound);
    const value = { v: 1, tenant: tenantId, day, feature, limit: numberOf(limit), feature_limit: numberOf(featureLimit) };
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Verdict>((resolve, reject) => {
        this.#waiting.set(id, resolve);
        timer = setTimeout(() => {
          reject(unknownCredits());
        }, this.#options.deadlineMs);
        this.#options.log.append(id, JSON.stringify(value)).catch((error: unknown) => {
          this.#options.logger.warn({ err: error, tenantId }, 'A credit could not be put on the topic.');
          reject(unknownCredits());
        });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  async #follow(tried: () => void): Promise<void> {
    const { log, logger, retryMs } = this.#options;
    const onFailure = (error: unknown, wait: number): void => {
      logger.warn({ err: error, retryMs: wait }, 'The topic of AI credits cannot be read yet.');
      tried();
    };
    const onRecord = ({ key, value }: CompactedRecord): void => {
      const verdict = this.#ledger.fold(key, value, dayOf(this.#options.clock()));
      if (verdict !== null) this.#waiting.get(key)?.(verdict);
    };
    this.#ready = await readAndFollow(log, onRecord, { signal: this.#stop.signal, retryMs, onFailure });
  }

  #refusal(verdict: Exclude<Verdict, 'spent'>, plan: Plan, feature: CreditFeature): HttpError {
    const row = CREDIT_FEATURES.find(({ name }) => name === feature);
    const [what, limit] =
      verdict === 'feature' && row?.share != null ? [` for ${row.words}`, plan.credits[row.share]] : ['', plan.credits.daily];
    const now = this.#options.clock();
    const wait = Math.max(1, Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1000));
    return rateLimited(
      `The daily AI credits${what} are used up: ${String(limit)} of the plan ${plan.name}; they reset at 00:00 UTC.`,
      wait,
    );
  }
}

/** Whether a plan has AI: the end of a trial shuts the gate, whatever flags the tenant has. */
export const hasAi = ({ features, credits, name }: Plan): boolean => features.ai && credits.daily > 0 && name !== EXPIRED;

/** 403: the gate of a plan without AI. */
export const noAi = ({ name }: Plan): HttpError => planGate(403, `AI is not available on your plan (${name}).`);

/** 503: nothing is given that could not be counted. Transient. */
const unknownCredits = (): HttpError =>
  new HttpError(503, 'credits_unavailable', 'What was used today cannot be counted right now; retry later.', { retryAfter: 5 });
