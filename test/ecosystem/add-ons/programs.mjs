// The programs of the add-ons, out of the Go modules of their makers, and which image each goes into.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleOf, repositories } from '../../conformance/csi/repositories.mjs';
import { goPrograms } from '../lib/programs.mjs';

const base = join(dirname(fileURLToPath(import.meta.url)), '../../conformance/go');

export const caddy = 'github.com/caddyserver/ingress';
export const versions = { caddy: 'v0.2.2-0.20260630121044-0e3de1ede38f', flannelPlugin: 'v1.9.1-flannel1' };
const flannelPlugin = 'github.com/flannel-io/cni-plugin';

const csi = Object.entries(repositories);
const modules = {
  ...Object.fromEntries(csi.map(([name, { version, module = version }]) => [moduleOf(name), module])),
  [flannelPlugin]: versions.flannelPlugin,
  [caddy]: versions.caddy,
  // An older one has packages that are modules of their own by now.
  'cloud.google.com/go': 'v0.112.0',
};

const programsOf = ([name, { version, programs }]) => programs.map((program) => [program, { path: `${moduleOf(name)}/cmd/${program}`, version }]);
const programs = {
  ...Object.fromEntries(csi.flatMap(programsOf)),
  'flannel-plugin': { path: flannelPlugin, version: versions.flannelPlugin },
  'ingress-controller': { path: `${caddy}/cmd/caddy`, version: versions.caddy },
};

export const csiPrograms = csi.flatMap(([, one]) => one.programs);

/** Builds those that are wanted: `{ bin, folderOf(module) }`. */
export function addOnPrograms({ cache }, wanted) {
  const kubernetes = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(base, 'go.mod'), 'utf8'))[1];
  return goPrograms(cache, { base, modules, replaced: { 'k8s.io/kubernetes': kubernetes }, programs, wanted });
}
