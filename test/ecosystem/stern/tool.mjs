// stern, as a person uses it: lines of many pods and containers at once, those of pods that come later, and none of what was not asked for.
import { container, loadShell } from '../lib/shell-pods.mjs';

const version = 'v1.34.0';

const counts = 'i=0; while true; do echo line $i; echo secret $i >&2; i=$((i+1)); sleep 1; done';
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: tailed}
spec:
  replicas: 2
  selector: {matchLabels: {app: tailed}}
  template:
    metadata: {labels: {app: tailed}}
    spec:
      terminationGracePeriodSeconds: 0
      initContainers:
      - ${container('before', 'echo prepared')}
      containers:
      - ${container('one', counts)}
      - ${container('two', counts)}
`;

/** The pods and containers that a template of `{{.PodName}} {{.ContainerName}}` told of. */
const told = (text) => new Set(text.split('\n').filter((line) => line.startsWith('tailed-')));

const run = {
  what: 'logs of all pods of a Deployment followed, containers chosen, lines left out, a pod that comes later',
  version,
  async run(context) {
    const { goProgram, kubectl, apply, must, start, eventually, env } = context;
    const program = await goProgram({ module: 'github.com/stern/stern', version, name: 'stern' });
    await loadShell(context);
    await apply(deployment);
    await kubectl('rollout', 'status', 'deployment/tailed', '--timeout=120s');
    const template = ['--template', '{{.PodName}} {{.ContainerName}}{{"\\n"}}', '--only-log-lines'];
    const past = told(await must(program, ['deployment/tailed', '--no-follow', ...template], { env }));
    if (past.size !== 6) throw new Error(`of two pods with three containers: ${[...past].join(', ')}`);
    const chosen = await must(program, ['tailed', '--no-follow', '-c', 'one', '-e', 'secret', '-o', 'raw', '--only-log-lines'], { env });
    if (!chosen.includes('line 0') || chosen.includes('secret') || chosen.includes('prepared')) throw new Error(chosen.slice(0, 1000));
    const following = start('stern', program, ['-l', 'app=tailed', '--since', '1s', ...template], { env });
    await eventually('lines of both pods come', () => told(following.log()).size >= 4);
    await kubectl('scale', 'deployment/tailed', '--replicas=3');
    await eventually('lines of a pod that came later', () => new Set([...told(following.log())].map((one) => one.split(' ')[0])).size === 3);
    await following.stop();
    await kubectl('delete', 'deployment/tailed');
    return { result: 'works' };
  },
};

export default { name: 'stern', needs: ['go', 'kubectl', 'busybox'], cluster: 'containers', runs: [run] };
