import type { SharedCounts } from '../../api/limits/shared-counts.ts';

/** Counts that a test sets, and keeps what was charged. */
export class FakeSharedCounts implements SharedCounts {
  /** By `tenant day`. */
  readonly bytes = new Map<string, number>();
  readonly others = new Map<number, number>();
  readonly calls: (readonly [tenantId: number, entries: number])[] = [];
  total = 0;
  full: string | null = null;

  bytesOf(tenantId: number, day: number): number {
    return this.bytes.get(`${tenantId} ${day}`) ?? 0;
  }
  othersCharged(tenantId: number): number {
    return this.others.get(tenantId) ?? 0;
  }
  othersTotal(): number {
    return this.total;
  }
  charged(tenantId: number, entries: number): void {
    this.calls.push([tenantId, entries]);
  }
  logFull(): string | null {
    return this.full;
  }
}
