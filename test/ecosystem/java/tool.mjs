// Java: fabric8's client, whose watches go over WebSocket, and the official one, from Maven Central.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const versionOf = (artifact) => new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)`).exec(readFileSync(join(here, 'pom.xml'), 'utf8'))[1];

/** Without the frames of libraries, which are most of it. */
const brief = (text) => text.split('\n').filter((line) => !/^\tat (?!Fabric8|Official)/.test(line)).join('\n').slice(-4000);

const client = (what, artifact, program) => ({
  what,
  version: versionOf(artifact),
  async run({ must, execute, env, work }) {
    const file = join(work, 'classpath');
    await must('mvn', ['-q', '-B', '-f', join(here, 'pom.xml'), 'dependency:build-classpath', `-Dmdep.outputFile=${file}`]);
    const classpath = readFileSync(file, 'utf8').trim();
    await must('javac', ['-cp', classpath, '-d', join(work, program), join(here, `${program}.java`)]);
    const { code, text } = await execute('java', ['-cp', `${join(work, program)}:${classpath}`, program], { env, timeoutMs: 300_000 });
    if (code !== 0) throw new Error(brief(text));
    return { result: 'works', differs: `${/^checks (\d+)$/m.exec(text)[1]} checks` };
  },
});

const fabric8 = 'fabric8: objects, watches over WebSocket, informers, waits, apply, custom resources, leader election';
const official = 'official client: typed and generic calls, watches, informers, apply';

export default {
  name: 'Java',
  needs: ['mvn', 'javac', 'java'],
  runs: [client(fabric8, 'kubernetes-client', 'Fabric8'), client(official, 'client-java', 'Official')],
};
