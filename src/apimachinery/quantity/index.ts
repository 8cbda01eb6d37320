// Resource quantities (k8s.io/apimachinery/pkg/api/resource).
export type { QuantityFormat } from './parse.ts';
export { QuantityError } from './parse.ts';
export {
  canonicalize,
  compareQuantities,
  milliQuantity,
  parseQuantity,
  Quantity,
  quantityOf,
  zeroQuantity,
} from './quantity.ts';
