import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';

/** Plain text, one entry a line: `POST /api/v1/lines?service=cron`. */
export const lines: Normalizer = {
  name: 'lines',
  signal: 'logs',
  paths: ['/api/v1/lines'],
  methods: ['POST'],
  normalize({ body, query }, out) {
    for (const line of body.toString().split(/\r?\n/)) if (line.trim() !== '') out.add({ _msg: line, service: query.get('service') });
  },
  ack: (_request, { accepted }) => ({ status: 200, body: { status: 'ok', accepted } }),
};
