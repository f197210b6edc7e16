/**
 * VictoriaLogs' own tools, as their sources have them ask and read: the Grafana data source
 * (https://github.com/VictoriaMetrics/victorialogs-datasource) and vlogscli (https://github.com/VictoriaMetrics/VictoriaLogs,
 * app/vlogscli/main.go).
 */
import { expect } from 'chai';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Row = Readonly<Record<string, string>>;
type Parameters = readonly (readonly [string, string])[];

describe("VictoriaLogs' tools", function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Awaited<ReturnType<typeof newTenant>>;
  /** The panel's time range, whole seconds of Unix time. */
  const to = Math.floor(Date.now() / 1000) + 5;
  const from = to - 600;
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    const entries = ['info', 'info', 'error'].map((level, index) => ({
      _time: new Date((to - 60 + index) * 1000).toISOString(),
      _msg: `request ${String(index)} served`,
      service: 'web',
      level,
      duration: index * 10,
    }));
    const answer = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, headers());
    expect(answer.status).to.equal(200);
    await until(
      'the entries',
      () =>
        query('POST', [
          ['query', '*'],
          ['limit', '1000'],
        ]),
      (rows) => rows.length === 3,
    );
  });

  const headers = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  /** pkg/plugin/datasource.go, datasourceQuery: the arguments in the URL by either method, no body, forwarded headers. */
  async function ask(method: string, path: string, parameters: Parameters, more: Record<string, string> = {}): Promise<string> {
    const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]): [string, string] => [name, value]);
    const url = `${instance.app}/${path}?${new URLSearchParams(sorted).toString()}`;
    const response = await fetch(url, { method, headers: { ...headers(), ...more } });
    const text = await response.text();
    expect(response.status, `${path} ${text}`).to.equal(200);
    return text;
  }
  /** pkg/plugin/response_logs.go, parseInstantResponse: an object a line, whose values are texts. */
  function readRows(text: string): readonly Row[] {
    expect(text).to.match(/^$|\n$/);
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const row = JSON.parse(line) as Row;
        expect(Object.values(row).every((value) => typeof value === 'string')).to.equal(true);
        return row;
      });
  }
  const query = async (method: string, parameters: Parameters): Promise<readonly Row[]> =>
    readRows(await ask(method, 'select/logsql/query', parameters));
  const range: Parameters = [
    ['start', String(from)],
    ['end', String(to)],
  ];

  describe('the Grafana data source', () => {
    it('finds the server healthy (pkg/plugin/datasource.go, CheckHealth)', async () => {
      expect((await fetch(`${instance.app}/health`)).status).to.equal(200);
    });

    for (const method of ['GET', 'POST'])
      it(`shows rows by ${method} (pkg/plugin/query.go, queryInstantURL)`, async () => {
        const rows = await query(method, [['query', 'service:web'], ['limit', '1000'], ...range]);
        expect(rows.map(({ _msg }) => _msg)).to.deep.equal(['request 0 served', 'request 1 served', 'request 2 served']);
        for (const row of rows) {
          // pkg/utils/utils.go, GetTime: time.Parse(time.RFC3339)
          expect(row['_time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
          // pkg/utils/stream_fields_parser.go, ParseStreamFields
          expect(row['_stream']).to.equal('{service="web"}');
          expect(row['_stream_id']).to.match(/^[0-9a-f]+$/);
        }
      });

    it('shows the context of a row (src/datasource.ts, makeLogContextDataRequest; src/modifyQuery.ts)', async () => {
      const [row] = await query('POST', [['query', '*'], ['limit', '1'], ...range]);
      const expression = `_stream_id:${JSON.stringify(row?.['_stream_id'])} | sort by (_time) desc`;
      expect(await query('POST', [['query', expression], ['limit', '50'], ...range])).to.have.length(3);
    });

    it('adds its own and the panel’s parameters (customQueryParameters, extra_filters)', async () => {
      const rows = await query('POST', [
        ['query', '*'],
        ['limit', '1000'],
        ['extra_filters', 'level:="error"'],
        ['extra_stream_filters', '{"service":"web"}'],
        ...range,
      ]);
      expect(rows.map(({ level }) => level)).to.deep.equal(['error']);
    });

    it('shows stats at one moment (pkg/plugin/query.go, statsQueryURL; pkg/utils/utils.go, AddTimeFieldWithRange)', async () => {
      const expression = `_time:[${String(from)}, ${String(to)}] service:web | stats by (level) count() n, avg(duration) d`;
      const answer = JSON.parse(
        await ask('POST', 'select/logsql/stats_query', [
          ['query', expression],
          ['time', String(to)],
        ]),
      ) as {
        readonly data: {
          readonly resultType: string;
          readonly result: readonly { readonly metric: Row; readonly value: readonly [number, string] }[];
        };
      };
      expect(answer.data.resultType).to.equal('vector');
      const found = new Map(
        answer.data.result.map(({ metric, value }) => [`${String(metric['__name__'])} ${String(metric['level'])}`, value]),
      );
      expect(found.get('n info')).to.deep.equal([to, '2']);
      expect(found.get('d error')).to.deep.equal([to, '20']);
    });

    it('shows stats over time (pkg/plugin/query.go, statsQueryRangeURL: a step as Go writes durations)', async () => {
      const parameters: Parameters = [['query', 'service:web | stats by (level) count() n'], ['step', '1m30s'], ...range];
      const answer = JSON.parse(await ask('POST', 'select/logsql/stats_query_range', parameters)) as {
        readonly data: {
          readonly resultType: string;
          readonly result: readonly { readonly metric: Row; readonly values: readonly (readonly [number, string])[] }[];
        };
      };
      expect(answer.data.resultType).to.equal('matrix');
      expect(answer.data.result.map(({ metric }) => metric)).to.have.deep.members([
        { __name__: 'n', level: 'error' },
        { __name__: 'n', level: 'info' },
      ]);
      for (const { values } of answer.data.result)
        for (const [time, value] of values) {
          expect(time % 90).to.equal(0);
          expect(Number(value)).to.be.above(0);
        }
    });

    it('shows the volume of logs (pkg/plugin/query.go, histQueryURL; pkg/plugin/response_hits.go)', async () => {
      const parameters: Parameters = [['query', 'service:web'], ['step', '8s'], ['field', 'level'], ...range];
      const { hits } = JSON.parse(await ask('POST', 'select/logsql/hits', parameters)) as {
        readonly hits: readonly {
          readonly fields: Row;
          readonly timestamps: readonly string[];
          readonly values: readonly number[];
          readonly total: number;
        }[];
      };
      expect(hits.map(({ fields, total }) => [fields, total])).to.deep.equal([
        [{ level: 'info' }, 2],
        [{ level: 'error' }, 1],
      ]);
      for (const { timestamps, values } of hits) expect(timestamps).to.have.length(values.length);
    });

    it('suggests names and values (pkg/plugin/datasource.go, VLAPIQuery; src/language_provider.ts: milliseconds)', async () => {
      const millis: Parameters = [
        ['query', '*'],
        ['start', String(from * 1000)],
        ['end', String(to * 1000)],
      ];
      const values = async (path: string, more: Parameters = []): Promise<readonly (readonly [string, number])[]> => {
        const answer = JSON.parse(await ask('POST', `select/logsql/${path}`, [...millis, ...more])) as {
          readonly values: readonly { readonly value: string; readonly hits: number }[];
        };
        return answer.values.map(({ value, hits }) => [value, hits]);
      };
      expect((await values('field_names')).map(([name]) => name)).to.include.members(['_msg', '_time', 'level', 'duration']);
      expect(
        await values('field_values', [
          ['field', 'level'],
          ['limit', '10'],
        ]),
      ).to.deep.equal([
        ['info', 2],
        ['error', 1],
      ]);
      expect(await values('stream_field_names')).to.deep.equal([['service', 3]]);
      expect(await values('stream_field_values', [['field', 'service']])).to.deep.equal([['web', 3]]);
      expect(await values('streams')).to.deep.equal([['{service="web"}', 3]]);
    });

    it('shows facets (src/components/QueryEditor/Drilldown/queries/facets.ts)', async () => {
      const { facets } = JSON.parse(
        await ask('POST', 'select/logsql/facets', [['query', '*'], ['limit', '10'], ['keep_const_fields', '1'], ...range]),
      ) as {
        readonly facets: readonly {
          readonly field_name: string;
          readonly values: readonly { readonly field_value: string; readonly hits: number }[];
        }[];
      };
      expect(facets.find(({ field_name: name }) => name === 'level')?.values).to.deep.equal([
        { field_value: 'info', hits: 2 },
        { field_value: 'error', hits: 1 },
      ]);
    });

    it('asks for tenants, and sends the one that was chosen (multitenancyHeaders)', async () => {
      const [own] = JSON.parse(await ask('GET', 'select/tenant_ids', [])) as readonly {
        readonly account_id: number;
        readonly project_id: number;
      }[];
      expect(own).to.deep.equal({ account_id: 0, project_id: tenant.id });
      const more = { AccountID: String(own?.account_id), ProjectID: String(own?.project_id) };
      expect(readRows(await ask('POST', 'select/logsql/query', [['query', '*'], ['limit', '1000'], ...range], more))).to.have.length(3);
    });

    it('tails (pkg/plugin/query.go, queryTailURL; response_logs.go, parseStreamResponse)', async () => {
      await follow('POST', `select/logsql/tail?${new URLSearchParams({ query: 'service:tailed' }).toString()}`, undefined, {});
    });
  });

  describe('vlogscli (app/vlogscli/main.go)', () => {
    const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', AccountID: '0', ProjectID: '0' };
    const send = (path: string, text: string): Promise<Response> =>
      fetch(`${instance.app}/select/logsql/${path}`, {
        method: 'POST',
        headers: { ...headers(), ...FORM },
        body: new URLSearchParams({ query: text }),
      });

    it('asks by a form, in the canonical form of the query, and reads the duration (getQueryResponse)', async () => {
      const response = await send('query', 'service:web | fields _time, level | sort by (_time)');
      expect(response.status).to.equal(200);
      expect(response.headers.get('vl-request-duration-seconds')).to.match(/^\d+\.\d{3}$/);
      expect(readRows(await response.text()).map((row) => Object.keys(row))).to.deep.equal(
        Array.from({ length: 3 }, () => ['_time', 'level']),
      );
    });

    it('shows the text of what is wrong', async () => {
      const response = await send('query', 'service:web | limit x');
      expect(response.status).to.equal(400);
      expect(response.headers.get('content-type')).to.contain('text/plain');
      expect(await response.text()).to.match(/^LogsQL syntax error at offset \d+: /);
    });

    it('tails (tailQuery)', async () => {
      await follow('POST', 'select/logsql/tail', new URLSearchParams({ query: 'service:tailed' }), FORM);
    });
  });

  /** Opens a tail as it is, and sees an entry that is sent afterwards, once. */
  async function follow(method: string, path: string, body: URLSearchParams | undefined, more: Record<string, string>): Promise<void> {
    const client = new AbortController();
    const response = await fetch(`${instance.app}/${path}`, {
      method,
      headers: { ...headers(), ...more },
      signal: client.signal,
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).to.equal(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const mark = `mark ${String(Math.random())}`;
    const sent = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, [{ _msg: mark, service: 'tailed' }], headers());
    expect(sent.status).to.equal(200);
    let text = '';
    while (!text.includes(mark)) text += (await reader?.read())?.value ?? expect.fail('the tail ended');
    expect(readRows(text).filter(({ _msg }) => _msg === mark)).to.have.length(1);
    client.abort();
  }
});
