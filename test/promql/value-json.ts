import { valueTexts, type Value } from '../../promql/evaluation/result.ts';

/** `resultType` and `result` of an answer of the query API. */
export const valueJson = (value: Value): { readonly resultType: string; readonly result: unknown } =>
  JSON.parse(`{${[...valueTexts(value)].join('')}}`) as { readonly resultType: string; readonly result: unknown };
