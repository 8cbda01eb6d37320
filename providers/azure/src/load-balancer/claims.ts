// Further addresses that Services name (`additional-public-ips`). No load balancer has them, so only the cluster knows which Services let clients in there.
import type { CloudInformers, Service } from 'sagong/cloud-provider';
import { annotationsOf } from 'sagong/cloud-provider/kit';
import { annotation, prefix } from './annotations.ts';
import { type RuleProtocol, ruleProtocols } from './security-rules.ts';

/** What one Service lets through at a further address. */
export interface Claim {
  /** Ports and node ports by protocol. */
  has(protocol: RuleProtocol, port: number): boolean;
  /** Whether it keeps everybody else out there. */
  deniesOthers: boolean;
}
export interface Claims {
  watch(informers: CloudInformers): void;
  /** The claims of other Services than this one. A Service that is being deleted claims nothing any more. */
  ofOthers(service: Service, address: string): Claim[];
}

const isServed = ({ metadata, spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && !spec.loadBalancerClass && !metadata.deletionTimestamp;

function claimOf(service: Service): Claim {
  const ports = (service.spec?.ports ?? []).map(({ protocol = 'TCP', port, nodePort }) => ({
    protocol: ruleProtocols[protocol],
    numbers: [port, nodePort],
  }));
  return {
    has: (protocol, port) => ports.some((one) => one.protocol === protocol && one.numbers.includes(port)),
    // What else the text may say is judged with its own Service.
    deniesOthers: (annotationsOf(service, prefix).text(annotation.denyOthers) ?? 'false') !== 'false',
  };
}

export function createClaims(): Claims {
  let list: () => Service[] = () => [];
  return {
    watch(informers) {
      const { lister } = informers.informer<Service>({ group: '', version: 'v1', resource: 'services' });
      list = () => lister.list();
    },
    ofOthers: ({ metadata: { uid } }, address) =>
      list()
        .filter((one) => one.metadata.uid !== uid && isServed(one))
        .filter((one) => annotationsOf(one, prefix).list(annotation.additionalIps).includes(address))
        .map(claimOf),
  };
}
