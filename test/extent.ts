/** Whether this is `npm run test:all`, which runs every test at its full extent; `npm test` runs samples of the long ones. */
export const isWhole = process.env['TEST_ALL'] === '1';

/** How many a test takes: of the same kind, and checked in the same way, be it a sample or all. */
export function extent(sample: number, whole: number): number {
  return isWhole ? whole : sample;
}
