import { SETTING_KEY } from '../core/setting.ts';
import type { Merger } from './merge/merger.ts';
import type { Fold, Processor } from './base/processor.ts';

/** What a file of `LOGWEIR_PROCESSORS` exports by default: a processor, and who merges its partials, where it has some. */
export type ProcessorFile<State = unknown, Merged = unknown> = { readonly processor: Processor<State>; readonly merger?: Merger<Merged> };

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const CONFIGURABLE = ['settings', 'checkSetting', 'configure'] as const;
const METHODS = ['init', 'fold', 'snapshot', 'restore'] as const;

/** What is wrong with what a file exports, as a sentence; null for nothing. `taken`: the names of those that are there already. */
export function processorFileFault(found: unknown, taken: ReadonlySet<string>): string | null {
  const { processor, merger } = (typeof found === 'object' && found !== null ? found : {}) as { [Key in keyof ProcessorFile]?: unknown };
  const fault = foldFault('processor', processor, taken) ?? configurableFault(processor as Record<string, unknown>);
  if (fault !== null || merger === undefined) return fault;
  const { name } = processor as Fold;
  const { of } = merger as { readonly of?: unknown };
  if (of !== name) return `Its merger must have the member "of" with the name of the processor, ${JSON.stringify(name)}.`;
  return foldFault('merger', merger, new Set([...taken, name]));
}

/** Settings need a method that checks them and one that takes them. */
function configurableFault(processor: Readonly<Record<string, unknown>>): string | null {
  const has = CONFIGURABLE.filter((member) => processor[member] !== undefined);
  if (has.length === 0) return null;
  const { settings } = processor;
  const isWhole =
    typeof settings === 'object' && settings !== null && CONFIGURABLE.slice(1).every((method) => typeof processor[method] === 'function');
  if (!isWhole) return 'Its processor must have "settings" and the methods "checkSetting" and "configure", or none of them.';
  const wrong = Object.keys(settings).find((key) => !SETTING_KEY.test(key));
  return wrong === undefined ? null : `The keys of its settings are of a-z, 0-9 and "_" (got ${JSON.stringify(wrong)}).`;
}

function foldFault(what: string, found: unknown, taken: ReadonlySet<string>): string | null {
  if (typeof found !== 'object' || found === null) return `Its default export must be an object with the member "${what}".`;
  const fold = found as Record<string, unknown>;
  const missing = METHODS.find((method) => typeof fold[method] !== 'function');
  if (missing !== undefined) return `Its ${what} must have the method "${missing}".`;
  if (typeof fold['name'] !== 'string' || !NAME.test(fold['name']))
    return `Its ${what} must have a name of a-z, 0-9 and "-", of at most 63 characters (got ${JSON.stringify(fold['name'])}).`;
  return taken.has(fold['name']) ? `The name of its ${what}, ${JSON.stringify(fold['name'])}, is taken.` : null;
}
