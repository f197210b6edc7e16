import path from 'node:path';
import { packageRoot } from '../../pipeline/core/package-root.ts';

/** Where a file of this folder lies that is no code: its sources and the compiled program read the same one. */
export const template = (name: string): string => path.join(packageRoot(), 'compose', 'embedded', name);
