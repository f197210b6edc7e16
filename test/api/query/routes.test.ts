import { expect } from 'chai';
import { hintHeader } from '../../../api/query/routes.ts';
import { hintsOf } from '../../../logsql/hints.ts';

describe('the header of hints', () => {
  it('is there where a query has some', () => {
    expect(hintHeader(hintsOf('level:=error'))).to.deep.equal({});
    expect(hintHeader(hintsOf('level=error | json'))['X-Query-Hint']).to.match(
      /^level=error looks .* "json" is no pipe; write unpack_json;/,
    );
  });
  it('is ASCII, on one line', () => {
    const header = hintHeader(hintsOf('größe="a\\n日" | 日本'))['X-Query-Hint'];
    expect(header).to.include('gr\\u00f6\\u00dfe').and.include('\\u65e5');
    expect(header).to.match(/^[ -~]*$/);
  });
});
