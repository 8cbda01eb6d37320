// Which ports of which subnets the Services of this manager use. What the API says of other load balancers may be older than what was just made.

export interface Claim {
  /** Of the load balancer. */
  subnets: readonly string[];
  ports: ReadonlySet<number>;
}
export interface Claims {
  set(uid: string, claim: Claim): void;
  delete(uid: string): void;
  /** Ports that other Services use on one of these subnets. */
  others(uid: string, subnets: readonly string[]): Set<number>;
}

export function createClaims(): Claims {
  const claims = new Map<string, Claim>();
  return {
    set: (uid, claim) => void claims.set(uid, claim),
    delete: (uid) => void claims.delete(uid),
    others(uid, subnets) {
      const ports = new Set<number>();
      for (const [other, claim] of claims)
        if (other !== uid && claim.subnets.some((id) => subnets.includes(id))) for (const port of claim.ports) ports.add(port);
      return ports;
    },
  };
}
