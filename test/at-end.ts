const ends: (() => unknown)[] = [];

/**
 * Runs at the end of a process that runs tests, last come first: for what files share, which lives longer than a file of tests. In Mocha alone
 * (an editor, a debugger) the process ends what it has started.
 */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** The runner's: runs them, each whatever another does. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse())
    try {
      await end();
    } catch (error) {
      console.error(error);
    }
}
