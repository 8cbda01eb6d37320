// Writes test/fixtures/flags.gen.json: the names, types and defaults of the flags of upstream's components at the pinned version. Needs the Go
// toolchain; the first run compiles the five components, which takes minutes. Usage: node spec/flags.mjs
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const kubernetesVersion = 'v1.36.2';
const here = dirname(fileURLToPath(import.meta.url));
const text = execFileSync('go', ['run', '.'], { cwd: join(here, 'flags'), maxBuffer: 1 << 26, encoding: 'utf8' });
const lines = ([name, flags]) =>
  `  ${JSON.stringify(name)}: {\n${Object.entries(flags)
    .map(
      ([flag, [type, value, deprecated]]) =>
        `   ${JSON.stringify(flag)}: ${JSON.stringify(deprecated ? [type, value, deprecated] : [type, value])}`,
    )
    .join(',\n')}\n  }`;
const head = ` "source": ${JSON.stringify(`k8s.io/kubernetes ${kubernetesVersion}, cmd/*/app`)},\n "version": ${JSON.stringify(kubernetesVersion)}`;
const body = Object.entries(JSON.parse(text)).map(lines).join(',\n');
writeFileSync(join(here, '..', 'test', 'fixtures', 'flags.gen.json'), `{\n${head},\n "components": {\n${body}\n }\n}\n`);
