import { HttpError, invalidBody } from '../../pipeline/core/errors.ts';
import { masked } from '../../pipeline/core/secret-masks.ts';
import { fenced } from '../../pipeline/core/untrusted-text.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { answerInside } from '../http/inner-request.ts';
import type { ExplainParameters } from './parameters.ts';

/** Most characters of one part of the evidence, and of all of it. */
export const MAX_PART_CHARACTERS = 8000;
const MAX_EVIDENCE_CHARACTERS = 40_000;
/** Most characters of one string in it, so that a long one leaves room for others. */
const MAX_STRING = 1000;
/** Most entries, and most of other lists. */
const ENTRIES = '40';
const FEW = '15';
/** Playbooks that an explanation is given at most: the oldest that fit. */
const MOST_PLAYBOOKS = 3;

/** A part of what the model is given: what it is, and what an endpoint of this service answered. */
type Part = { readonly title: string; readonly operation: string; readonly params?: Readonly<Record<string, string>>; readonly query?: Readonly<Record<string, string>>; readonly body?: object }; // prettier-ignore

/** The parts for what is to be explained; the first one must be there, else its error is the answer. */
function partsOf({ alert_id, incident_id, fingerprint, query, start, end, deep }: ExplainParameters): readonly Part[] {
  const window = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
  const changes: Part = {
    title: 'Patterns that are new or more frequent',
    operation: 'diffPatterns',
    query: { a: '-4h..-1h', b: '-1h..now', limit: FEW },
  };
  const errors: Part = { title: 'Errors of the last hour by service', operation: 'searchEntries', body: { query: 'level:in(error,fatal,critical) | stats by (service, _msg) count() n | sort by (n desc) | limit 20', start: '-1h' } }; // prettier-ignore
  const others: Part = { title: 'What else fires', operation: 'listAlerts', query: { state: 'firing', limit: FEW } };
  const more = deep === true ? [changes, errors, others] : [];
  if (alert_id !== undefined) return [{ title: 'The alert', operation: 'getAlert', params: { alert_id: String(alert_id) } }, ...more];
  if (incident_id !== undefined) return [{ title: 'The incident', operation: 'getIncident', params: { incident_id: String(incident_id) } }, ...more]; // prettier-ignore
  if (fingerprint !== undefined)
    return [
      { title: 'The pattern', operation: 'getPattern', params: { fingerprint } },
      {
        title: 'Entries of the pattern',
        operation: 'searchEntries',
        body: { query: `_fingerprint:${fingerprint}`, start: '-1d', limit: 10 },
      },
      ...more,
    ];
  return [
    { title: 'Entries', operation: 'searchEntries', body: { query, ...window, limit: Number(ENTRIES) } },
    { title: 'What they have in common', operation: 'listFacets', query: { query: query ?? '*', ...window, limit: '5' } },
    ...more,
  ];
}

/** A playbook that fits what is explained. */
export type Playbook = { readonly id: string; readonly name: string; readonly text: string };
/** Finds the playbooks of a tenant that fit an alert or an incident, as it is shown. */
export type PlaybookFinder = (tenantId: number, subject: unknown) => readonly Playbook[];

/** What was found, as the model gets it: masked, shortened, and fenced. `playbooks`: those in it. */
export type Evidence = {
  readonly text: string;
  readonly masked: number;
  readonly playbooks: readonly { readonly id: string; readonly name: string }[];
};

/** Reads the evidence in the name of who sent the request, by the endpoints of this host. Throws what the first of them throws. */
export async function evidenceOf(
  exchange: Exchange,
  parameters: ExplainParameters,
  endpoints: readonly Endpoint[],
  playbooksFor: PlaybookFinder,
): Promise<Evidence> {
  const room = new Room();
  const playbooks: { readonly id: string; readonly name: string }[] = [];
  const isAlert = parameters.alert_id !== undefined || parameters.incident_id !== undefined;
  for (const [at, part] of partsOf(parameters).entries()) {
    const found = await read(exchange, part, endpoints, at === 0);
    room.add(part.title, found);
    if (at > 0 || !isAlert) continue;
    for (const { id, name, text } of playbooksFor(exchange.principal.tenantId, JSON.parse(found)).slice(0, MOST_PLAYBOOKS))
      if (room.add('A playbook of the team for such alerts', JSON.stringify({ id, name, text }))) playbooks.push({ id, name });
  }
  return { text: room.texts.join('\n\n'), masked: room.masked, playbooks };
}

/** Collects parts as long as there is room for them. */
class Room {
  readonly texts: string[] = [];
  masked = 0;
  #left = MAX_EVIDENCE_CHARACTERS;

  /** Adds what fits of a part; false where nothing does. */
  add(title: string, found: string): boolean {
    const clean = masked(found);
    this.masked += clean.count;
    const cut = clean.text.slice(0, Math.min(MAX_PART_CHARACTERS, this.#left));
    this.#left -= cut.length;
    if (cut === '') return false;
    this.texts.push(`${title}, as JSON${cut.length < clean.text.length ? ' (cut)' : ''}:\n${fenced(cut).text}`);
    return true;
  }
}

async function read(exchange: Exchange, part: Part, endpoints: readonly Endpoint[], isNeeded: boolean): Promise<string> {
  try {
    return await answerOf(exchange, part, endpoints);
  } catch (error) {
    // what else there is may be explained without it
    if (isNeeded || !(error instanceof HttpError) || error.status === 499) throw error;
    return JSON.stringify({ not_available: error.message });
  }
}

/** The answer of an operation, with long strings cut. */
export async function answerOf(
  exchange: Exchange,
  { operation, params = {}, query = {}, body }: Omit<Part, 'title'>,
  endpoints: readonly Endpoint[],
): Promise<string> {
  const endpoint = endpoints.find((one) => one.operation?.id === operation);
  if (endpoint === undefined) throw new Error(`BUG: there is no operation ${operation}.`);
  const { body: answer, stream } = await answerInside(exchange, endpoint, {
    method: endpoint.methods[0] ?? 'GET',
    params: { tenant_id: String(exchange.principal.tenantId), ...params },
    query: new URLSearchParams(query),
    ...(body === undefined ? {} : { body }),
  });
  if (stream !== undefined || answer === undefined) throw new Error(`BUG: ${operation} answers nothing that is JSON.`);
  const text = typeof answer === 'string' || Buffer.isBuffer(answer) ? answer.toString() : JSON.stringify(answer);
  return JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
    typeof value === 'string' && value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}… (${String(value.length)} characters)` : value,
  );
}

/** What of a request is to be explained must be one thing. Throws HttpError 400. */
export function oneSubject({ alert_id, incident_id, fingerprint, query }: ExplainParameters): void {
  const given = [alert_id, incident_id, fingerprint, query].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalidBody('The body must have exactly one of alert_id, incident_id, fingerprint and query.');
}
