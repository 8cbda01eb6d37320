// OpenAPI over HTTP: /openapi/v3 (an index and one document per group version) and /openapi/v2, built from the schema table on demand.
import type { Exchange } from '../exchange.ts';

export interface OpenApi {
  /** Undefined: not a path of OpenAPI. */
  serve(exchange: Exchange): Promise<(() => void) | undefined> | (() => void) | undefined;
}
