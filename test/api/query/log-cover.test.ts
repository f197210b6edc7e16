import { expect } from 'chai';
import { pino } from 'pino';
import { LogCover, type LogCoverOptions, type LogPositions } from '../../../api/query/log-cover.ts';
import type { Row } from '../../../pipeline/store/client.ts';
import { renderSql, type Sql } from '../../../pipeline/core/sql.ts';

const POSITIONS: LogPositions = { stored: [70, 0], ends: [90, 0], counted: [8, 0] };
/** log_part, run, last, base, days, hours, minutes, closed (s), days', at, hours', at, first at. */
const ROW: Row = [0, '0', '7', '0', '10', '40', '60', '1000', '1', '900000', '3', '950000', '100000'];

const isOfUntold = (statement: Sql): boolean => renderSql(statement).text.includes('scope = 4');

describe('how far the log is counted', () => {
  let now = 5_000_000;
  let asked: string[] = [];
  const make = (more: Partial<LogCoverOptions> = {}): LogCover =>
    new LogCover({
      log: pino({ level: 'silent' }),
      now: () => now,
      positions: () => {
        asked.push('positions');
        return Promise.resolve(POSITIONS);
      },
      refused: () => {
        asked.push('refused');
        return Promise.resolve({ tenants: new Set([9]), isUnknown: false });
      },
      rows: (statement) => {
        asked.push(JSON.stringify([...renderSql(statement).params.values()].map(({ value }) => value)));
        return Promise.resolve(isOfUntold(statement) ? [['5', '-120', '7200']] : [ROW]);
      },
      ...more,
    });
  beforeEach(() => {
    now = 5_000_000;
    asked = [];
  });

  it('is what was told of the segments that are stored; a partition without records is counted whole', async () => {
    expect(await make().of(1)).to.deep.equal({
      partitions: [
        { run: 0, base: 0, until: { 86400: 10, 3600: 40, 60: 60 } },
        { run: 0, base: 0, until: { 86400: 0, 3600: 0, 60: 0 } },
      ],
      since: 1_000_000,
      runs: 0,
      behind: { 86400: 900_000, 3600: 950_000, 60: 0 },
    });
    // what was refused is asked for when it is known what is stored
    expect(asked).to.deep.equal(['positions', 'refused', '[[8,0],[70,0]]', '[[8,0],[70,0]]']);
  });

  it('says where a tenant has entries that are not counted, to that tenant', async () => {
    const cover = make();
    expect((await cover.of(5))?.unpublished).to.deep.equal({ start: -120, end: 7200 });
    expect(await cover.of(1)).not.to.have.property('unpublished');
  });

  it('is that of the latest run, and looks as far back as the first row where no day or hour is closed', async () => {
    const later: Row = [0, '700', '9', '30', '0', '0', '35', '1200', '0', '0', '0', '0', '300000'];
    const cover = await make({ rows: (statement) => Promise.resolve(isOfUntold(statement) ? [] : [ROW, later]) }).of(1);
    expect(cover?.partitions[0]).to.deep.equal({ run: 700, base: 30, until: { 86400: 0, 3600: 0, 60: 35 } });
    expect(cover).to.deep.include({ since: 1_200_000, runs: 700, behind: { 86400: 300_000, 3600: 300_000, 60: 0 } });
  });

  it('is not known where nothing is told of a partition that has records', async () => {
    expect(await make({ rows: () => Promise.resolve([]) }).of(1)).to.equal(null);
  });

  it('is not for tenants of whom records could not be stored, nor for any where nobody knows whose they were', async () => {
    const cover = make();
    expect(await cover.of(9)).to.equal(null);
    expect(await cover.of(1)).not.to.equal(null);
    expect(await make({ refused: () => Promise.resolve({ tenants: new Set<number>(), isUnknown: true }) }).of(1)).to.equal(null);
  });

  it('is asked for when it is wanted and three seconds old, once for all, and the one before serves meanwhile', async () => {
    let answer = (): void => undefined;
    const cover = make({
      positions: () => {
        asked.push('positions');
        return asked.length === 1 ? Promise.resolve(POSITIONS) : new Promise((resolve) => (answer = (): void => resolve(POSITIONS)));
      },
    });
    const first = await cover.of(1);
    now += 2999;
    expect(await cover.of(1)).to.equal(first);
    expect(asked.filter((what) => what === 'positions')).to.have.length(1);
    now += 1;
    expect(await Promise.all([cover.of(1), cover.of(2)])).to.deep.equal([first, first]);
    expect(asked.filter((what) => what === 'positions')).to.have.length(2);
    answer();
  });

  it('stays what it was where it cannot be found out, and is null where it never was', async () => {
    let isDown = true;
    const cover = make({ positions: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(POSITIONS)) });
    expect(await cover.of(1)).to.equal(null);
    isDown = false;
    const known = await cover.of(1);
    expect(known).not.to.equal(null);
    isDown = true;
    now += 3_600_000;
    expect(await cover.of(1)).to.equal(known);
  });
});
