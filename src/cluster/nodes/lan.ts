// The nodes' network as this process is present in it.
export { joinNetns as joinLan, type NetnsSockets as Lan } from '#host';
