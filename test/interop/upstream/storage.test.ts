// Our provisioner beside upstream's apiserver, volume binder and scheduler, which ask it as they ask any external provisioner.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs (build.sh).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, createRestTransport } from '#client';
import { createMetrics, workQueueMetrics } from '#component-base';
import { ControllerSet } from '#controller-runtime/manager';
import { systemClock, systemRng } from '#host';
import { localPathProvisioner, noDirectories, provisionerName } from '#local-path-provisioner';
import { silentLogger } from '#utils';
import { eventually } from '../../e2e/cluster/harness.ts';
import { versionOf } from '../etcd-cluster.ts';
import type { Api } from './api.ts';
import { hasUpstream, World } from './world.ts';

const needed = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const canRun = needed.every(hasUpstream) && versionOf('etcd') !== undefined;

function startProvisioner({ url }: Api): ControllerSet {
  const clock = systemClock();
  const config = { server: url, insecure: true, token: 'admin' };
  const metrics = createMetrics();
  const set = new ControllerSet({
    client: createClient(createRestTransport({ config, clock, userAgent: 'local-path-provisioner' })),
    clock,
    rng: systemRng(),
    logger: silentLogger,
    metrics,
    queueMetrics: workQueueMetrics(metrics),
    manager: 'local-path-provisioner',
  });
  set.add(localPathProvisioner({ nodesDir: '/nodes', simulated: true }, noDirectories));
  set.start();
  return set;
}

describe.skipIf(!canRun)('volumes of upstream’s claims (skipped without SAGONG_UPSTREAM_BIN and etcd)', () => {
  let world: World;
  let api: Api;
  let provisioner: ControllerSet | undefined;
  const core = '/api/v1/namespaces/default';
  const claims = `${core}/persistentvolumeclaims`;
  const volumes = '/api/v1/persistentvolumes';
  const claim = (name: string, accessMode: string) => ({
    metadata: { name },
    spec: { accessModes: [accessMode], resources: { requests: { storage: '1Gi' } } },
  });
  const pod = (name: string) => ({
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'example.org/db:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
  });
  const told = async (name: string): Promise<string[]> =>
    (await api.list(`${core}/events?fieldSelector=involvedObject.name%3D${name}`))
      .filter(({ source }) => (source as { component?: string } | undefined)?.component === provisionerName)
      .map(({ type, reason, message }) => `${String(type)} ${String(reason)}: ${String(message)}`);

  beforeAll(async () => {
    world = await World.create();
    api = await world.startApiServer('upstream', await world.startEtcd());
    await world.startScheduler('upstream', api);
    await world.startControllerManager('upstream', api);
    await world.startNodes(api);
    await eventually('the default service account', () => api.get(`${core}/serviceaccounts/default`));
    await api.create('/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: provisionerName,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    provisioner = startProvisioner(api);
  });
  afterAll(async () => {
    await provisioner?.stop();
    await world?.stop();
  });

  it('are made, bound, and removed with them', async () => {
    await api.create(claims, claim('data', 'ReadWriteOnce'));
    await api.create(`${core}/pods`, pod('data'));
    await eventually('a Running pod', async () => (await api.get(`${core}/pods/data`)).status?.['phase'] === 'Running');
    const { metadata, spec, status } = await api.get(`${claims}/data`);
    expect(spec?.['volumeName']).toBe(`pvc-${metadata.uid}`);
    expect(status).toMatchObject({ phase: 'Bound', capacity: { storage: '1Gi' } });
    await eventually('both events', async () => (await told('data')).length === 2);
    expect((await told('data')).sort()).toEqual([
      'Normal Provisioning: External provisioner is provisioning volume for claim "default/data"',
      `Normal ProvisioningSucceeded: Successfully provisioned volume pvc-${metadata.uid}`,
    ]);
    // The volume first: it waits for its claim, and our finalizer for the data.
    await api.delete(`${volumes}/pvc-${metadata.uid}`);
    await api.delete(`${core}/pods/data`);
    await api.delete(`${claims}/data`);
    await eventually('no volume', () => api.isGone(`${volumes}/pvc-${metadata.uid}`));
  });

  it('are refused in an event', async () => {
    await api.create(claims, claim('many', 'ReadWriteMany'));
    await api.create(`${core}/pods`, pod('many'));
    const refusal =
      'Warning ProvisioningFailed: failed to provision volume with StorageClass "standard": NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes';
    await eventually('the refusal', async () => (await told('many')).includes(refusal));
    expect(await api.list(volumes)).toEqual([]);
  });
});
