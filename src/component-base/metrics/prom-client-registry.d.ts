// The registry of prom-client by itself: all of prom-client, which has no door for it, brings OpenTelemetry, a gateway's client and Node's cluster along.
declare module 'prom-client/lib/registry.js' {
  import { Registry } from 'prom-client';
  export default Registry;
}
