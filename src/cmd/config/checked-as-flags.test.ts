import { expect, it } from 'vitest';
import { clusterNetworks } from '#cluster/start';
import { checkedAsFlags } from './checked-as-flags.ts';
import { fromKindConfig } from './kind-config.ts';
import { fromKubeadmConfig } from './kubeadm-config.ts';

const facts = { ...clusterNetworks, version: 'v1.36.2' };
const kind = (fields: object) =>
  fromKindConfig({ kind: 'Cluster', apiVersion: 'kind.x-k8s.io/v1alpha4', ...fields }, clusterNetworks);
const kubeadm = (fields: object) =>
  fromKubeadmConfig([{ kind: 'ClusterConfiguration', apiVersion: 'kubeadm.k8s.io/v1beta4', ...fields }], facts);

it.each(['../../x', '/etc', 'A', 'a b', '-x', '.elsewhere', 'a'.repeat(51)])(
  'refuses the name %j in a file as in a flag',
  (name) => {
    const said = `--config: ${JSON.stringify(name)}, which would be --name, must be up to 50 lower case letters, digits and '-'`;
    expect(() => checkedAsFlags(kind({ name }))).toThrow(said);
    expect(() => checkedAsFlags(kubeadm({ clusterName: name }))).toThrow(said);
  },
);

it('refuses numbers beyond what the flag takes', () => {
  const nodes = Array.from({ length: 5002 }, (_, index) => ({ role: index === 0 ? 'control-plane' : 'worker' }));
  expect(() => checkedAsFlags(kind({ nodes }))).toThrow('--config: 5001, which would be --nodes, ');
});

it('leaves what flags take as it is', () => {
  const read = kind({ name: 'app', networking: { apiServerPort: 6443 }, nodes: [{ role: 'control-plane' }, { role: 'worker' }] });
  expect(checkedAsFlags(read)).toBe(read);
});
