// Registers the node, renews its lease and reports its status (upstream kubelet_node_status.go; k8s.io/component-helpers/apimachinery/lease;
// KEP-589).
import type { Node } from '#api/core/v1';
import type { Lease } from '#api/coordination/v1';
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import { formatMicroTime, type KubeObject } from '#apimachinery/meta';
import type { EventRecorder, KubeClient } from '#client';
import type { Clock, Logger, Rng, Timer } from '#utils';
import {
  leaseDurationSeconds,
  leaseRenewFraction,
  nodeStatusReportMs,
  nodeStatusRetries,
  nodeStatusUpdateMs,
  registerBackoffMaxMs,
  registerBackoffMinMs,
} from '../limits.ts';
import { equalJson } from '../container/equal-json.ts';
import type { NodeState } from './state.ts';
import { comparable, defaultLabels, initialNode, type NodeFacts, type Registration, withStatus } from './status.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' };
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const leaseNamespace = 'kube-node-lease';

export interface NodeManagerDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  recorder: EventRecorder;
  name: string;
  registration: Registration;
  /** The node must be made by somebody else. */
  registerNode: boolean;
  facts(): Promise<NodeFacts>;
  /** Gets to know the Node as it is written, and has its status reported by this manager. */
  state: NodeState;
  statusUpdateMs?: number;
  statusReportMs?: number;
  leaseSeconds?: number;
}

export class NodeManager {
  readonly #deps: NodeManagerDeps;
  readonly #timers = new Map<string, Timer>();
  #lease: Lease | undefined;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #updating: Promise<void> | undefined;
  #updateAgain = false;
  /** The value that the last event reported. */
  #unschedulable = false;
  #closed = false;
  /** Ends the pause before the next try to register. */
  #endWait = (): void => {};

  constructor(deps: NodeManagerDeps) {
    this.#deps = deps;
    deps.state.reportBy(() => this.updateStatus());
  }
  /** What events about the node refer to: its uid is its name, as upstream's. */
  get ref(): KubeObject {
    const { name } = this.#deps;
    return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } };
  }

  /** Registers (trying until it works) and starts the loops. Resolves without that when it is closed meanwhile. */
  async start(): Promise<void> {
    const { registerNode, logger } = this.#deps;
    let waitMs = registerBackoffMinMs;
    while (registerNode && !this.#closed) {
      try {
        await this.#register();
        break;
      } catch (error) {
        logger.warn('Unable to register node with API server', { node: this.#deps.name, error: String(error) });
        if (this.#closed) return;
        await new Promise<void>((resolve) => {
          this.#endWait = resolve;
          this.#later('register', waitMs, resolve);
        });
        waitMs = Math.min(waitMs * 2, registerBackoffMaxMs);
      }
    }
    if (this.#closed) return;
    const jitter = this.#deps.rng.next();
    const { statusUpdateMs = nodeStatusUpdateMs } = this.#deps;
    const leaseSeconds = this.#deps.leaseSeconds ?? leaseDurationSeconds;
    await Promise.all([this.#renewLease(), this.updateStatus()]);
    this.#every('lease', leaseSeconds * 1000 * leaseRenewFraction, () => this.#renewLease());
    this.#later('status', statusUpdateMs * jitter, () => this.#every('status', statusUpdateMs, () => this.updateStatus()));
  }
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    this.#endWait();
  }
  recordEvent(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.recorder.event(this.ref, type, reason, message);
  }

  /** Reports the status when it changed, or was last reported too long ago. */
  updateStatus(): Promise<void> {
    if (this.#updating) {
      this.#updateAgain = true;
      return this.#updating;
    }
    this.#updating = this.#update().finally(() => {
      this.#updating = undefined;
      if (!this.#updateAgain || this.#closed) return;
      this.#updateAgain = false;
      void this.updateStatus();
    });
    return this.#updating;
  }

  #later(name: string, delayMs: number, callback: () => void): void {
    if (!this.#closed) this.#timers.set(name, this.#deps.clock.setTimer(delayMs, callback));
  }
  #every(name: string, periodMs: number, work: () => Promise<void>): void {
    this.#later(name, periodMs * (1 + this.#deps.rng.next() * 0.04), () => {
      void work().finally(() => this.#every(name, periodMs, work));
    });
  }

  async #register(): Promise<void> {
    const { client, clock, registration, state } = this.#deps;
    const facts = await this.#deps.facts();
    const { node, events } = initialNode(facts, registration, clock.now());
    // At every try, and also where the node turns out to be there already.
    for (const { reason } of events) this.#statusEvent(reason, node);
    try {
      state.learnNode(await client.resource<Node>(nodes).create(node));
      this.#reportedAtMs = clock.now();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.#reconcileExisting(facts);
    }
  }
  /** A node that was registered before gets its default labels back. */
  async #reconcileExisting(facts: NodeFacts): Promise<void> {
    const { client, name, registration, state } = this.#deps;
    const known = await client.resource<Node>(nodes).get(name);
    const labels = { ...defaultLabels(facts), ...registration.labels };
    const missing = Object.entries(labels).filter(([key, value]) => known.metadata.labels?.[key] !== value);
    state.learnNode(known);
    if (missing.length === 0) return;
    const body = { metadata: { labels: Object.fromEntries(missing) } };
    state.learnNode(await client.resource<Node>(nodes).patch(name, 'application/strategic-merge-patch+json', body));
  }

  async #update(): Promise<void> {
    const { logger, name } = this.#deps;
    for (let attempt = 0; attempt < nodeStatusRetries && !this.#closed; attempt++) {
      try {
        await this.#tryUpdate(attempt);
        return;
      } catch (error) {
        if (this.#closed) return;
        logger.warn('Error updating node status, will retry', { node: name, error: String(error) });
      }
    }
    if (!this.#closed) logger.error('Unable to update node status', { node: name });
  }
  async #tryUpdate(attempt: number): Promise<void> {
    const { client, clock, name, state } = this.#deps;
    const known = (attempt === 0 ? state.node : undefined) ?? (await client.resource<Node>(nodes).get(name));
    const now = clock.now();
    const { node, events } = withStatus(known, await this.#deps.facts(), now);
    this.#tellSchedulable(known);
    const changed =
      node.metadata !== known.metadata || !equalJson(comparable(node.status), comparable(known.status)) || events.length > 0;
    if (!changed && now - this.#reportedAtMs < (this.#deps.statusReportMs ?? nodeStatusReportMs)) return;
    const addresses = equalJson(node.status?.addresses, known.status?.addresses)
      ? {}
      : { addresses: [...(node.status?.addresses ?? []), { $patch: 'replace' }] };
    const { conditions, addresses: _addresses, ...fields } = node.status ?? {};
    const old = known.status as Record<string, unknown> | undefined;
    const moved = Object.entries(fields).filter(([key, value]) => !equalJson(value, old?.[key]));
    const body = {
      ...(node.metadata !== known.metadata && { metadata: { annotations: node.metadata.annotations } }),
      status: {
        ...Object.fromEntries(moved.map(([key, value]) => [key, value ?? null])),
        ...addresses,
        conditions: conditions?.filter(
          (condition) =>
            !equalJson(
              condition,
              known.status?.conditions?.find(({ type }) => type === condition.type),
            ),
        ),
      },
    };
    const options = { subresource: 'status' };
    state.learnNode(await client.resource<Node>(nodes).patch(name, 'application/strategic-merge-patch+json', body, options));
    this.#reportedAtMs = now;
    for (const { reason } of events) this.#statusEvent(reason, node);
  }
  #tellSchedulable(node: Node): void {
    const unschedulable = node.spec?.unschedulable ?? false;
    if (unschedulable === this.#unschedulable) return;
    this.#unschedulable = unschedulable;
    this.#statusEvent(unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable', node);
  }
  #statusEvent(reason: string, node: Node): void {
    const { name } = this.#deps;
    if (reason === 'Rebooted')
      this.recordEvent('Warning', reason, `Node ${name} has been rebooted, boot id: ${node.status?.nodeInfo?.bootID ?? ''}`);
    else this.recordEvent('Normal', reason, `Node ${name} status is now: ${reason}`);
  }

  async #renewLease(): Promise<void> {
    const { client, clock, name, logger } = this.#deps;
    const resource = client.resource<Lease>(leases, leaseNamespace);
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: this.#deps.leaseSeconds ?? leaseDurationSeconds,
      renewTime: formatMicroTime(clock.now()),
    };
    try {
      if (this.#lease === undefined) {
        const { lease, made } = await this.#ensureLease(spec);
        this.#lease = lease;
        if (made) return;
      }
      this.#lease = await resource.update({ ...this.#lease, spec: { ...this.#lease.spec, ...spec } });
    } catch (error) {
      this.#lease = undefined;
      if (!this.#closed) logger.warn('Failed to update lease', { node: name, error: String(error) });
    }
  }
  async #ensureLease(spec: NonNullable<Lease['spec']>): Promise<{ lease: Lease; made: boolean }> {
    const { client, name, state } = this.#deps;
    const resource = client.resource<Lease>(leases, leaseNamespace);
    try {
      return { lease: await resource.get(name), made: false };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const node = state.node ?? (await client.resource<Node>(nodes).get(name));
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' };
    const lease = await resource.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: leaseNamespace, ownerReferences: [owner] },
      spec,
    });
    return { lease, made: true };
  }
}
