import path from 'node:path';
import { packageRoot } from '../../pipeline/core/package-root.ts';

/** The path of a file of this folder that is not code: its sources and the compiled program read the same one. */
export const template = (name: string): string => path.join(packageRoot(), 'compose', 'embedded', name);
