import { loadProcessorFiles } from '../../../main/processor-files.ts';
import { mergers, processors } from '../../../pipeline/processors/index.ts';
import type { Merger } from '../../../pipeline/processors/merge/merger.ts';
import type { Processor } from '../../../pipeline/processors/base/processor.ts';

const EXAMPLES = ['examples/processors/service-entries.ts', 'examples/processors/distinct-users.ts'];
/** `logweir processor test FILE` asks for the processors of a file alone. */
const asked = process.env['LOGWEIR_PROCESSORS'] ?? '';
/** Why they cannot be loaded; null where they can. */
export let fault: Error | null = null;
const files = await loadProcessorFiles(asked === '' ? EXAMPLES : asked.split(',')).catch((error: unknown) => {
  fault = error as Error;
  return [];
});

/** Processors that are held to the contract: ours and the examples, or those that are asked for. */
export const subjects: readonly Processor[] = [...(asked === '' ? processors.members : []), ...files.map(({ processor }) => processor)];

/** Mergers that are, with each processor whose partials they take. */
export const merged: readonly { readonly processor: Processor; readonly merger: Merger }[] = [
  ...(asked === '' ? mergers.members : []).flatMap((merger) =>
    // those of spans have tests of their own
    [merger.of, ...(merger.alsoOf ?? [])].flatMap((name) => {
      const processor = processors.find(name);
      return processor === undefined ? [] : [{ processor, merger }];
    }),
  ),
  ...files.flatMap(({ processor, merger }) => (merger === undefined ? [] : [{ processor, merger }])),
];
