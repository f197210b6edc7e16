/** The description of the endpoints of saved searches. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, list, members, moment, ok, text, type Operation } from '../http/operation.ts';

export type SearchBody = {
  readonly name: string;
  readonly query: string;
  readonly start: string | null;
  readonly end: string | null;
  readonly columns: readonly string[];
  readonly shared: boolean;
};

/** Characters of a name, of a query, of a time; columns, and the characters of one. */
const [MAX_NAME, MAX_QUERY, MAX_TIME, MAX_COLUMNS, MAX_COLUMN] = [200, 10_000, 100, 100, 200];
const time = Joi.string().trim().min(1).max(MAX_TIME).allow(null).default(null);
export const SEARCH_BODY = Joi.object<SearchBody>({
  name: Joi.string().trim().min(1).max(MAX_NAME).required(),
  query: Joi.string().trim().min(1).max(MAX_QUERY).required().description('LogsQL.'),
  start: time.description('As `/search` takes it: a time, or `-1h`.'),
  end: time,
  columns: Joi.array()
    .items(Joi.string().min(1).max(MAX_COLUMN))
    .max(MAX_COLUMNS)
    .unique()
    .default([])
    .description('Fields that are shown.'),
  shared: Joi.boolean().strict().default(false).description('Every key of the tenant, or of the project, sees it.'),
});

const search = members({
  ...{ id: text(), name: text(), query: text(), start: text().allow(null), end: text().allow(null), columns: list(text()) },
  shared: Joi.boolean(),
  owner: text('The id of the key that saved it.'),
  is_own: Joi.boolean(),
  ...{ created_at: moment(), updated_at: moment() },
});
const path = Joi.object({ search_id: Joi.string() });
const body = jsonBody(SEARCH_BODY);

export const SEARCH_LIST = listParameters(['name', 'created_at', 'updated_at']);
export const SEARCHES: Operation = {
  ...{ id: 'listSavedSearches', tag: 'account', summary: 'Saved searches: the own ones and shared ones, oldest first' },
  ...{ query: SEARCH_LIST, answers: pageAnswer(search) },
};
export const SAVE_SEARCH: Operation = {
  ...{ id: 'saveSearch', tag: 'account', summary: 'Saves a search', body, errors: [409] },
  answers: { 201: json(search, 'The saved search.') },
};
export const ONE_SEARCH: Operation = {
  ...{ id: 'getSavedSearch', tag: 'account', summary: 'One saved search', path, answers: ok(search), errors: [404] },
};
export const CHANGE_SEARCH: Operation = {
  ...{
    id: 'changeSavedSearch',
    tag: 'account',
    summary: 'Sets all members of a saved search',
    path,
    body,
    answers: ok(search),
    errors: [404, 409],
  },
};
export const DELETE_SEARCH: Operation = {
  ...{ id: 'deleteSavedSearch', tag: 'account', summary: 'Deletes a saved search', path, errors: [404, 409] },
  answers: { 204: { description: 'Deleted.' } },
};
