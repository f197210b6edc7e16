import { HttpError } from '../../pipeline/core/errors.ts';
import { readJson } from '../../pipeline/core/read-json.ts';
import { masked } from '../../pipeline/core/secret-masks.ts';
import { fenced } from '../../pipeline/core/untrusted-text.ts';
import { isEmptySelector, SELECTOR, type Selector } from './described-playbooks.ts';
import type { Message, ModelClient } from './model-client.ts';
import { objectIn, selectorMessages } from './prompts.ts';
import { textOf } from './write-query.ts';

/** A selector that a model has drafted, and what it was sent. */
export type Draft = { readonly selector: Selector; readonly sent: readonly Message[]; readonly masked: number };

/**
 * Has the model name the alerts that a playbook is for. What it answers is held to the schema, and names that do not stand in the playbook are left out.
 * Throws HttpError 502 where nothing is left.
 */
export async function draftSelector(
  client: ModelClient,
  playbook: { readonly name: string; readonly text: string },
  signal: AbortSignal,
): Promise<Draft> {
  const clean = masked(JSON.stringify(playbook));
  const sent = selectorMessages(fenced(clean.text).text);
  const selector = selectorIn(await textOf(await client.ask(sent, signal)), `${playbook.name}\n${playbook.text}`);
  if (selector === null || isEmptySelector(selector))
    throw new HttpError(502, 'model_failed', 'The model named no alerts that the playbook is for; send a selector.');
  return { selector, sent, masked: clean.count };
}

/** The selector in an answer, of names that stand in the playbook; null where it has none. */
function selectorIn(answer: string, playbook: string): Selector | null {
  let json: unknown;
  try {
    json = readJson(objectIn(answer));
  } catch {
    return null;
  }
  // joi overlooks this one
  if (typeof json !== 'object' || json === null || Object.hasOwn(json, '__proto__')) return null;
  const result = SELECTOR.validate(json, { stripUnknown: true });
  if (result.error !== undefined) return null;
  const known = playbook.toLowerCase();
  const inside = (name: string): boolean => known.includes(name.toLowerCase());
  const { services, detectors, rules, pattern } = result.value;
  return {
    ...{ services: services.filter(inside), detectors: detectors.filter(inside), rules: rules.filter(inside) },
    pattern: inside(pattern) ? pattern : '',
  };
}
