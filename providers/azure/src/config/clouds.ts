// Azure's own clouds: where their APIs are, and who gives out tokens (https://learn.microsoft.com/azure/developer/identity/national-clouds).

export interface AzureCloud {
  resourceManager: string;
  authority: string;
  /** Names under it are those of DNS labels. */
  cloudApps: string;
}

const publicCloud: AzureCloud = {
  resourceManager: 'https://management.azure.com',
  authority: 'https://login.microsoftonline.com',
  cloudApps: 'cloudapp.azure.com',
};
const china: AzureCloud = {
  resourceManager: 'https://management.chinacloudapi.cn',
  authority: 'https://login.chinacloudapi.cn',
  cloudApps: 'cloudapp.chinacloudapi.cn',
};
const government: AzureCloud = {
  resourceManager: 'https://management.usgovcloudapi.net',
  authority: 'https://login.microsoftonline.us',
  cloudApps: 'cloudapp.usgovcloudapi.net',
};

const clouds: Readonly<Record<string, AzureCloud>> = {
  azurecloud: publicCloud,
  azurepubliccloud: publicCloud,
  azurechinacloud: china,
  azureusgovernment: government,
  azureusgovernmentcloud: government,
};

/** Throws for a cloud that is not known. */
export function cloudNamed(name: string | undefined): AzureCloud {
  const cloud = clouds[(name || 'AzureCloud').toLowerCase()];
  if (!cloud)
    throw new Error(
      `cloud: ${JSON.stringify(name)} is not known; known are AzurePublicCloud, AzureChinaCloud, AzureUSGovernmentCloud`,
    );
  return cloud;
}
