import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import Joi from 'joi';
import { openApi, templateOf } from '../../../api/openapi/document.ts';
import { jsonSchemaOf } from '../../../api/openapi/schemas.ts';
import { describedEndpoints } from '../../../main/description.ts';
import { members, ok, text } from '../../../api/http/operation.ts';
import { DescribedAnswers } from '../../openapi/described-answers.ts';

type Described = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
};
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

describe('the description of the API', () => {
  const endpoints = describedEndpoints();
  const document = openApi(endpoints) as { readonly info: { readonly version: string }; readonly paths: Paths };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  it('has the version of the interface', () => expect(document.info.version).to.equal('1.0.0'));

  it('has every endpoint with each of its methods', () => {
    const all = endpoints.flatMap(({ path, methods }) => methods.map((method) => `${method.toLowerCase()} ${templateOf(path)}`));
    expect(operations.map(({ path, method }) => `${method} ${path}`).sort()).to.deep.equal([...new Set(all)].sort());
  });

  it('names each operation once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).to.deep.equal([]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).to.deep.equal([]);
  });

  it('has a parameter for each part of a path, and only for these', () => {
    for (const { path, operation } of operations) {
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
      expect(named, path).to.deep.equal(parts);
    }
  });

  it('has the header of waits with each 429 and 503, and that of sets with what queries answer', () => {
    const { components } = document as unknown as { components: { responses: Record<string, { headers: object }>; headers: object } };
    expect(components.headers).to.have.all.keys('RequestId', 'RetryAfter', 'Set');
    for (const [name, { headers }] of Object.entries(components.responses))
      expect('Retry-After' in headers, name).to.equal(/_(?:429|503)$/.test(name));
    const headersOf = ({ responses }: Described): object => (responses['200'] as { readonly headers?: object } | undefined)?.headers ?? {};
    const withSet = operations.filter(({ operation }) => 'X-Set' in headersOf(operation));
    const paths = withSet.map(({ path }) => path);
    expect(paths).to.include.members(['/api/v1/tenants/{tenant_id}/search', '/api/v1/tenants/{tenant_id}/replay/sessions', '/select/logsql/query']); // prettier-ignore
    expect(paths).to.not.include.members(['/v1/rum/replay', '/health', '/api/v1/ingest']);
  });

  it('has schemas that compile', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      allowMatchingProperties: true,
      validateFormats: false,
    });
    for (const { operation } of operations) {
      const schemas = [
        ...(operation.parameters ?? []).map(({ schema }) => schema),
        ...[operation.requestBody, ...Object.values(operation.responses)].flatMap((one) =>
          Object.values(one?.content ?? {}).map(({ schema }) => schema),
        ),
      ];
      for (const schema of schemas) expect(() => ajv.compile(schema), operation.operationId).not.to.throw();
    }
  });

  it('takes the key as a parameter only where the service does', () => {
    const takes = (method: string, path: string): boolean =>
      document.paths[path]?.[method]?.security.some((one) => 'parameter' in one) === true;
    expect(takes('post', '/gelf')).to.equal(true);
    expect(takes('post', '/api/v1/ingest')).to.equal(false);
    expect(takes('get', '/api/v1/tenants/{tenant_id}/alerts')).to.equal(true);
    expect(document.paths['/health']?.['get']?.security).to.deep.equal([]);
  });

  it('names the ways to send a key that a path reads: those of WebSockets and of Firehose too', () => {
    const ways = (method: string, path: string): string[] =>
      (document.paths[path]?.[method]?.security ?? []).flatMap((one) => Object.keys(one));
    expect(ways('post', '/api/v1/cloudwatch')).to.include('firehose');
    expect(ways('post', '/api/v1/ingest')).to.deep.equal(['bearer', 'basic', 'header']);
    for (const path of ['/ws/livetail/{tenant_id}', '/ws/alerts/{tenant_id}'])
      expect(ways('get', path)).to.deep.equal(['bearer', 'basic', 'header', 'subprotocol', 'parameter', 'token']);
    const used = new Set(operations.flatMap(({ operation }) => operation.security.flatMap((one) => Object.keys(one))));
    const { components } = openApi(endpoints) as unknown as { components: { securitySchemes: object } };
    expect([...used].sort()).to.deep.equal(Object.keys(components.securitySchemes).sort());
  });

  it('has the statuses that open and refuse a WebSocket', () => {
    const { responses } = document.paths['/ws/alerts/{tenant_id}']?.['get'] ?? { responses: {} };
    expect(Object.keys(responses)).to.deep.equal(['101', '400', '401', '403', '426', '429', '500', '503']);
  });

  it('keeps examples, which joi leaves out', () => {
    const schema = Joi.object({ a: Joi.string().example('x'), b: Joi.array().items(Joi.number().example(3)) });
    expect(jsonSchemaOf(schema)).to.deep.include({
      properties: { a: { type: 'string', minLength: 1, examples: ['x'] }, b: { type: 'array', items: { type: 'number', examples: [3] } } },
    });
  });
});

describe('an answer that is checked against the description', () => {
  const operation = { id: 'getIt', tag: 'service', summary: 'It', answers: ok(members({ a: text() })) } as const;
  const document = openApi([
    { methods: ['GET'], path: '/it/{id}', errors: 'query', access: null, operation, handle: () => Promise.reject(new Error('never')) },
  ]);
  const answers = new DescribedAnswers(document as unknown as ConstructorParameters<typeof DescribedAnswers>[0]);
  const fault = (status: number, body: unknown, type = 'application/json', path = '/it/1'): string | null =>
    answers.fault({ method: 'GET', url: `http://h${path}?x=1`, status, type, body });

  const cases: readonly (readonly [string, string | null, RegExp | null])[] = [
    ['as it is described', fault(200, { a: '' }), null],
    ['of a path that is not described', fault(204, '', '', '/other'), null],
    ['with a member that is not described', fault(200, { a: '', b: 1 }), /additional/],
    ['without a member', fault(200, {}), /required/],
    ['with another type', fault(200, { a: 1 }), /must be string/],
    ['with a status that is not described', fault(202, { a: '' }), /answered 202/],
    ['in another media type', fault(200, 'a', 'text/html'), /text\/html/],
    ['that is an error', fault(500, { detail: 'x', request_id: 'y' }), null],
    ['that is an error of another style', fault(500, { error: 'x' }), /required/],
  ];
  for (const [what, found, expected] of cases)
    it(`${expected === null ? 'is accepted' : 'is refused'} ${what}`, () => {
      if (expected === null) expect(found).to.equal(null);
      else expect(found).to.match(expected);
    });
});
