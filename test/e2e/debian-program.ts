import path from 'node:path';
import { findProgram } from '../../compose/embedded/run.ts';
import { libraryFolders } from '../shippers/programs.ts';
import { installToolset, type ToolsetName } from '../shippers/toolsets.ts';

/** A program of Debian: where it is, and the environment that it needs. */
export type DebianProgram = { readonly file: string; readonly env: Readonly<Record<string, string>> };

/** The machine's own program, or the one of a toolset. Throws NotHere where it cannot be had. */
export async function debianProgram(toolset: ToolsetName, name: string, inPackage: string): Promise<DebianProgram> {
  const own = findProgram(name);
  if (own !== null) return { file: own, env: {} };
  const { folder } = await installToolset(toolset, console.log);
  const root = path.join(folder, name, 'root');
  // some packages have libraries of their own in a folder below, as libpulse0
  const libraries = [...libraryFolders(root)].filter((folder) => folder.includes('-linux-gnu'));
  return { file: path.join(root, inPackage), env: { LD_LIBRARY_PATH: libraries.join(':') } };
}
