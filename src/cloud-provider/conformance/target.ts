// What an author gives to run the suite: a provider over a cloud that is empty, and the hands to do what users of a cloud do outside Kubernetes.
import type { Node, Service } from '#api/core/v1';
import type { CloudProvider } from '../types.ts';

/** One cluster in the account of the vendor. */
export interface ConformanceCluster {
  cloud: CloudProvider;
  /** Value of `--cluster-name`. */
  cluster: string;
  /** Starts a machine that is to be the Node of this name; resolves when the cloud shows it. */
  addInstance(name: string): Promise<void> | void;
}
/** Another cluster, whose machines are started as those of the first one unless it says otherwise. */
export type OtherCluster = Omit<ConformanceCluster, 'addInstance'> & Partial<Pick<ConformanceCluster, 'addInstance'>>;

/** A rule that is not the provider's. */
export interface RuleByHand {
  isThere(): Promise<boolean> | boolean;
}

/** What all changes meet with: they are refused because something else is under way, or begin well and fail at their end. */
export type Storm = 'conflict' | 'lateFailure';

export interface ConformanceWorld extends ConformanceCluster {
  stopInstance?(name: string): Promise<void> | void;
  terminateInstance(name: string): Promise<void> | void;
  /** The Node names a load balancer sends traffic to, read past the provider. */
  backends?(service: Service): Promise<string[]> | string[];
  /** The ports a load balancer takes traffic on, each as `TCP 80 30001` (protocol, port, node port; the latter may be left out), read past the provider. */
  listeners?(service: Service): Promise<string[]> | string[];
  /** The ranges from which a load balancer is reached, read past the provider. */
  sources?(service: Service): Promise<string[]> | string[];
  /**
   * Lets a range in by hand, beside the provider's own rules and at the node port and port of the Service, and gives whether that rule is still there.
   * Left out where all rules are the provider's own. */
  letInByHand?(service: Service, range: string): Promise<RuleByHand> | RuleByHand;
  /** Everything the provider made and that is still there, by name, read past the provider. */
  leftovers?(): Promise<string[]> | string[];
  /** The next change to a load balancer fails in its middle; later ones do not. */
  failInTheMiddle?(): void;
  /** From now on every change meets with this; without it, with nothing any more. */
  storm?(kind?: Storm): void;
  /** A second provider over the same cloud, as another replica of the manager has. */
  secondProvider?(): Promise<CloudProvider> | CloudProvider;
  /**
   * Another cluster in the same account and network, configured as the vendor's users would do it. Default: `secondProvider` by
   * another cluster name. */
  otherCluster?(): Promise<OtherCluster> | OtherCluster;
  /** Frees everything. */
  close?(): Promise<void> | void;
}

export interface ConformanceTarget {
  /** A fresh world for each case. */
  open(): Promise<ConformanceWorld> | ConformanceWorld;
  /**
   * Cases that do not apply, each with the reason: by name, or a whole group (`instances`, `load balancers`, `routes`). A name that is no case's
   * is an error.
   */
  skips?: Readonly<Record<string, string>>;
  /** Instances of the case with many. Default 2000. */
  instancesMany?: number;
}

export interface ConformanceCase {
  name: string;
  /** Why it does not run; undefined: it does. */
  skipped?: string;
  /** Rejects with an AssertionError when the provider breaks its contract. */
  run(): Promise<void>;
}

/** A Node as a kubelet registers it. */
export const nodeNamed = (name: string, more: { providerID?: string; uid?: string } = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: more.uid ?? `uid-of-${name}`, labels: { 'kubernetes.io/hostname': name } },
  spec: { ...(more.providerID && { providerID: more.providerID }) },
  status: {},
});

/** A Service of type LoadBalancer as the apiserver stores it. */
export const serviceNamed = (name: string, number: number, spec: Partial<Service['spec']> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'conformance', uid: `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000` },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.10',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_000 + number }],
    ...spec,
  },
  status: { loadBalancer: {} },
});
export const withRanges = (service: Service, ...loadBalancerSourceRanges: string[]): Service => ({
  ...service,
  spec: { ...service.spec, loadBalancerSourceRanges },
});
export const withPorts = (service: Service, ...ports: NonNullable<NonNullable<Service['spec']>['ports']>): Service => ({
  ...service,
  spec: { ...service.spec, ports },
});
