import { FacetsPipe } from '../../logsql/pipes/facets.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { countOf, isTrue, readSelection, withoutPipes } from './arguments.ts';
import type { Select } from './select.ts';
import { selectedRows } from './rows.ts';

/** `/select/logsql/facets`: the most frequent values of each field, fields by name. */
export const selectFacets: Select = async (parameters, request, deps) => {
  const pipe = new FacetsPipe({
    limit: countOf(parameters, 'limit', 10),
    maxValues: countOf(parameters, 'max_values_per_field', 1000),
    maxLength: countOf(parameters, 'max_value_len', 128),
    keepsConstant: isTrue(parameters, 'keep_const_fields'),
    always: [],
    never: [],
    maxFields: Infinity,
  });
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const fields = new Map<string, { readonly field_value: string; readonly hits: number }[]>();
  for (const row of await selectedRows(withoutPipes(selection, [pipe]), selection, request, deps)) {
    const name = textOf(row.get('field_name'));
    const values = fields.get(name) ?? [];
    fields.set(name, values);
    values.push({ field_value: textOf(row.get('field_value')), hits: Number(textOf(row.get('hits'))) });
  }
  return { body: { facets: [...fields].map(([name, values]) => ({ field_name: name, values })) } };
};
