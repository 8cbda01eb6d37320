// The first process of every pod sandbox and of a node's process namespace.
export { pauseProgram } from '#host';
