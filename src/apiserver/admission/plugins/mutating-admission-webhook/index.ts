// MutatingAdmissionWebhook: asks the webhooks that are configured; what the two plugins of webhooks share is in `webhook`.
import { definePlugin } from '../../plugin.ts';
import { mutatingAdmissionWebhook } from '../../webhook/plugin.ts';

export const plugin = definePlugin('MutatingAdmissionWebhook', mutatingAdmissionWebhook);
