import { AlertResolver } from '../../api/alerts/resolver.ts';
import { AbsoluteWriter } from '../../pipeline/bus/producer/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { ShownDetector } from '../../api/alerts/detector-admin-routes.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { alerting } from '../../pipeline/alerting/streams/alerting.ts';
import { detectorLooks, SENSITIVITY } from '../../pipeline/alerting/settings/sensitivity.ts';
import type { LoadedDetector } from '../../pipeline/alerting/custom/load-detectors.ts';
import { resolutionRecord } from '../../pipeline/alerting/book/command.ts';
import type { RoleContext } from './role.ts';

/** Who resolves alerts by hand, and the connection that it stands on. */
export function createAlertResolver({ config, log }: RoleContext): { readonly resolver: AlertResolver; readonly service: Service } {
  const writer = new AbsoluteWriter(createKafka({ ...config.kafka, clientId: 'logweir-alerts', log }));
  return {
    resolver: new AlertResolver({ write: (resolution) => writer.write([resolutionRecord(resolution)]) }),
    service: { name: 'alert resolver', start: () => Promise.resolve(), stop: () => writer.close() },
  };
}

/** The setting of how easily detectors fire. */
export const sensitivityPlace = { processor: alerting.name, key: SENSITIVITY };

/** The detectors that fire: the service's own, and those of others. */
export const detectorsThatFire = (others: readonly LoadedDetector[]): readonly ShownDetector[] => [
  ...detectorLooks.map((look) => ({ ...look, version: packageVersion(), isCustom: false })),
  ...others.map(({ name, description, version }) => ({ name, description, version, isCustom: true })),
];
