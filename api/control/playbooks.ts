import { randomBytes } from 'node:crypto';
import { HttpError, notFound } from '../../pipeline/core/errors.ts';
import { serviceOf } from '../../pipeline/core/labels.ts';
import { MAX_PLAYBOOK_CHARACTERS, MAX_PLAYBOOKS } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import { EMPTY_PLAYBOOK } from './kinds/playbook.ts';
import type { PlaybookRecord } from './records.ts';
import { changeIn, createIn, liveIn } from './slots.ts';

const MISSING = 'There is no such playbook.';

type Slots = Pick<ControlStore, 'slots'>;
/** For which alerts a playbook is. */
export type PlaybookSelector = Pick<PlaybookRecord, 'services' | 'detectors' | 'rules' | 'pattern'>;
/** What is imported. */
export type PlaybookFields = PlaybookSelector & Pick<PlaybookRecord, 'name' | 'text' | 'isDrafted' | 'owner'>;

/** The playbooks of a tenant, oldest first. */
export const playbooksOf = (control: Slots, tenantId: number): PlaybookRecord[] => liveIn<PlaybookRecord>(control, 'playbook', tenantId);

/** Throws HttpError 404 where the tenant has none of this id. */
export function requirePlaybook(control: Slots, tenantId: number, id: string): PlaybookRecord {
  const found = playbooksOf(control, tenantId).find((record) => record.id === id);
  if (found === undefined) throw notFound(MISSING);
  return found;
}

/** Why a tenant may not have one more, with as many characters as this one; null where it may. */
export function playbookRefusal(control: Slots, tenantId: number, { name, text }: Pick<PlaybookFields, 'name' | 'text'>): HttpError | null {
  const own = playbooksOf(control, tenantId);
  if (own.length >= MAX_PLAYBOOKS)
    return new HttpError(409, 'conflict', `There are ${String(MAX_PLAYBOOKS)} playbooks already, which is the most; delete one.`);
  const length = own.reduce((sum, one) => sum + one.name.length + one.text.length, name.length + text.length);
  return length <= MAX_PLAYBOOK_CHARACTERS
    ? null
    : new HttpError(409, 'conflict', `All playbooks together have at most ${String(MAX_PLAYBOOK_CHARACTERS)} characters; delete one.`);
}

/** Keeps a playbook. Throws HttpError 409 where the tenant has as many as it may. */
export const createPlaybook = (control: ControlStore, tenantId: number, fields: PlaybookFields): Promise<PlaybookRecord> =>
  createIn<PlaybookRecord>(control, 'playbook', tenantId, { ...fields, id: `pb_${randomBytes(9).toString('base64url')}` }, () =>
    playbookRefusal(control, tenantId, fields),
  );

/** Deletes a playbook. Throws HttpError 404. */
export const deletePlaybook = (control: ControlStore, tenantId: number, id: string): Promise<PlaybookRecord> => {
  const found = requirePlaybook(control, tenantId, id);
  // what is deleted is kept as small as it can be
  return changeIn<PlaybookRecord>(control, 'playbook', found, () => ({ ...EMPTY_PLAYBOOK, isDeleted: true }), MISSING);
};

/** What of an alert selectors look at. */
type Facts = { readonly service: string; readonly detector: string; readonly rules: readonly string[]; readonly words: string };

/** Playbooks of a tenant that fit an alert, or one of the alerts of an incident, as the API shows it; oldest first. */
export function playbooksFor(control: Slots, tenantId: number, subject: unknown): PlaybookRecord[] {
  const all = playbooksOf(control, tenantId);
  if (all.length === 0) return [];
  const shown = isObject(subject) ? subject : {};
  const alerts = Array.isArray(shown['alerts']) ? shown['alerts'].filter(isObject) : [shown];
  const facts = alerts.map((alert) => factsOf(alert, shown));
  return all.filter((playbook) => facts.some((one) => fits(playbook, one)));
}

/** Every part of a selector that is given has to fit. */
const fits = ({ services, detectors, rules, pattern }: PlaybookSelector, facts: Facts): boolean =>
  (services.length === 0 || services.includes(facts.service)) &&
  (detectors.length === 0 || detectors.includes(facts.detector)) &&
  (rules.length === 0 || rules.some((rule) => facts.rules.includes(rule))) &&
  facts.words.includes(pattern.toLowerCase());

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function factsOf(alert: Readonly<Record<string, unknown>>, incident: Readonly<Record<string, unknown>>): Facts {
  const evidence = isObject(alert['evidence']) ? alert['evidence'] : {};
  const rule = isObject(evidence['rule']) ? evidence['rule'] : {};
  const words = [alert['title'], alert['description'], evidence['normalized_message'], evidence['fingerprint']].map(textOf);
  return {
    // that of more than one stream has no service of its own
    service: serviceIn(textOf(alert['stream'])) || textOf(incident['service']),
    detector: textOf(alert['detector_type']),
    rules: [textOf(rule['id']), textOf(rule['name'])].filter((name) => name !== ''),
    words: words.join('\n').toLowerCase(),
  };
}

/** A label set that was cut names none. */
function serviceIn(stream: string): string {
  try {
    return serviceOf(stream);
  } catch {
    return '';
  }
}
