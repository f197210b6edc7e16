/** What a detector of one's own stands on, as `logweir/detector`: docs/extending/detectors.md. */
export type { CustomDetector, CustomFinding, Point } from './custom.ts';
