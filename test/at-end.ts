const ends: (() => unknown)[] = [];

/** Runs at the end of a process that runs tests, last come first: for what files share, which lives longer than a file of tests. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

// in Mocha alone (an editor, a debugger), which has no runner to do it
if (process.send === undefined && typeof after === 'function')
  after(async function () {
    this.timeout(240_000);
    await endAll();
  });

/** The runner's: runs them, each whatever another does. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse())
    try {
      await end();
    } catch (error) {
      console.error(error);
    }
}
