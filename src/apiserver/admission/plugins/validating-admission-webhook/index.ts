// ValidatingAdmissionWebhook: asks the webhooks that are configured; what the two plugins of webhooks share is in `webhook`.
import { definePlugin } from '../../plugin.ts';
import { validatingAdmissionWebhook } from '../../webhook/plugin.ts';

export const plugin = definePlugin('ValidatingAdmissionWebhook', validatingAdmissionWebhook);
