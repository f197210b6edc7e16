import type { ControlStore } from '../../api/control/control-store.ts';
import { writeSetting } from '../../api/control/processor-settings.ts';
import { settingKey } from '../../api/control/records.ts';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { createCustomDetectors } from '../../pipeline/alerting/custom/custom-merger.ts';
import { ProcessRunner, type DetectorFailure } from '../../pipeline/alerting/custom/detector-runner.ts';
import { loadDetectors } from '../../pipeline/alerting/custom/load-detectors.ts';
import { CUSTOM_DETECTORS, isOff, offValue, readOff } from '../../pipeline/alerting/settings/switch.ts';
import type { Merger } from '../../pipeline/processors/merge/merger.ts';
import type { RoleContext } from './role.ts';

/** Delay before a failed write is tried again. Milliseconds. */
const RETRY_MS = 2000;

/** Custom detectors: the merger that queries them, and the service that ends their processes. */
export type CustomDetectors = { readonly merger: Merger; readonly service: Service };

/** Null without any. A detector that fails is switched off by a setting, which every process of every instance heeds, and so is a replay. */
export async function customDetectors({ config, log, metrics }: RoleContext, control: ControlStore): Promise<CustomDetectors | null> {
  const detectors = await loadDetectors(config.detectors.sources);
  if (detectors.length === 0) return null;
  const failures = new Map<string, DetectorFailure & { readonly since: string }>();
  const stopping = new AbortController();
  const runner = new ProcessRunner({
    detectors,
    // a process that was killed may come to it before it comes to the setting
    isOff: ({ name, version }) => {
      const { value = null } = control.setting(settingKey({ processor: CUSTOM_DETECTORS, tenantId: 0, key: name })) ?? {};
      return isOff(readOff(value) ?? undefined, version);
    },
    onFailure: (failure) => {
      failures.set(failure.detector, { ...failure, since: new Date().toISOString() });
      metrics.detectorFailures.inc({ detector: failure.detector });
      log.error(failure, 'A detector failed and is switched off.');
    },
    onLook: (detector, points, cpuMs) => {
      metrics.detectorPoints.inc({ detector }, points);
      metrics.detectorSeconds.inc({ detector }, cpuMs / 1000);
    },
  });
  const merger = createCustomDetectors(runner) as Merger;
  async function write(): Promise<void> {
    for (const [key, { version, reason, since }] of failures) {
      try {
        await writeSetting(control, [merger], {
          processor: CUSTOM_DETECTORS,
          tenantId: 0,
          key,
          value: offValue({ version, reason, since }),
        });
        failures.delete(key);
      } catch (error) {
        log.warn({ err: error, detector: key }, 'Switching a detector off failed; retrying.');
      }
    }
  }
  let writing: Promise<void> = Promise.resolve();
  return {
    merger,
    service: {
      name: 'custom detectors',
      start: () => {
        writing = repeat(RETRY_MS, stopping.signal, write);
        return Promise.resolve();
      },
      stop: async () => {
        stopping.abort();
        runner.stop();
        await writing;
      },
    },
  };
}
