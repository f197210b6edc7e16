import type { SettingCheck } from '../api/control/processor-settings.ts';
import { alertBook } from '../pipeline/alerting/book/alert-book.ts';
import { METRIC_RULES, metricRuleSettings } from '../pipeline/alerting/metrics/metric-rule-fault.ts';
import { CUSTOM_DETECTORS, detectorSwitches } from '../pipeline/alerting/settings/switch.ts';
import { defaultExport } from '../pipeline/core/default-export.ts';
import type { SettingRules } from '../pipeline/core/setting.ts';
import { mergers, processors, spanProcessors } from '../pipeline/processors/index.ts';
import { processorFileFault, type ProcessorFile } from '../pipeline/processors/processor-file.ts';

/**
 * Loads the processors of these files (`LOGWEIR_PROCESSORS`), in JavaScript or TypeScript, which is compiled as it is loaded. Throws an Error
 * with a sentence that names the file where one cannot be loaded, or exports no processor.
 */
export async function loadProcessorFiles(files: readonly string[]): Promise<readonly ProcessorFile[]> {
  const loaded: ProcessorFile[] = [];
  const taken = new Set([...processors.names, ...spanProcessors.names, ...mergers.names, METRIC_RULES, CUSTOM_DETECTORS, alertBook.name]);
  for (const file of files) {
    const found = await defaultExport(file, 'processor');
    const fault = processorFileFault(found, taken);
    if (fault !== null) throw new Error(`The processor ${file} cannot be used: ${fault}`);
    const own = found as ProcessorFile;
    for (const { name } of [own.processor, ...(own.merger === undefined ? [] : [own.merger])]) taken.add(name);
    loaded.push(own);
  }
  return loaded;
}

/**
 * What may be set, of all processors and mergers of the service and of these files, where these are the custom detectors. Throws as
 * `loadProcessorFiles` does.
 */
export async function settingChecks(files: readonly string[], detectors: readonly string[]): Promise<readonly SettingCheck[]> {
  const others = (await loadProcessorFiles(files)).flatMap(({ processor, merger }) => [
    processor,
    ...(merger === undefined ? [] : [merger]),
  ]);
  const all: readonly SettingCheck[] = [
    ...processors.members,
    ...mergers.members,
    metricRuleSettings,
    detectorSwitches(detectors),
    ...others,
  ];
  return all.map((one) => ({ name: one.name, ...rulesOf(one, detectors) }));
}

function rulesOf(one: SettingRules, detectors: readonly string[]): SettingRules {
  const { settings, mostSettings } = one;
  if (settings === undefined) return {};
  return {
    settings,
    ...(mostSettings === undefined ? {} : { mostSettings }),
    checkSetting: (setting) => one.checkSetting?.(setting, detectors) ?? null,
  };
}
