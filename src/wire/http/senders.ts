// Whose requests come over a connection. Who opens thousands of connections is one sender all the same, once it is known who that is.

/** By connection: a socket, or a session of HTTP/2. */
const names = new WeakMap<object, string>();

/** What requests of the connection take turns as: the name of their sender, or the connection itself before anybody knows. */
export const senderOf = (connection: object): object | string => names.get(connection) ?? connection;

export function rememberSender(connection: object | undefined | null, name: string): void {
  if (connection && names.get(connection) !== name) names.set(connection, name);
}
