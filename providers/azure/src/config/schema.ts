// What cloud.conf may say: the fields of cloud-provider-azure (pkg/provider/config, pkg/azclient), by the same names. What upstream passes over in
// silence is an error here: a field that is not known, and one that contradicts another.
import { z } from 'zod';

const text = z.string().min(1);
const name = text.max(260);
const seconds = z.int().min(0);
const guid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a UUID');
/** Without TLS only where nobody can listen in. */
const endpoint = z.url().refine((text) => {
  const { protocol, hostname, username } = new URL(text);
  const isNear = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return username === '' && (protocol === 'https:' || (protocol === 'http:' && isNear));
}, 'must begin with https:// (http:// only on loopback)');

const rate = z.strictObject({
  cloudProviderRateLimit: z.boolean().optional(),
  cloudProviderRateLimitQPS: z.number().positive().optional(),
  cloudProviderRateLimitBucket: z.int().positive().optional(),
  cloudProviderRateLimitQPSWrite: z.number().positive().optional(),
  cloudProviderRateLimitBucketWrite: z.int().positive().optional(),
});
export type RateConfig = z.output<typeof rate>;

/** Sections with rates of single clients, by the type of resource that they are for; those without one have no effect. */
export const rateSections = {
  interfaceRateLimit: 'networkInterfaces',
  loadBalancerRateLimit: 'loadBalancers',
  publicIPAddressRateLimit: 'publicIPAddresses',
  securityGroupRateLimit: 'networkSecurityGroups',
  routeTableRateLimit: 'routeTables',
  subnetsRateLimit: 'virtualNetworks/subnets',
  virtualMachineRateLimit: 'virtualMachines',
  virtualMachineScaleSetRateLimit: 'virtualMachineScaleSets',
} as const;
const sections = Object.fromEntries(Object.keys(rateSections).map((section) => [section, rate.optional()])) as Record<
  keyof typeof rateSections,
  z.ZodOptional<typeof rate>
>;

const client = {
  cloud: text.optional(),
  userAgent: text.optional(),
  resourceManagerEndpoint: endpoint.optional(),
  tenantId: text.optional(),
  subscriptionId: guid,
  networkResourceSubscriptionID: guid.optional(),
  aadClientId: text.optional(),
  aadClientSecret: text.optional(),
  aadClientCertPath: text.optional(),
  aadClientCertPassword: z.string().optional(),
  useManagedIdentityExtension: z.boolean().optional(),
  userAssignedIdentityID: text.optional(),
  useFederatedWorkloadIdentityExtension: z.boolean().optional(),
  aadFederatedTokenFile: text.optional(),
};
const places = {
  resourceGroup: name,
  location: name,
  extendedLocationName: name.optional(),
  extendedLocationType: z.enum(['EdgeZone', 'edgezone']).optional(),
  vnetName: name.optional(),
  vnetResourceGroup: name.optional(),
  subnetName: name.optional(),
  securityGroupName: name.optional(),
  securityGroupResourceGroup: name.optional(),
  routeTableName: name.optional(),
  routeTableResourceGroup: name.optional(),
  primaryAvailabilitySetName: name.optional(),
  primaryScaleSetName: name.optional(),
  vmType: z.enum(['vmss', 'standard', 'vmssflex']).default('vmss'),
  disableAvailabilitySetNodes: z.boolean().optional(),
  enableVmssFlexNodes: z.boolean().optional(),
  tags: z.string().optional(),
  tagsMap: z.record(z.string(), z.string()).optional(),
  systemTags: z.string().optional(),
};
const balancers = {
  loadBalancerSku: z.string().optional(),
  loadBalancerName: name.optional(),
  loadBalancerResourceGroup: name.optional(),
  preConfiguredBackendPoolLoadBalancerTypes: z.enum(['', 'internal', 'external', 'all']).default(''),
  excludeMasterFromStandardLB: z.boolean().default(true),
  disableOutboundSNAT: z.boolean().optional(),
  maximumLoadBalancerRuleCount: z.int().min(0).optional(),
  loadBalancerBackendPoolConfigurationType: z.string().optional(),
  putVMSSVMBatchSize: z.int().min(0).default(0),
  clusterServiceLoadBalancerHealthProbeMode: z.enum(['servicenodeport', 'shared']).default('servicenodeport'),
  clusterServiceSharedLoadBalancerHealthProbePort: z.int().min(1).max(65_535).optional(),
  clusterServiceSharedLoadBalancerHealthProbePath: text.optional(),
};
const timing = {
  cloudProviderBackoff: z.boolean().optional(),
  cloudProviderBackoffRetries: z.int().min(0).optional(),
  cloudProviderBackoffDuration: seconds.optional(),
  disableAPICallCache: z.boolean().optional(),
  vmCacheTTLInSeconds: seconds.optional(),
  vmssCacheTTLInSeconds: seconds.optional(),
  vmssVirtualMachinesCacheTTLInSeconds: seconds.optional(),
  nodeInstanceNotFoundGracePeriodInSeconds: seconds.default(0),
};

/** Fields of upstream that change nothing here, each with the reason; they are logged once, at the start. */
export const withoutEffect: Readonly<Record<string, string>> = {
  cloudProviderBackoffExponent: 'waits always double',
  cloudProviderBackoffJitter: 'waits are always spread',
  useInstanceMetadata: 'the API is asked of every machine',
  enableMinimumRetryAfter: 'Retry-After is always kept',
  enableMigrateToIPBasedBackendPoolAPI: 'pools are changed in one write of the load balancer',
  routeUpdateIntervalInSeconds: 'changes that come while a write is under way are one write after it',
  routeUpdateWaitingInSeconds: 'a change is waited for until it is done',
  loadBalancerBackendPoolUpdateIntervalInSeconds: 'only several load balancers per cluster need it',
  listVmssVirtualMachinesWithoutInstanceView: 'lists are always read without it',
  nonVmssUniformNodesCacheTTLInSeconds: 'vmCacheTTLInSeconds is for all single machines',
  vmssFlexCacheTTLInSeconds: 'vmCacheTTLInSeconds is for all single machines',
  vmssFlexVMCacheTTLInSeconds: 'vmCacheTTLInSeconds is for all single machines',
  availabilitySetsCacheTTLInSeconds: 'availability sets are not asked for',
  loadBalancerCacheTTLInSeconds: 'load balancers are read before each change',
  nsgCacheTTLInSeconds: 'security groups are read before each change',
  routeTableCacheTTLInSeconds: 'route tables are read before each change',
  publicIPCacheTTLInSeconds: 'public IPs are read before each change',
  plsCacheTTLInSeconds: 'private link services are not made',
  privateLinkServiceResourceGroup: 'private link services are not made',
  disableAzureStackCloud: 'Azure Stack is not supported',
  ...Object.fromEntries(
    [
      'route',
      'storageAccount',
      'disk',
      'snapshot',
      'virtualMachineSizes',
      'availabilitySet',
      'attachDetachDisk',
      'containerService',
    ]
      .concat(['deployment', 'privateDNS', 'privateDNSZoneGroup', 'privateEndpoint', 'privateLinkService', 'virtualNetwork'])
      .map((client) => [`${client}RateLimit`, 'these things are not asked for']),
  ),
};
const ignored = Object.fromEntries(Object.keys(withoutEffect).map((field) => [field, z.unknown().optional()]));

/** Fields of upstream that ask for something that this provider does not have. */
const refused: Readonly<Record<string, string>> = {
  multipleStandardLoadBalancerConfigurations: 'there is one load balancer of each kind per cluster',
  serviceGatewayEnabled: 'the Service Gateway is not supported',
  networkResourceTenantID: 'a network in another tenant is not supported',
  auxiliaryTokenProvider: 'a network in another tenant is not supported',
  aadMSIDataPlaneIdentityPath: 'the identity data plane is only for Azure’s own services',
  enableIPTagMutationForExistingPublicIP: 'IP tags are set when a public IP is made',
};
const refusing = Object.fromEntries(
  Object.entries(refused).map(([field, reason]) => [
    field,
    z
      .unknown()
      .refine((value) => value === undefined || value === false || value === null || value === '', `is not supported: ${reason}`)
      .optional(),
  ]),
);
const only = (word: string, reason: string) =>
  z
    .string()
    .refine((value) => value === '' || value.toLowerCase() === word, `only ${JSON.stringify(word)} is supported: ${reason}`)
    .optional();

export const azureSchema = z
  .strictObject({
    ...client,
    ...places,
    ...balancers,
    ...timing,
    ...rate.shape,
    ...sections,
    ...refusing,
    ...ignored,
    loadBalancerSku: only('standard', 'Azure has retired basic load balancers'),
    identitySystem: only('azure_ad', 'Azure Stack is not supported'),
    cloudConfigType: only('file', 'the configuration is the file'),
    loadBalancerBackendPoolConfigurationType: z
      .string()
      .refine((value) => /^(nodeIPConfiguration|nodeIP)?$/i.test(value), 'must be nodeIPConfiguration or nodeIP')
      .optional(),
  })
  .superRefine((config, context) => {
    const problem = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
    const needs = (field: keyof typeof config, ...others: (keyof typeof config)[]): void => {
      for (const other of others) if (config[field] && !config[other]) problem(other, `is required with ${field}`);
    };
    needs('aadClientSecret', 'aadClientId', 'tenantId');
    needs('aadClientCertPath', 'aadClientId', 'tenantId');
    needs('aadClientCertPassword', 'aadClientCertPath');
    needs('userAssignedIdentityID', 'useManagedIdentityExtension');
    needs('aadFederatedTokenFile', 'useFederatedWorkloadIdentityExtension');
    needs('extendedLocationName', 'extendedLocationType');
    needs('extendedLocationType', 'extendedLocationName');
    needs('routeTableResourceGroup', 'routeTableName');
    needs('securityGroupResourceGroup', 'securityGroupName');
    if (config.useManagedIdentityExtension && config.useFederatedWorkloadIdentityExtension)
      problem('useManagedIdentityExtension', 'contradicts useFederatedWorkloadIdentityExtension');
    if (config.aadClientSecret && config.aadClientCertPath) problem('aadClientCertPath', 'contradicts aadClientSecret');
  });
export type AzureConfig = z.output<typeof azureSchema>;
