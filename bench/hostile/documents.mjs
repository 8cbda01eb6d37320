// JSON and YAML that are little to write and much to read. Any account may send a body to the review of its own rights.
import { repeat, times } from './lib/repeat.mjs';

const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const json = (body) => repeat(() => ({ path, body, contentType: 'application/json' }));
const yaml = (body) => repeat(() => ({ path, body, contentType: 'application/yaml' }));
const aliases = `a: &a {${times(100, (at) => `k${at}: 1`).join(', ')}}\n${times(5000, (at) => `b${at}: *a`).join('\n')}\n`;

export default [
  { name: 'JSON, the same key 480,000 times', run: json(`{${times(480_000, () => '"a":1').join(',')}}`) },
  { name: 'JSON, 140,000 values', run: json(`{"spec":{"extra":{${times(70_000, (at) => `"k${at}":[]`).join(',')}}}}`) },
  { name: 'JSON, 1,400,000 levels', run: json('['.repeat(1_400_000)) },
  { name: 'JSON, a text of escapes', run: json(`{"kind":"${'\\u0041'.repeat(400_000)}"}`) },
  { name: 'JSON, a number of 2,000,000 digits', run: json(`{"spec":${'9'.repeat(2_000_000)}}`) },
  { name: 'YAML, 1,400,000 levels', run: yaml('['.repeat(1_400_000)) },
  { name: 'YAML, 290,000 keys', run: yaml(times(290_000, (at) => `k${at}: 1`).join('\n')) },
  { name: 'YAML, 5,000 aliases of 100 keys', run: yaml(aliases) },
  { name: 'YAML, 150,000 anchors', run: yaml(times(150_000, (at) => `- &a${at} 1`).join('\n')) },
  { name: 'YAML, a number of 2,900,000 digits', run: yaml(`spec: ${'9'.repeat(2_900_000)}`) },
];
