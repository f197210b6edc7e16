import { defaultExport } from '../pipeline/core/default-export.ts';
import { extensionFault, type Extension } from '../pipeline/processors/extension.ts';
import { mergers, processors } from '../pipeline/processors/index.ts';
import type { Merger } from '../pipeline/processors/merge/merger.ts';
import type { Processor } from '../pipeline/processors/processor.ts';

/**
 * Loads the processors of these files (`LOGWEIR_PROCESSORS`), in JavaScript or TypeScript, which is compiled as it is loaded. Throws an Error
 * with a sentence that names the file where one cannot be loaded, or exports no processor.
 */
export async function loadExtensions(files: readonly string[]): Promise<readonly Extension[]> {
  const extensions: Extension[] = [];
  const taken = new Set([...processors.names, ...mergers.names]);
  for (const file of files) {
    const found = await defaultExport(file, 'processor');
    const fault = extensionFault(found, taken);
    if (fault !== null) throw new Error(`The processor ${file} cannot be used: ${fault}`);
    const extension = found as Extension;
    for (const { name } of [extension.processor, ...(extension.merger === undefined ? [] : [extension.merger])]) taken.add(name);
    extensions.push(extension);
  }
  return extensions;
}

/** All processors and mergers of the service, with those of these files. Throws as `loadExtensions` does. */
export const allProcessors = async (files: readonly string[]): Promise<readonly (Processor | Merger)[]> => [
  ...processors.members,
  ...mergers.members,
  ...(await loadExtensions(files)).flatMap(({ processor, merger }) => [processor, ...(merger === undefined ? [] : [merger])]),
];
