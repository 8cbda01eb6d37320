// Flags of the webhook host (k8s.io/cloud-provider/options webhook.go): those of the own endpoints once more, with a prefix.
import { type Flag, type FlagValues, flag } from '#component-base';
import { type SecureServingFlags, secureServingFlags } from '#component-base/serving';

const section = 'Webhook';
const prefixed = <T>(one: Flag<T>): Flag<T> => ({ ...one, name: `webhook-${one.name}`, section });

export const webhookFlags = () => {
  const serving = secureServingFlags({ port: 10_260 });
  return {
    webhooks: flag.strings({
      name: 'webhooks',
      default: [],
      help: "Admission webhooks of the provider to serve: '*' all, 'foo' this one, '-foo' not this one.",
      section,
    }),
    webhookBindAddress: prefixed(serving.bindAddress),
    webhookSecurePort: prefixed(serving.securePort),
    webhookDisableHttp2Serving: prefixed(serving.disableHttp2Serving),
    webhookCertDir: prefixed(serving.certDir),
    webhookTlsCertFile: prefixed(serving.tlsCertFile),
    webhookTlsPrivateKeyFile: prefixed(serving.tlsPrivateKeyFile),
    webhookTlsCipherSuites: prefixed(serving.tlsCipherSuites),
    webhookTlsCurvePreferences: prefixed(serving.tlsCurvePreferences),
    webhookTlsMinVersion: prefixed(serving.tlsMinVersion),
    webhookTlsSniCertKey: prefixed(serving.tlsSniCertKey),
  };
};

/** The values of these flags by the names that the own endpoints know them by. */
export const webhookServingFlags = (flags: FlagValues<ReturnType<typeof webhookFlags>>): SecureServingFlags => ({
  bindAddress: flags.webhookBindAddress,
  securePort: flags.webhookSecurePort,
  certDir: flags.webhookCertDir,
  tlsCertFile: flags.webhookTlsCertFile,
  tlsPrivateKeyFile: flags.webhookTlsPrivateKeyFile,
  tlsCipherSuites: flags.webhookTlsCipherSuites,
  tlsCurvePreferences: flags.webhookTlsCurvePreferences,
  tlsMinVersion: flags.webhookTlsMinVersion,
  tlsSniCertKey: flags.webhookTlsSniCertKey,
  disableHttp2Serving: flags.webhookDisableHttp2Serving,
  http2MaxStreamsPerConnection: 0,
  permitPortSharing: false,
  permitAddressSharing: false,
});
