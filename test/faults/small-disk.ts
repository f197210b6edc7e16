import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

const FILLER = 'filler';
const MIB = 1024 * 1024;
const BLOCK = Buffer.alloc(MIB, 'x');

/** A file system of its own in a folder that need not exist; gives what takes it away again, whoever still uses it. Needs root. */
export function mountSmallDisk(folder: string, mebibytes: number): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(mebibytes)}m,mode=700`, 'tmpfs', folder], { stdio: 'pipe' });
  let isMounted = true;
  return () => {
    if (isMounted) execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });
    isMounted = false;
  };
}

/** Why no file system can be mounted here; null where one can. */
export function whyNoSmallDisk(scratch: string): string | null {
  const folder = path.join(scratch, `logweir-mount-${String(process.pid)}`);
  try {
    mountSmallDisk(folder, 1)();
    return null;
  } catch (error) {
    return `mounting a tmpfs needs root: ${error instanceof Error ? error.message.trim() : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Share of a folder's disk that is free for us, percent. */
export async function freePercent(folder: string): Promise<number> {
  const { bavail, blocks } = await statfs(folder);
  return (100 * bavail) / blocks;
}

/** Writes the next mebibytes of a file that is nobody's, as long as at least `leastFreePercent` stay free; false: they would not. */
export async function fill(folder: string, mebibytes: number, leastFreePercent: number): Promise<boolean> {
  const file = openSync(path.join(folder, FILLER), 'a');
  try {
    for (let count = 0; count < mebibytes; count++) {
      if ((await freePercent(folder)) <= leastFreePercent) return false;
      writeSync(file, BLOCK);
    }
    return true;
  } finally {
    closeSync(file);
  }
}

/** Removes that file. */
export function makeRoom(folder: string): void {
  rmSync(path.join(folder, FILLER), { force: true });
}
