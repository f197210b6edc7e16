import type { Logger } from 'pino';
import type { AdminAudit } from '../../api/admin/admin-audit.ts';
import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import type { Peers } from '../../api/admin/peers.ts';
import type { ProcessorLook } from '../../api/admin/processors.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import type { RejectionLog } from '../../api/ingest/rejection-log.ts';
import type { Config } from '../../pipeline/core/config.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import type { Service } from '../../pipeline/core/service.ts';

/** What a role is made of. */
export type RoleContext = {
  /** What this process does. */
  readonly roles: readonly string[];
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The instance's other processes. */
  readonly peers: Peers;
  /** What this process refused lately, of every tenant. */
  readonly rejections: RejectionLog;
  /** Registers a part of the answer of `/ready`. */
  readonly registerCheck: (name: string, check: () => boolean | Promise<boolean>) => void;
  /** Registers a warning that `/ready` shows though all checks hold. */
  readonly registerWarning: (warning: () => string | null) => void;
  /** Makes this process's internal listener the one that serves operators, and logs their changes. */
  readonly serveAdmin: (routes: readonly AdminRoute[], audit: AdminAudit) => void;
  /** Lets the other processes wait until this one's control store has seen a change. */
  readonly useControl: (control: ControlStore) => void;
  /** Shows operators what the processors of this process are doing. */
  readonly showProcessors: (look: ProcessorLook) => void;
  /** Ends the process, so that the supervisor starts it again. */
  readonly fail: (error: Error) => void;
};

/** One of the service's roles: its services in the order in which they start, downstream first. */
export interface Role {
  services(context: RoleContext): Service[] | Promise<Service[]>;
}
