// What the provider writes on a Service about its load balancer: a condition and an event when it mixes protocols, an event when its class and its
// annotation contradict each other, and annotations with the names of the resources that were made.
import type { Service } from 'sagong/cloud-provider';
import { annotation, classes } from '../annotations.ts';
import type { Cloud } from '../cloud.ts';
import { hasMixedProtocols } from './ports.ts';

const condition = 'LoadBalancerPortsError';
const reason = 'LoadBalancerMixedProtocolNotSupported';

/** Throws for a Service with several protocols, unless `onUpdate`: what is there goes on. Says so once, on the Service. */
export async function refuseMixedProtocols({ writer, clock }: Cloud, service: Service, onUpdate: boolean): Promise<void> {
  if (!hasMixedProtocols(service)) return;
  const known = service.status?.conditions?.some(({ type, status }) => type === condition && status === 'True');
  if (!known) {
    await writer.event(service, 'Warning', reason, 'LoadBalancer with multiple protocols are not supported.');
    const told = {
      type: condition,
      status: 'True',
      reason,
      message: 'LoadBalancer with multiple protocols are not supported',
      lastTransitionTime: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
    const body = { status: { conditions: [told] } };
    await writer.patchService(service, body, { type: 'application/strategic-merge-patch+json', subresource: 'status' });
  }
  if (!onUpdate) throw new Error('mixed protocol is not supported for LoadBalancer');
}

/** Warns when the class asks for an external load balancer and the annotation for an internal one: the class counts. */
export async function warnOfContradiction({ writer }: Cloud, service: Service): Promise<void> {
  if (service.spec?.loadBalancerClass !== classes.external) return;
  if (service.metadata.annotations?.[annotation.type] !== 'Internal') return;
  const message = `loadBalancerClass conflicts with ${annotation.type}: Internal annotation. External LoadBalancer Service provisioned.`;
  await writer.event(service, 'Warning', 'ConflictingConfiguration', message);
}

/** Writes the annotations of `--enable-l4-lb-annotations`: the names of the backend service or target pool. */
export async function noteResources(
  { writer, flags }: Cloud,
  service: Service,
  wanted: { backendService?: string; targetPool?: string },
) {
  if (!flags.annotate) return;
  const { annotations = {} } = service.metadata;
  const changes = (['backendService', 'targetPool'] as const).flatMap((key) => {
    const name = annotation[key];
    return annotations[name] === wanted[key] ? [] : [[name, wanted[key] ?? null]];
  });
  if (changes.length > 0)
    await writer.patchService(service, { metadata: { annotations: Object.fromEntries(changes) as object } });
}
