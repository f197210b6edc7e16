import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Marks what is to be found from another folder than this file's. */
const ELSEWHERE = 'logweir-package:';

/** Said where a file in TypeScript is refused, since Node's own sentences do not always tell what it would have to be. */
const STRIPPED = ' (Node removes the types of TypeScript, and runs the rest as JavaScript: docs/extending/typescript.md)';
const isStripped = (file: string): boolean => /\.[cm]?ts$/.test(file);

/**
 * What a file in JavaScript or TypeScript exports by default; of TypeScript Node leaves out the types, which are not checked. `what`: what it
 * should be, for the error. With a folder the file may be the name of a package that is installed there. Throws an Error with a sentence that
 * names the file.
 */
export async function defaultExport(file: string, what: string, folder: string | null = null): Promise<unknown> {
  const isPackage = folder !== null && !path.isAbsolute(file);
  try {
    const found = (await (isPackage ? importFrom(folder, file) : import(pathToFileURL(path.resolve(file)).href))) as {
      readonly default?: unknown;
    };
    return found.default;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The ${what} ${file} cannot be loaded: ${reason}${isStripped(file) && error instanceof SyntaxError ? STRIPPED : ''}`, {
      cause: error,
    });
  }
}

/** Imports a package as a module in that folder would. */
async function importFrom(folder: string, name: string): Promise<unknown> {
  const parentURL = pathToFileURL(path.join(folder, 'package.json')).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith(ELSEWHERE) ? next(specifier.slice(ELSEWHERE.length), { ...context, parentURL }) : next(specifier, context),
  });
  try {
    return await import(ELSEWHERE + name);
  } finally {
    hooks.deregister();
  }
}
