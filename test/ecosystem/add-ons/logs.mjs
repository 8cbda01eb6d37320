// An agent that collects the logs of pods: OpenTelemetry's collector by its makers' example for Kubernetes, which reads /var/log/pods of each node.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imagesIn, loadImages } from '../lib/images.mjs';
import { loadApp, nodesOf, pod } from './pods.mjs';
import { goPrograms } from '../lib/programs.mjs';

const version = 'v0.149.0';
const parts = 'github.com/open-telemetry/opentelemetry-collector-contrib';
const core = 'go.opentelemetry.io/collector';
const modules = {
  [`${core}/otelcol`]: version,
  [`${core}/confmap/provider/fileprovider`]: 'v1.55.0',
  [`${core}/exporter/debugexporter`]: version,
  [`${parts}/receiver/filelogreceiver`]: version,
  [`${parts}/processor/k8sattributesprocessor`]: version,
};

/** Not with the other add-ons' programs: its parts do not compile with the client-go of those. */
const collector = (cache) => {
  const main = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'collector/main.go'), 'utf8');
  const programs = { 'otelcol-contrib': { path: './collector', version } };
  return goPrograms(cache, { modules, programs, wanted: ['otelcol-contrib'], files: { 'collector/main.go': main } });
};

export const logs = {
  what: 'log agent: examples/kubernetes/otel-collector.yaml: lines of pods out of /var/log/pods, each of its own node, with namespace, pod and container',
  version,
  async run(context) {
    const { goModule, kubectl, apply, eventually } = context;
    const manifest = join(await goModule(`${parts}@${version}`), 'examples/kubernetes/otel-collector.yaml');
    const [reference] = imagesIn(readFileSync(manifest, 'utf8'));
    const { bin } = await collector(context.cache);
    const config = { Entrypoint: ['/otelcol-contrib'], Cmd: ['--config', '/etc/otelcol-contrib/config.yaml'] };
    await loadImages(context, [{ reference, programs: { '/otelcol-contrib': join(bin, 'otelcol-contrib') }, config }]);
    await loadApp(context);
    const nodes = await nodesOf(kubectl);
    await kubectl('apply', '-f', manifest);
    await kubectl('rollout', 'status', 'daemonset/otel-collector', '--timeout=180s');
    for (const node of nodes) await apply(pod(`says-${node}`, `while true; do echo "the word of ${node}"; sleep 1; done`, { node }));
    for (const node of nodes) {
      const onNode = ['-l', 'component=otel-collector', '--field-selector', `spec.nodeName=${node}`];
      const agent = await kubectl('get', 'pod', ...onNode, '-o', 'jsonpath={.items[0].metadata.name}');
      const said = () => kubectl('logs', agent);
      await eventually(`${agent} has read what a pod of its node said`, async () => {
        const log = await said();
        const metadata = [`k8s.pod.name: Str(says-${node})`, 'k8s.namespace.name: Str(default)', 'k8s.container.name: Str(app)', 'log.iostream: Str(stdout)'];
        const lacking = [`Body: Str(the word of ${node})`, ...metadata].filter((text) => !log.includes(text));
        if (lacking.length > 0) throw new Error(`lacks ${lacking.join(', ')} in\n${log.slice(-2000)}`);
        return true;
      });
      const other = nodes.find((name) => name !== node);
      if ((await said()).includes(`the word of ${other}`)) throw new Error(`${agent} reads the logs of ${other}`);
    }
    await kubectl('delete', ...nodes.map((node) => `pod/says-${node}`));
    return { result: 'works', differs: 'built with the parts that the manifest names' };
  },
};
