// `sagong describe-cluster`: a managed cluster as its customer sees it, in the form in which managed services say it (Amazon EKS, DescribeCluster:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Cluster.html). Who has which part is asked of the cloud, with the customer's rights.
import type { NetworkInterface } from '#cloud';
import { createCloudClient, listAll } from '#cloud/client';
import { clientConfigOf, readKubeconfig } from '#client';
import { versionInfo } from '#component-base';
import { clusterMark, clusterPaths } from '../state/paths.ts';
import { runningProcess } from '../state/run-state.ts';
import { type ClusterSettings, loadSettings } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import { textTable } from '../terminal/text-table.ts';
import type { EndpointAccess } from '../flags/endpoint-access.ts';
import { managedServer } from '../endpoint/managed-server.ts';
import { openCloudSettings } from '../cloud/settings.ts';

export interface DescribedCluster {
  cluster: {
    name: string;
    /** RFC 3339. */
    createdAt: string;
    version: string;
    endpoint: string;
    resourcesVpcConfig: {
      subnetIds: string[];
      /** Beside the cluster's own. */
      securityGroupIds: string[];
      clusterSecurityGroupId: string;
      vpcId: string;
      endpointPublicAccess: boolean;
      endpointPrivateAccess: boolean;
      publicAccessCidrs: string[];
    };
    kubernetesNetworkConfig: { serviceIpv4Cidr: string; ipFamily: 'ipv4' };
    logging: { clusterLogging: { types: readonly string[]; enabled: boolean }[] };
    identity: { oidc: { issuer: string } };
    status: 'ACTIVE';
    /** Base64 of PEM. */
    certificateAuthority: { data: string };
    tags: Record<string, string>;
    health: { issues: never[] };
  };
}

interface Facts {
  settings: Pick<ClusterSettings, 'name' | 'endpointAccess' | 'dataDir'>;
  /** The control plane's network interfaces in the customer's subnets; there is at least one. */
  interfaces: readonly NetworkInterface[];
  ca: string;
}

const logTypes = ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler'] as const;
const inPublic: readonly EndpointAccess[] = ['public', 'public-and-private'];
const inPrivate: readonly EndpointAccess[] = ['private', 'public-and-private'];

export function describedCluster({ settings, interfaces, ca }: Facts): DescribedCluster {
  const { name, endpointAccess = 'public-and-private', dataDir } = settings;
  const [first] = interfaces;
  const { major, minor } = versionInfo();
  const isPublic = inPublic.includes(endpointAccess);
  return {
    cluster: {
      name,
      createdAt: interfaces.map(({ createdAt }) => createdAt).sort()[0] ?? '',
      version: `${major}.${minor}`,
      endpoint: `https://${managedServer(clusterMark(dataDir)).host}`,
      resourcesVpcConfig: {
        subnetIds: interfaces.map(({ subnetId }) => subnetId).sort(),
        securityGroupIds: [],
        clusterSecurityGroupId: first?.securityGroupIds[0] ?? '',
        vpcId: first?.vpcId ?? '',
        endpointPublicAccess: isPublic,
        endpointPrivateAccess: inPrivate.includes(endpointAccess),
        publicAccessCidrs: isPublic ? ['0.0.0.0/0'] : [],
      },
      kubernetesNetworkConfig: { serviceIpv4Cidr: clusterNetworks.serviceCidr, ipFamily: 'ipv4' },
      // The provider keeps no logs for its customer.
      logging: { clusterLogging: [{ types: logTypes, enabled: false }] },
      identity: { oidc: { issuer: `https://kubernetes.default.svc.${clusterNetworks.domain}` } },
      status: 'ACTIVE',
      certificateAuthority: { data: Buffer.from(ca, 'utf8').toString('base64') },
      tags: {},
      health: { issues: [] },
    },
  };
}

/** Every fact in a row of its own, by its path. */
export function describedTable(described: DescribedCluster): string {
  const rows = (value: unknown, path: string): string[][] => {
    if (typeof value !== 'object' || value === null) return [[path, String(value)]];
    if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return [[path, value.join(',')]];
    if (Array.isArray(value)) return value.flatMap((item, index) => rows(item, `${path}[${index}]`));
    return Object.entries(value).flatMap(([key, inner]) => rows(inner, path === '' ? key : `${path}.${key}`));
  };
  return textTable(['NAME', 'VALUE'], rows(described.cluster, ''));
}

/** Rejects with a sentence where there is no managed cluster that runs. */
export async function describeCluster(dataDir: string): Promise<DescribedCluster> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}; start one with: sagong up --topology managed`);
  if (settings.topology !== 'managed')
    throw new Error(
      `the control plane of cluster "${settings.name}" is self-managed: no provider has one to describe (sagong status)`,
    );
  if (!(await runningProcess(dataDir))?.ready)
    throw new Error(`the cluster in ${dataDir} does not run; start it with: sagong up --data-dir ${dataDir}`);
  const { port, customerToken: token, ca: cloudCa } = await openCloudSettings(dataDir, () => Promise.resolve(new Set()));
  const cloud = createCloudClient({ url: `https://127.0.0.1:${port}`, token, ca: cloudCa });
  try {
    const all = await listAll((page) => cloud.listInterfaces({ ...page }));
    const interfaces = all.filter(({ requesterManaged }) => requesterManaged);
    const { ca = '' } = clientConfigOf(readKubeconfig(clusterPaths(dataDir).kubeconfig));
    return describedCluster({ settings, interfaces, ca });
  } finally {
    cloud.close();
  }
}
