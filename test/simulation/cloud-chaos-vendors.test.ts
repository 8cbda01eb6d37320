// The chaos between a cluster and its cloud, with the providers of vendors, each over HTTP on the local server of its vendor's API. Time is virtual,
// sockets are real: time stands still while a request is on the wire. A vendor is one file in support/clouds.
// SAGONG_SEED=<seed> replays a run, SAGONG_SEEDS=<count> runs so many from there on, SAGONG_CHAOS=full makes them of 200 Services and ten hours.
import { describe, expect, it } from 'vitest';
import type { ChaosCloud, ChaosCloudOptions } from './support/chaos-cloud.ts';
import { CloudChaos } from './support/cloud-chaos.ts';
import { type ChaosSize, fullSize, hoursMs, live, settle } from './support/cloud-chaos-life.ts';
import { awsChaosCloud } from './support/clouds/aws.ts';
import { azureChaosCloud } from './support/clouds/azure.ts';
import { baiduChaosCloud } from './support/clouds/baidu.ts';
import { digitalOceanChaosCloud } from './support/clouds/digitalocean.ts';
import { gcpChaosCloud } from './support/clouds/gcp.ts';
import { linodeChaosCloud } from './support/clouds/linode.ts';
import { ociChaosCloud } from './support/clouds/oci.ts';

const clouds: Readonly<Record<string, (options: ChaosCloudOptions) => Promise<ChaosCloud>>> = {
  aws: awsChaosCloud,
  azure: azureChaosCloud,
  cce: baiduChaosCloud,
  digitalocean: digitalOceanChaosCloud,
  gce: gcpChaosCloud,
  linode: linodeChaosCloud,
  oci: ociChaosCloud,
};

const isFull = process.env.SAGONG_CHAOS === 'full';
const size: ChaosSize = isFull ? fullSize : { services: 12, nodes: 6 };
const chaosMs = isFull ? hoursMs : 2_400_000;
const timeout = isFull ? 7_200_000 : 600_000;
const first = Number(process.env.SAGONG_SEED ?? 1);
const seeds = Array.from({ length: Number(process.env.SAGONG_SEEDS ?? 1) }, (_, index) => first + index);
/** A run in which nothing of these happened proves little. */
const enough = ['service created', 'service deleted', 'killed in the middle of a change', 'new leader', 'conflict'];

describe.each(Object.entries(clouds))('a cluster and %s', (_name, make) => {
  it.each(seeds)('agree after hours of chaos, seed %i', { timeout }, async (seed) => {
    const chaos = await live(await CloudChaos.make(seed, make), size, chaosMs);
    const different = await settle(chaos);
    const { total, failed } = chaos.cloud.calls();
    const story: Record<string, number> = { ...chaos.done, ...chaos.faults.counts };
    if (process.env.SAGONG_STORY) console.log(seed, { ...story, calls: total, failed });
    const found = { different: different.slice(0, 10), complaints: chaos.complaints.slice(0, 10) };
    expect(found, `SAGONG_SEED=${seed}`).toEqual({ different: [], complaints: [] });
    expect(enough.filter((what) => !story[what])).toEqual([]);
    expect(failed / total).toBeGreaterThan(0.15);
    await chaos.close();
  });
});
