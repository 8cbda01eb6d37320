import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { UnknownObject } from '#apimachinery/meta';
import type { Attributes, UserInfo } from '../request/request.ts';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import { createNodeAuthorizer } from './node.ts';

const kubelet: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'] };
const pod = (nodeName: string, secretName: string): Pod => ({
  metadata: { name: `on-${nodeName}`, namespace: 'ns' },
  spec: {
    nodeName,
    serviceAccountName: 'sa',
    containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k' } } }] }],
    volumes: [
      { name: 's', secret: { secretName } },
      { name: 'p', persistentVolumeClaim: { claimName: 'claim' } },
    ],
  },
});

function setUp() {
  const cluster = new MemoryCluster();
  cluster.put('', 'pods', pod('n1', 'mine'));
  cluster.put('', 'pods', pod('n2', 'theirs'));
  cluster.put('', 'persistentvolumes', {
    metadata: { name: 'pv' },
    spec: {
      claimRef: { namespace: 'ns', name: 'claim' },
      csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { name: 'stage', namespace: 'csi' } },
    },
  } as UnknownObject);
  const authorizer = createNodeAuthorizer(cluster);
  const ask = (verb: string, what: string, namespace: string, name: string, fieldSelector?: string, user = kubelet) => {
    const [path = '', group = ''] = what.split('@');
    const [resource = '', subresource = ''] = path.split('/');
    const asked: Attributes = {
      user,
      verb,
      target: { group, version: 'v1', resource, subresource, namespace, name },
      ...(fieldSelector && { options: { fieldSelector } }),
    };
    return authorizer.authorize(asked);
  };
  return { cluster, ask };
}

test.each([
  ['get', 'secrets', 'ns', 'mine'],
  ['get', 'secrets', 'csi', 'stage'],
  ['watch', 'configmaps', 'ns', 'cm'],
  ['get', 'persistentvolumes', '', 'pv'],
  ['create', 'serviceaccounts/token', 'ns', 'sa'],
  ['get', 'pods', 'ns', 'on-n1'],
  ['update', 'nodes/status', '', 'n1'],
  ['patch', 'leases@coordination.k8s.io', 'kube-node-lease', 'n1'],
  ['list', 'services', '', ''],
  ['create', 'events', 'ns', ''],
])('a kubelet may %s %s %s/%s', (...asked) => {
  expect(setUp().ask(...asked)).toEqual({ allowed: true, reason: '' });
});

test.each([
  ['get', 'secrets', 'ns', 'theirs', "no relationship found between node 'n1' and this object"],
  ['list', 'secrets', 'ns', '', 'No Object name found'],
  ['delete', 'secrets', 'ns', 'mine', 'can only read resources of this type'],
  ['get', 'pods', 'ns', 'on-n2', "no relationship found between node 'n1' and this object"],
  ['list', 'nodes', '', '', "node 'n1' cannot read all nodes, only its own Node object"],
  [
    'get',
    'leases@coordination.k8s.io',
    'kube-node-lease',
    'n2',
    'can only access node lease with the same name as the requesting node',
  ],
  ['list', 'deployments@apps', '', '', ''],
])('a kubelet may not %s %s %s/%s', (verb, what, namespace, name, reason) => {
  expect(setUp().ask(verb, what, namespace, name)).toEqual({ allowed: false, reason });
});

test('lists are limited to the node', () => {
  const { ask } = setUp();
  expect(ask('list', 'pods', '', '', 'spec.nodeName=n1')).toMatchObject({ allowed: true });
  expect(ask('list', 'pods', '', '', 'spec.nodeName=n2')).toMatchObject({ allowed: false });
  expect(ask('get', 'pods', 'ns', 'on-n1', undefined, { name: 'system:node:n1', groups: [] })).toEqual({
    allowed: false,
    reason: '',
  });
});

test('what a pod needs is out of reach once it is gone', async () => {
  const { cluster, ask } = setUp();
  await cluster.delete('', 'pods', 'ns', 'on-n1');
  expect(ask('get', 'secrets', 'ns', 'mine')).toMatchObject({ allowed: false });
  expect(ask('get', 'persistentvolumes', '', 'pv')).toMatchObject({ allowed: false });
});
