import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** A file of the pages as it is sent: its bytes as they are, and compressed beforehand. */
export type PageFile = {
  readonly type: string;
  readonly tag: string;
  readonly isHashed: boolean;
  readonly codings: Readonly<Record<'identity' | 'gzip' | 'br', Buffer | null>>;
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** All files of the built pages, by their path below `/ui`; empty where they are not built. They are few and small, and are kept in memory. */
export function readPages(folder: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(path.join(folder, 'index.html'))) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.split(path.sep).join('/'));
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const bytesOf = (end: string): Buffer | null => (names.includes(name + end) ? readFileSync(path.join(folder, name + end)) : null);
    const identity = readFileSync(path.join(folder, name));
    const tag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 16)}"`;
    files.set(name, {
      ...{ type, tag, isHashed: name.startsWith('assets/') },
      codings: { identity, gzip: bytesOf('.gz'), br: bytesOf('.br') },
    });
  }
  return files;
}
