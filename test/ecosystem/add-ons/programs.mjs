// The programs of the add-ons, out of the Go modules of their makers, and which image each goes into.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleOf, repositories } from '../../conformance/csi/repositories.mjs';
import { goPrograms } from '../lib/programs.mjs';

const base = join(dirname(fileURLToPath(import.meta.url)), '../../conformance/go');

const flannelPlugin = 'github.com/flannel-io/cni-plugin';
export const flannelPluginVersion = 'v1.9.1-flannel1';

const csi = Object.entries(repositories);
const modules = {
  ...Object.fromEntries(csi.map(([name, { version, module = version }]) => [moduleOf(name), module])),
  [flannelPlugin]: flannelPluginVersion,
};

const programsOf = ([name, { version, programs }]) => programs.map((program) => [program, { path: `${moduleOf(name)}/cmd/${program}`, version }]);
const programs = {
  ...Object.fromEntries(csi.flatMap(programsOf)),
  'flannel-plugin': { path: flannelPlugin, version: flannelPluginVersion },
};

export const csiPrograms = csi.flatMap(([, one]) => one.programs);

/** Builds those that are wanted: `{ bin, folderOf(module) }`. */
export function addOnPrograms({ cache }, wanted) {
  const kubernetes = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(base, 'go.mod'), 'utf8'))[1];
  return goPrograms(cache, { base, modules, replaced: { 'k8s.io/kubernetes': kubernetes }, programs, wanted });
}
