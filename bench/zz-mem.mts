import { newSeries } from '../pipeline/detectors/series/series.ts';
const mem = () => { (global as any).gc(); (global as any).gc(); const m = process.memoryUsage(); return m.heapUsed + m.external; };
for (const errors of [0, 1]) {
  const N = 2000; const b = mem(); const all = [];
  for (let i = 0; i < N; i++) { const s = newSeries(); for (let m = 0; m < 200; m++) s.add(29_000_000 + m, { entries: 5, errors: m % 50 === 0 ? errors : 0 }, (29_000_000 + m) * 60_000 + 1000); all.push(s); }
  const a = mem(); console.log('errors', errors, ((a - b) / N / 1024).toFixed(2), 'KiB a stream', all.length);
}
