// Certificates of load balancers: named by id or by name, and renewed by DigitalOcean under a new id when they come from Let's Encrypt.
import type { Service } from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations, quoted } from '../annotations.ts';
import type { DigitalOceanApi } from '../api/client.ts';
import type { Certificate, LoadBalancer } from '../api/types.ts';

/** The id of the certificate a Service asks for; '' without one. Rejects when there is none of the name. */
export async function certificateIdOf(api: DigitalOceanApi, service: Service, signal?: AbortSignal): Promise<string> {
  const id = annotationOf(service, annotations.certificateId);
  const name = annotationOf(service, annotations.certificateName);
  if (id || !name) return id ?? '';
  let found: Certificate | undefined;
  try {
    found = await api.certificateNamed(name, signal);
  } catch (error) {
    throw new Error(`failed to get certificate by name: ${quoted(name)} error: ${textOf(error)}`, { cause: error });
  }
  if (!found) throw new Error(`certificate with name: ${quoted(name)} not found`);
  return found.id;
}

/**
 * The id that the Service must name instead of `wanted`, because DigitalOcean has renewed the certificate; undefined: none. A certificate that
 * a person changed on purpose has another name, and wins.
 */
export async function renewedCertificateId(
  api: DigitalOceanApi,
  { forwarding_rules = [] }: LoadBalancer,
  wanted: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const current = forwarding_rules.find((rule) => rule.certificate_id)?.certificate_id ?? '';
  if (current === '' || wanted === '' || current === wanted) return undefined;
  try {
    const inUse = await api.certificate(current, signal);
    if (inUse?.type !== 'lets_encrypt') return undefined;
    const named = await api.certificate(wanted, signal);
    return named === undefined || named.name === inUse.name ? current : undefined;
  } catch (error) {
    return during('failed to get DO certificate for load-balancer')(error);
  }
}
