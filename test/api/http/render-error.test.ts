import { expect } from 'chai';
import { renderError, type ErrorStyle } from '../../../api/http/render-error.ts';
import {
  authUnavailable,
  backpressure,
  forbidden,
  HttpError,
  invalidBody,
  methodNotAllowed,
  payloadTooLarge,
  planGate,
  unauthorized,
  unsupportedEncoding,
} from '../../../pipeline/core/errors.ts';

const FIREHOSE_ID = 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f';
function render(error: HttpError, style: ErrorStyle, header: (name: string) => string = () => ''): ReturnType<typeof renderError> {
  return renderError(error, style, { requestId: 'id', header });
}
const body = (error: HttpError, style: ErrorStyle): Record<string, unknown> => render(error, style).body as Record<string, unknown>;

describe('the bodies of errors', () => {
  it('logs and traces: slug, detail, request id, and on 429 the wait', () => {
    expect(body(unauthorized('No key.'), 'ingest')).to.deep.equal({ error: 'unauthorized', detail: 'No key.', request_id: 'id' });
    expect(body(backpressure('Full.'), 'ingest')).to.deep.equal({
      error: 'backpressure',
      detail: 'Full.',
      request_id: 'id',
      retry_after: 5,
    });
    expect(body(new HttpError(429, 'x', 'X.'), 'ingest')).to.include({ retry_after: 1 });
  });

  it('metrics: the detail alone; everything else: detail and request id', () => {
    for (const error of [unauthorized('D.'), backpressure('D.'), planGate(503, 'D.')]) {
      expect(body(error, 'metrics')).to.deep.equal({ detail: 'D.' });
      expect(body(error, 'query')).to.deep.equal({ detail: 'D.', request_id: 'id' });
    }
  });

  describe('HEC adds what its clients read', () => {
    const rows: readonly (readonly [string, HttpError, string, number])[] = [
      ['no key', unauthorized('D.'), 'Token is required', 2],
      ['an unknown key', forbidden('D.'), 'Invalid token', 4],
      ['a key that is known and may not', forbidden('D.', { code: 1 }), 'Token disabled', 1],
      ['a bad body', invalidBody('D.'), 'Invalid data format', 6],
      ['no data', invalidBody('D.', { code: 5 }), 'No data', 5],
      ['no channel', invalidBody('D.', { code: 10 }), 'Data channel is missing', 10],
      ['no event', invalidBody('D.', { code: 12 }), 'Event field is required', 12],
      ['a blank event', invalidBody('D.', { code: 13 }), 'Event field cannot be blank', 13],
      ['an encoding that is not supported', unsupportedEncoding('br'), 'Invalid data format', 6],
      ['a compressed body above the cap', payloadTooLarge(11, 10), 'Request entity too large', 27],
      ['a limit', new HttpError(429, 'rate_limited', 'D.'), 'Server is busy', 9],
      ['pressure', backpressure(), 'Server is busy', 9],
      ['keys that were never read', authUnavailable(), 'Server is busy', 9],
      ['a failure', new HttpError(500, 'internal_error', 'D.'), 'Internal server error', 8],
      ['a wrong method', methodNotAllowed('GET', ['POST']), 'Method GET is not allowed here; use POST.', 405],
      ['a number that Splunk has not', invalidBody('D.', { code: 99 }), 'D.', 99],
    ];
    for (const [name, error, text, code] of rows) {
      it(name, () => {
        const { request_id: id, ...rest } = body(error, 'hec');
        expect(rest).to.include({ text, code, error: error.slug, detail: error.message });
        expect(id).to.equal('id');
        expect(rest).not.to.have.property('invalid-event-number');
        expect('retry_after' in rest).to.equal(error.status === 429);
      });
    }
    it('the place of the event that is at fault', () => {
      expect(body(invalidBody('D.', { code: 12, eventNumber: 0 }), 'hec')).to.include({ code: 12, 'invalid-event-number': 0 });
    });
  });

  describe('Firehose adds what it reads', () => {
    it('its own request id, milliseconds, and the message', () => {
      const before = Date.now();
      const answer = render(forbidden('Not you.'), 'firehose', (name) => (name === 'x-amz-firehose-request-id' ? FIREHOSE_ID : ''));
      const { timestamp, ...rest } = answer.body as { timestamp: number };
      expect(rest).to.deep.equal({
        requestId: FIREHOSE_ID,
        errorMessage: 'Not you.',
        error: 'forbidden',
        detail: 'Not you.',
        request_id: 'id',
      });
      expect(Number.isInteger(timestamp)).to.equal(true);
      expect(timestamp).to.be.within(before, Date.now());
    });
    it('ours where it sent none', () => {
      expect(body(backpressure(), 'firehose')).to.include({ requestId: 'id', retry_after: 5 });
    });
  });

  it('plain text stays plain text in every style', () => {
    for (const style of ['ingest', 'hec', 'firehose', 'metrics', 'query'] as const) {
      const { status, headers, body: text } = render(payloadTooLarge(11, 10, { plainText: true }), style);
      expect({ status, text }).to.deep.equal({ status: 413, text: 'The body has 11 bytes; the cap is 10 bytes.\n' });
      expect(headers).to.include({ 'Content-Type': 'text/plain; charset=utf-8' });
    }
  });

  it('headers: Retry-After on 429 and on a 503 that passes, Allow on 405, WWW-Authenticate on 401', () => {
    const headersOf = (error: HttpError): object => render(error, 'ingest').headers ?? {};
    expect(headersOf(backpressure())).to.deep.equal({ 'Retry-After': '5' });
    expect(headersOf(authUnavailable())).to.deep.equal({ 'Retry-After': '5' });
    expect(headersOf(planGate(503, 'D.'))).to.deep.equal({});
    expect(headersOf(new HttpError(400, 'x', 'D.', { retryAfter: 5 }))).to.deep.equal({});
    expect(headersOf(methodNotAllowed('GET', ['POST', 'PUT']))).to.deep.equal({ Allow: 'POST, PUT' });
    expect(headersOf(unauthorized('D.'))).to.have.all.keys('WWW-Authenticate');
  });
});
