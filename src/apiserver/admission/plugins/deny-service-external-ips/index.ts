// DenyServiceExternalIPs: Services take no further external IPs (plugin/pkg/admission/network/denyserviceexternalips).
import type { Service } from '#api/core/v1';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

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

export const plugin = definePlugin('DenyServiceExternalIPs', denyServiceExternalIps, { onByDefault: false });
