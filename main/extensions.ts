import path from 'node:path';
import { pathToFileURL } from 'node:url';
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
    const found = await defaultExport(file);
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

async function defaultExport(file: string): Promise<unknown> {
  // only who has such files pays for the compiler
  const { tsImport } = await import('tsx/esm/api');
  try {
    const { default: found } = (await tsImport(pathToFileURL(path.resolve(file)).href, import.meta.url)) as { readonly default?: unknown };
    // a file in a folder without "type": "module" is compiled to CommonJS, whose exports are the default one
    const isCommonJs = typeof found === 'object' && found !== null && '__esModule' in found && 'default' in found;
    return isCommonJs ? found.default : found;
  } catch (error) {
    throw new Error(`The processor ${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
