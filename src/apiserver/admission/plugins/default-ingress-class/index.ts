// DefaultIngressClass: ingresses without a class get the default one (plugin/pkg/admission/network/defaultingressclass).
import type { Ingress, IngressClass } from '#api/networking/v1';
import { asKind } from '#apimachinery/meta';
import { newestDefault } from '../../newest-default.ts';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const group = 'networking.k8s.io';

export const defaultIngressClass: PluginFactory = ({ cluster }) => ({
  name: 'DefaultIngressClass',
  handles: handling('CREATE'),
  admit(request) {
    if (!isFor(request, group, 'ingresses')) return;
    const ingress = asKind<Ingress>(request.object);
    if (ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return;
    const chosen = newestDefault(cluster.list<IngressClass>(group, 'ingressclasses'), [
      'ingressclass.kubernetes.io/is-default-class',
    ]);
    if (chosen) ingress.spec = { ...ingress.spec, ingressClassName: chosen.metadata.name };
  },
});

export const plugin = definePlugin('DefaultIngressClass', defaultIngressClass);
