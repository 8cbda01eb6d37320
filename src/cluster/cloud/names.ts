// What a cluster's cloud is called: its region and zones, its accounts, its API. Pure.

export const region = 'local-1';
export const zones = ['local-1a', 'local-1b', 'local-1c'];
export const customerAccount = 'customer';
export const serviceAccount = 'sagong';

/** The name by which the API is reached from inside the cloud's networks. */
export const cloudApiName = `api.${region}.sagong.internal`;
