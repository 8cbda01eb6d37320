// Network policies (networking.k8s.io/v1) enforced on a node by packet rules.
export { type NetworkPolicyAgent, type NetworkPolicyDeps, runNetworkPolicy } from './agent.ts';
export { explainPod, explainPolicy, type PolicyWorld } from './explain.ts';
export { removePolicyRules } from './nft.ts';
export { networkPolicyRights } from './rights.ts';
