// Keeps the public access firewall in line with the Services: soon after each change that matters, and every five minutes against changes
// that somebody made outside the cluster.
import type { Clock, CloudClient, CloudInformers, Logger, Service } from 'sagong/cloud-provider';
import { during, isAbsent, textOf } from 'sagong/cloud-provider/kit';
import type { DigitalOceanApi } from '../api/client.ts';
import type { Firewall, LoadBalancerType } from '../api/types.ts';
import { firewallDelayMs, firewallPeriodMs, firewallRetryMaxMs, firewallRetryMinMs } from '../limits.ts';
import type { FirewallMetrics } from './metrics.ts';
import { firewallFor, isAsWanted, rulesOf } from './rules.ts';

export interface FirewallDeps {
  api: DigitalOceanApi;
  client: CloudClient;
  name: string;
  tags: readonly string[];
  defaultType: LoadBalancerType;
  clock: Clock;
  logger: Logger;
  metrics?: FirewallMetrics | undefined;
  signal: AbortSignal;
}

const services = { group: '', version: 'v1', resource: 'services' };

async function currentFirewall({ api, name, clock, metrics, signal }: FirewallDeps): Promise<Firewall | undefined> {
  const startedMs = clock.monotonic();
  try {
    const firewall = (await api.firewalls(signal)).find((one) => one.name === name);
    metrics?.synced('updated', clock.monotonic() - startedMs);
    return firewall;
  } catch (error) {
    metrics?.synced(signal.aborted ? 'canceled' : 'failed', clock.monotonic() - startedMs);
    return during('failed to retrieve list of firewalls from DO API')(error);
  }
}

/**
 * Brings the firewall in line, once. `known` is the firewall as it was last seen, which saves the call that asks for it. Gives it as it is now, and
 * whether anything was to do.
 */
async function syncFirewall(deps: FirewallDeps, known?: Firewall): Promise<{ firewall: Firewall; isChanged: boolean }> {
  const { api, client, signal } = deps;
  // Asked for rather than taken from a cache that may still be filling: a Service that is missing here would be shut off.
  const { items } = await client.resource<Service>(services).list();
  const wanted = firewallFor(items, deps);
  const existing = known ?? (await currentFirewall(deps));
  if (existing && isAsWanted(existing, wanted)) return { firewall: existing, isChanged: false };
  if (existing)
    try {
      return { firewall: await api.updateFirewall(existing.id, wanted, signal), isChanged: true };
    } catch (error) {
      if (!isAbsent(error)) return during('failed to update firewall')(error);
    }
  const firewall = await api.createFirewall(wanted, signal).catch((error: unknown) => {
    return during('failed to create firewall')(error);
  });
  return { firewall, isChanged: true };
}

/** As syncFirewall, and counted. */
async function counted(deps: FirewallDeps, known?: Firewall): Promise<Firewall> {
  const { clock, metrics } = deps;
  const startedMs = clock.monotonic();
  try {
    const now = await syncFirewall(deps, known);
    metrics?.reconciled(now.isChanged ? 'reconciled' : 'skipped', clock.monotonic() - startedMs);
    return now.firewall;
  } catch (error) {
    metrics?.reconciled('failed', clock.monotonic() - startedMs);
    throw error;
  }
}

export interface FirewallController {
  /** Something has changed. */
  trigger(): void;
  /** Resolves after the signal. */
  run(): Promise<void>;
}

/** The loop: one run at a time, triggers meanwhile are one more run. */
export function createFirewallController(deps: FirewallDeps): FirewallController {
  const { clock, logger, signal } = deps;
  let wake: (() => void) | undefined;
  let pending = true;
  let known: Firewall | undefined;
  let retryMs = firewallRetryMinMs;
  let checkedAtMs = clock.monotonic();

  const waitForChange = async (): Promise<void> => {
    if (pending) return clock.sleep(firewallDelayMs, signal);
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const slept = clock.sleep(firewallPeriodMs, AbortSignal.any([signal, timer.signal])).catch(() => {});
    await Promise.race([woken, slept]);
    timer.abort();
    if (pending && !signal.aborted) await clock.sleep(firewallDelayMs, signal);
  };
  const once = async (): Promise<void> => {
    pending = false;
    if (clock.monotonic() - checkedAtMs >= firewallPeriodMs) known = undefined;
    if (!known) checkedAtMs = clock.monotonic();
    known = await counted(deps, known);
    retryMs = firewallRetryMinMs;
  };
  const failed = async (error: unknown): Promise<void> => {
    if (signal.aborted) return;
    logger.error('failed to reconcile the public access firewall', { firewall: deps.name, error: textOf(error) });
    known = undefined;
    pending = true;
    await clock.sleep(retryMs, signal).catch(() => {});
    retryMs = Math.min(retryMs * 2, firewallRetryMaxMs);
  };
  return {
    trigger() {
      pending = true;
      wake?.();
    },
    async run() {
      while (!signal.aborted)
        try {
          await waitForChange();
          if (!signal.aborted) await once();
        } catch (error) {
          await failed(error);
        }
    },
  };
}

/** What a Service needs open, as text; a Service of no known kind counts as itself, so that its change is looked at. */
function needs(service: Service, defaultType: LoadBalancerType): string {
  try {
    return JSON.stringify(rulesOf(service, defaultType));
  } catch (error) {
    return textOf(error);
  }
}

/** Triggers the controller by changes of Services that matter to it. */
export function watchServices(informers: CloudInformers, controller: FirewallController, defaultType: LoadBalancerType): void {
  informers.informer<Service>(services).addHandler({
    onAdd: () => controller.trigger(),
    onDelete: () => controller.trigger(),
    onUpdate(service, old) {
      if (needs(service, defaultType) !== needs(old, defaultType)) controller.trigger();
    },
  });
}
