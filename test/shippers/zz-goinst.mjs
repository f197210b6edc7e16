import { installToolset } from '/tmp/w-clients/test/shippers/toolsets.ts';
const t = Date.now(); console.log(new Date().toISOString());
console.log(await installToolset('go', console.log)); console.log(`${(Date.now() - t) / 1000} s`);
