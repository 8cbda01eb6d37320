// Bootstrap tokens as text, and the Secrets that they are names of. Pure.

const pattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** The name of a bootstrap token's Secret. */
export const tokenSecretName = (id: string): string => `bootstrap-token-${id}`;

export interface BootstrapToken {
  id: string;
  secret: string;
}

/** Reads a bootstrap token. Throws kubeadm's sentence for a text that is not one. */
export function parseToken(text: string): BootstrapToken {
  const match = pattern.exec(text);
  if (!match)
    throw new Error(`the bootstrap token ${JSON.stringify(text)} was not of the form "\\A([a-z0-9]{6})\\.([a-z0-9]{16})\\z"`);
  return { id: match[1] ?? '', secret: match[2] ?? '' };
}
