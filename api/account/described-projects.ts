/** The description of the endpoints of projects. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, members, moment, ok, text, type Operation } from '../http/operation.ts';

export type ProjectBody = { readonly name: string; readonly filter?: string; readonly labels?: Readonly<Record<string, string>> };
export type ProjectChange = Partial<ProjectBody>;

/** Characters of a name and a filter; labels, and the characters of one's name and value. */
const [MAX_NAME, MAX_FILTER, MAX_LABELS, MAX_LABEL, MAX_VALUE] = [200, 2000, 10, 100, 200];
const name = Joi.string().trim().min(1).max(MAX_NAME);
const filter = Joi.string().trim().min(1).max(MAX_FILTER).description('LogsQL without pipes. Without it: what has the labels.');
const labels = Joi.object()
  .pattern(
    Joi.string()
      .pattern(/^[A-Za-z][A-Za-z0-9_.-]*$/, 'a label')
      .max(MAX_LABEL),
    Joi.string().min(1).max(MAX_VALUE),
  )
  .max(MAX_LABELS)
  .description('Added to the streams of what its keys send. Without them and a filter: `project` with the name.');
export const PROJECT_BODY = Joi.object<ProjectBody>({ name: name.required(), filter, labels });
export const PROJECT_CHANGE = Joi.object<ProjectChange>({ name, filter, labels }).min(1);

const project = members({
  ...{ id: text(), name: text(), filter: text('LogsQL.'), labels: Joi.object().pattern(Joi.string(), Joi.string()) },
  ...{ created_at: moment(), updated_at: moment() },
});
const path = Joi.object({ project_id: Joi.string() });

export const PROJECT_LIST = listParameters(['name', 'created_at', 'updated_at']);
export const PROJECTS: Operation = {
  ...{ id: 'listProjects', tag: 'account', summary: 'The projects of a tenant, oldest first' },
  ...{ query: PROJECT_LIST, answers: pageAnswer(project) },
};
export const CREATE_PROJECT: Operation = {
  ...{ id: 'createProject', tag: 'account', summary: 'Creates a project', body: jsonBody(PROJECT_BODY), errors: [409] },
  description: '403 where the plan has no projects, or no more. Keys are made for it by `POST …/keys` with its id.',
  answers: { 201: json(project, 'The project.') },
};
export const ONE_PROJECT: Operation = {
  ...{ id: 'getProject', tag: 'account', summary: 'One project', path, answers: ok(project), errors: [404] },
};
export const CHANGE_PROJECT: Operation = {
  ...{ id: 'changeProject', tag: 'account', summary: 'Renames a project, or changes what it has', path, errors: [404, 409] },
  ...{ body: jsonBody(PROJECT_CHANGE), answers: ok(project) },
};
export const DELETE_PROJECT: Operation = {
  ...{
    id: 'deleteProject',
    tag: 'account',
    summary: 'Deletes a project: its keys are refused, its entries stay',
    path,
    errors: [404, 409],
  },
  answers: { 204: { description: 'Deleted on every node.' } },
};
