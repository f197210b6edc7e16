import type { Logger } from '@clickhouse/client';

/** The client's own log is dropped: each of its errors reaches us as an exception. */
export class quietClickHouseLog implements Logger {
  trace(): void {
    /* dropped */
  }
  debug(): void {
    /* dropped */
  }
  info(): void {
    /* dropped */
  }
  warn(): void {
    /* dropped */
  }
  error(): void {
    /* dropped */
  }
}
