// A KMS plugin of tests (k8s.io/kms/apis/v2): it "encrypts" with a key that can be changed, and can be unwell or away.
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { kmsServiceDefinition } from '#apiserver/encryption';

interface Call {
  request: { ciphertext: Uint8Array; plaintext: Uint8Array; keyId: string; annotations?: Record<string, Uint8Array> };
}
type Answer = (error: object | null, value?: object) => void;

export interface TestPlugin {
  /** Named by Status and used by Encrypt. */
  keyId: string;
  healthz: string;
  readonly calls: Record<'status' | 'encrypt' | 'decrypt', number>;
  stop(): Promise<void>;
}

const mask = (bytes: Uint8Array, keyId: string): Buffer =>
  Buffer.from(bytes.map((byte, at) => byte ^ (keyId.charCodeAt(at % keyId.length) & 0xff)));

export async function startKmsPlugin(socket: string, keyId = 'key-1'): Promise<TestPlugin> {
  const server = new Server();
  const plugin = { keyId, healthz: 'ok', calls: { status: 0, encrypt: 0, decrypt: 0 }, stop };
  server.addService(await kmsServiceDefinition(), {
    Status(_call: Call, answer: Answer) {
      plugin.calls.status++;
      answer(null, { version: 'v2', healthz: plugin.healthz, keyId: plugin.keyId });
    },
    Encrypt({ request }: Call, answer: Answer) {
      plugin.calls.encrypt++;
      const annotations = { 'version.example.com': Buffer.from('1') };
      answer(null, { ciphertext: mask(request.plaintext, plugin.keyId), keyId: plugin.keyId, annotations });
    },
    Decrypt({ request }: Call, answer: Answer) {
      plugin.calls.decrypt++;
      const known = Buffer.from(request.annotations?.['version.example.com'] ?? []).toString() === '1';
      if (!known) return answer({ code: status.INVALID_ARGUMENT, details: 'annotation is missing' });
      return answer(null, { plaintext: mask(request.ciphertext, request.keyId) });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  async function stop(): Promise<void> {
    server.forceShutdown();
  }
  return plugin;
}
