export type InstallOptions = {
  /** The folder of package.json. */
  readonly root: string;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
};

/** Installs the packages that package-lock.json names, unless that has been done. */
export function ensureInstalled(options: InstallOptions): Promise<void>;

/** Compiles the sources into dist/, unless they are the same as at the last time. */
export function ensureBuilt(options: InstallOptions): Promise<void>;
