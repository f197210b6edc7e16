import type { SettingCheck } from '../api/control/processor-settings.ts';
import { defaultExport } from '../pipeline/core/default-export.ts';
import type { Setting } from '../pipeline/core/setting.ts';
import { alerting } from '../pipeline/alerting/streams/alerts-merger.ts';
import { sensitivityFault } from '../pipeline/alerting/settings/sensitivity.ts';
import { CUSTOM_DETECTORS, EXAMPLES, switchFault } from '../pipeline/alerting/settings/switch.ts';
import { extensionFault, type Extension } from '../pipeline/processors/extension.ts';
import { mergers, processors } from '../pipeline/processors/index.ts';
import { rules, ruleSettingFault } from '../pipeline/processors/rules/rules.ts';

/**
 * Loads the processors of these files (`LOGWEIR_PROCESSORS`), in JavaScript or TypeScript, which is compiled as it is loaded. Throws an Error
 * with a sentence that names the file where one cannot be loaded, or exports no processor.
 */
export async function loadExtensions(files: readonly string[]): Promise<readonly Extension[]> {
  const extensions: Extension[] = [];
  const taken = new Set([...processors.names, ...mergers.names]);
  for (const file of files) {
    const found = await defaultExport(file, 'processor');
    const fault = extensionFault(found, taken);
    if (fault !== null) throw new Error(`The processor ${file} cannot be used: ${fault}`);
    const extension = found as Extension;
    for (const { name } of [extension.processor, ...(extension.merger === undefined ? [] : [extension.merger])]) taken.add(name);
    extensions.push(extension);
  }
  return extensions;
}

/** All processors and mergers of the service and of these files, and the settings that they take. Throws as `loadExtensions` does. */
export const allProcessors = async (files: readonly string[], detectors: readonly string[]): Promise<readonly SettingCheck[]> => [
  // a rule may name a custom detector
  ...processors.members.map((processor) =>
    processor.name === rules.name
      ? { ...rules, checkSetting: (setting: Pick<Setting, 'tenantId' | 'value'>) => ruleSettingFault(setting, detectors) }
      : processor,
  ),
  // the merger that publishes their alerts has the sensitivity of custom detectors
  ...mergers.members.map((merger) =>
    merger.name === alerting.name
      ? { ...alerting, checkSetting: ({ value }: Pick<Setting, 'value'>) => sensitivityFault(value, detectors) }
      : merger,
  ),
  { name: CUSTOM_DETECTORS, settings: Object.fromEntries(detectors.map((name) => [name, EXAMPLES])), checkSetting: switchFault },
  ...(await loadExtensions(files)).flatMap(({ processor, merger }) => [processor, ...(merger === undefined ? [] : [merger])]),
];
