// DefaultIngressClass (plugin/pkg/admission/network/defaultingressclass) and DenyServiceExternalIPs.
import type { Service } from '#api/core/v1';
import type { Ingress, IngressClass } from '#api/networking/v1';
import { newestDefault } from './newest-default.ts';
import { deny, handling, isFor, type PluginFactory } from './plugin.ts';

const group = 'networking.k8s.io';

export const defaultIngressClass: PluginFactory = ({ cluster }) => ({
  name: 'DefaultIngressClass',
  handles: handling('CREATE'),
  admit(request) {
    if (!isFor(request, group, 'ingresses')) return;
    const ingress = request.object as unknown as Ingress;
    if (ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return;
    const chosen = newestDefault(cluster.list<IngressClass>(group, 'ingressclasses'), [
      'ingressclass.kubernetes.io/is-default-class',
    ]);
    if (chosen) ingress.spec = { ...ingress.spec, ingressClassName: chosen.metadata.name };
  },
});

export const denyServiceExternalIps: PluginFactory = () => ({
  name: 'DenyServiceExternalIPs',
  handles: handling('CREATE', 'UPDATE'),
  validate(request) {
    if (!isFor(request, '', 'services')) return;
    const allowed = new Set((request.oldObject as Service | undefined)?.spec?.externalIPs);
    const wanted = (request.object as Service).spec?.externalIPs ?? [];
    if (wanted.every((ip) => allowed.has(ip))) return;
    throw deny(request, 'Use of external IPs is denied by admission control');
  },
});
