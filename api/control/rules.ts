import { randomBytes } from 'node:crypto';
import { notFound, planGate } from '../../pipeline/core/errors.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import { requireTenant } from './accounts.ts';
import type { ControlStore } from './control-store.ts';
import { effectivePlan } from './flags.ts';
import { writeSetting, type SettingCheck } from './processor-settings.ts';
import { settingKey } from './records.ts';

/** Where rules are set: a setting of this processor for each slot, from 1 to `slots`. */
export type RulePlaces = {
  readonly processor: string;
  readonly slots: number;
  keyOf(slot: number): string;
  /** How many a tenant may have for each rule of its plan, one unless told; and how an id begins. */
  readonly factor?: number;
  readonly prefix?: string;
};

/** The fields of a rule as a client sends them; the processor that evaluates it validates them. */
export type RuleFields = Readonly<Record<string, Json>>;
export type RuleRecord = RuleFields & { readonly id: string; readonly created_at: string };

/** What the functions below stand on. */
export type RuleBook = { readonly control: ControlStore; readonly checks: readonly SettingCheck[]; readonly places: RulePlaces };

class SlotTaken extends Error {}

/** What is set in each slot of a tenant; null for nothing. */
function slotsOf({ control, places }: RuleBook, tenantId: number): (RuleRecord | null)[] {
  const { processor, slots, keyOf } = places;
  return Array.from({ length: slots }, (_none, index) => {
    const value = control.setting(settingKey({ processor, tenantId, key: keyOf(index + 1) }))?.value ?? null;
    return value as RuleRecord | null;
  });
}

/** The rules of a tenant, oldest first. */
export function rulesOf(book: RuleBook, tenantId: number): RuleRecord[] {
  const own = slotsOf(book, tenantId).filter((rule) => rule !== null);
  return own.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
}

/** How many rules the plan of a tenant has. Throws HttpError 404. */
export const mostRules = ({ control, places }: RuleBook, tenantId: number): number =>
  Math.min(places.slots, (places.factor ?? 1) * effectivePlan(requireTenant(control, tenantId)).rules);

/** Throws HttpError 404 where the tenant has none of this id. */
export function requireRule(book: RuleBook, tenantId: number, id: string): RuleRecord {
  return placed(book, tenantId, id).rule;
}

/** Creates a rule. Throws HttpError 400 where it is none, 403 where the tenant has as many as its plan has, 404 where there is no such tenant. */
export async function createRule(book: RuleBook, tenantId: number, fields: RuleFields): Promise<RuleRecord> {
  const { name } = effectivePlan(requireTenant(book.control, tenantId));
  const most = mostRules(book, tenantId);
  const rule: RuleRecord = {
    ...fields,
    id: `${book.places.prefix ?? 'ru_'}${randomBytes(9).toString('base64url')}`,
    created_at: new Date().toISOString(),
  };
  for (;;) {
    const slots = slotsOf(book, tenantId);
    const count = slots.filter((one) => one !== null).length;
    const free = slots.indexOf(null) + 1;
    if (count >= most || free === 0) throw planGate(403, `There are ${String(count)} rules already; the plan ${name} has ${String(most)}.`);
    try {
      await write(book, { tenantId, slot: free, value: rule }, (current) => {
        if (current !== null) throw new SlotTaken();
      });
      return rule;
    } catch (error) {
      // another request has created one there meanwhile
      if (!(error instanceof SlotTaken)) throw error;
    }
  }
}

/** Puts a rule in place of one. Throws HttpError 400 and 404. */
export async function changeRule(
  book: RuleBook,
  { tenantId, id }: { readonly tenantId: number; readonly id: string },
  fields: RuleFields,
): Promise<RuleRecord> {
  const { rule, slot } = placed(book, tenantId, id);
  const changed: RuleRecord = { ...fields, id, created_at: rule.created_at };
  await write(book, { tenantId, slot, value: changed }, sameAs(id));
  return changed;
}

/** Throws HttpError 404 where the tenant has none of this id. */
export async function deleteRule(book: RuleBook, { tenantId, id }: { readonly tenantId: number; readonly id: string }): Promise<void> {
  const { slot } = placed(book, tenantId, id);
  await write(book, { tenantId, slot, value: null }, sameAs(id));
}

const NONE = 'There is no such rule.';

const sameAs =
  (id: string) =>
  (current: Json): void => {
    if ((current as RuleRecord | null)?.id !== id) throw notFound(NONE);
  };

function placed(book: RuleBook, tenantId: number, id: string): { readonly rule: RuleRecord; readonly slot: number } {
  const slots = slotsOf(book, tenantId);
  const index = slots.findIndex((rule) => rule?.id === id);
  const rule = slots[index] ?? null;
  if (rule === null) throw notFound(NONE);
  return { rule, slot: index + 1 };
}

const write = (
  { control, checks, places }: RuleBook,
  { tenantId, slot, value }: { readonly tenantId: number; readonly slot: number; readonly value: Json },
  guard: (current: Json) => void,
): ReturnType<typeof writeSetting> =>
  writeSetting(control, checks, { processor: places.processor, key: places.keyOf(slot), tenantId, value }, guard);
