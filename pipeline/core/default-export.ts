import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What a file in JavaScript or TypeScript exports by default; TypeScript is compiled as it is loaded (tsx), types are not checked. `what`: what it
 * should be, for the error. With a folder the file may be the name of a package that is installed there. Throws an Error with a sentence that
 * names the file.
 */
export async function defaultExport(file: string, what: string, folder: string | null = null): Promise<unknown> {
  // only who has such files pays for the compiler
  const { tsImport } = await import('tsx/esm/api');
  try {
    const isPackage = folder !== null && !path.isAbsolute(file);
    const [from, parent] = isPackage
      ? [file, pathToFileURL(path.join(folder, 'package.json')).href]
      : [pathToFileURL(path.resolve(file)).href, import.meta.url];
    const { default: found } = (await tsImport(from, parent)) as { readonly default?: unknown };
    // a file in a folder without "type": "module" is compiled to CommonJS, whose exports are the default one
    const isCommonJs = typeof found === 'object' && found !== null && '__esModule' in found && 'default' in found;
    return isCommonJs ? found.default : found;
  } catch (error) {
    throw new Error(`The ${what} ${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
